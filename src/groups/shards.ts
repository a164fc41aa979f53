import { FrazilError } from '../base/errors.ts'
import type { Metadata } from '../metadata/port.ts'
import { SHARDS, shardOf } from '../metadata/state/shards.ts'

/** Takes every shard that this incarnation does not own; their epochs go up, so that an older owner is refused. */
export async function takeShards(metadata: Metadata): Promise<void> {
  const shards = Array.from({ length: SHARDS }, (_, shard) => ({ shard, owner: metadata.incarnation })).filter(
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
