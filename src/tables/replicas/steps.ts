import type { LongId, Snapshot, TableMetadata } from '../iceberg/types.ts'

/** A publication that a replica still lacks. */
export interface Step {
  readonly snapshot: Snapshot | null
  readonly publication: number
  readonly schemaId: number
  readonly dataChange: boolean
}

/** A replica further behind than this goes to the current publication at once. */
const STEPS_MAX = 64

/** NaN for a snapshot of someone else: nothing says where it stands. */
function publicationOf(snapshot: Snapshot): number {
  return Number(snapshot.summary['frazil.publication'] ?? Number.NaN)
}

/**
 * What a replica at publication `position` (-1: it has none) has to publish to show publication `current`: each snapshot
 * that came since, while all of them are still there, so that merges stay apart from new rows; else the current one alone.
 */
export function stepsTo(metadata: TableMetadata, position: number, current: number): Step[] {
  const byId = new Map<LongId, Snapshot>(metadata.snapshots.map((snapshot) => [snapshot['snapshot-id'], snapshot]))
  const chain: Snapshot[] = []
  let at = byId.get(metadata['current-snapshot-id'])
  while (at !== undefined && publicationOf(at) > position && chain.length <= STEPS_MAX) {
    chain.push(at)
    const parent: LongId | undefined = at['parent-snapshot-id']
    at = parent === undefined ? undefined : byId.get(parent)
  }
  const newest = byId.get(metadata['current-snapshot-id']) ?? null
  const schemaId = metadata['current-schema-id']
  const whole = position >= 0 && at !== undefined && publicationOf(at) <= position
  if (!whole) return [{ snapshot: newest, publication: current, schemaId, dataChange: true }]
  const steps = chain.toReversed().map((snapshot): Step => ({
    snapshot,
    publication: publicationOf(snapshot),
    schemaId: snapshot['schema-id'] ?? schemaId,
    dataChange: snapshot.summary['operation'] !== 'replace',
  }))
  const last = steps.at(-1)
  // The current publication may have changed more than its snapshot: the schema, or nothing that shows.
  if (last === undefined) steps.push({ snapshot: newest, publication: current, schemaId, dataChange: false })
  else steps[steps.length - 1] = { ...last, publication: current, schemaId }
  return steps
}
