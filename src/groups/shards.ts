import { FrazilError } from '../base/errors.ts'
import type { Metadata } from '../metadata/port.ts'

/** Groups map to this many shards, each with one owner and an epoch in the state (L19). Part of the format: never change it. */
export const SHARD_COUNT = 64

/** FNV-1a over the UTF-8 bytes: cheap, spread well enough over 64, and the same in every process. */
export function shardOf(groupId: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(groupId, 'utf8')) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return (hash ^ (hash >>> 16)) & (SHARD_COUNT - 1)
}

/** Takes every shard that this incarnation does not own; their epochs go up, so that an older owner is refused. */
export async function takeShards(metadata: Metadata): Promise<void> {
  const shards = Array.from({ length: SHARD_COUNT }, (_, shard) => ({ shard, owner: metadata.incarnation })).filter(
    ({ shard }) => metadata.state.shard(shard).owner !== metadata.incarnation,
  )
  if (shards.length === 0) return
  const result = await metadata.propose({ kind: 'assignShards', shards })
  if (result.kind === 'refused') throw new FrazilError('FENCED', `the shards of consumer groups could not be taken: ${result.reason}`)
}

/** The epoch under which this process may write the group, or null when another one owns its shard. */
export function ownedEpoch(metadata: Metadata, groupId: string): number | null {
  const { owner, epoch } = metadata.state.shard(shardOf(groupId))
  return owner === metadata.incarnation ? epoch : null
}
