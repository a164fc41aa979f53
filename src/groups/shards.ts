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

/** Which shards this process owns, and under which epoch, as it was at the last look. */
export class OwnedShards {
  readonly #metadata: Metadata
  readonly #epochs = new Float64Array(SHARDS)

  constructor(metadata: Metadata) {
    this.#metadata = metadata
  }

  /** What changed since the last look; a shard with a new epoch is in both. */
  update(): { readonly lost: ReadonlySet<number>; readonly gained: ReadonlySet<number> } {
    const { state, incarnation } = this.#metadata
    const lost = new Set<number>()
    const gained = new Set<number>()
    for (let shard = 0; shard < SHARDS; shard++) {
      const { owner, epoch } = state.shard(shard)
      const now = owner === incarnation ? epoch : 0
      const before = this.#epochs[shard]
      if (now === before) continue
      if (before > 0) lost.add(shard)
      if (now > 0) gained.add(shard)
      this.#epochs[shard] = now
    }
    return { lost, gained }
  }
}
