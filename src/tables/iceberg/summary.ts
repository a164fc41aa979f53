import { COMMITTED_KEY } from './retain.ts'
import type { Snapshot } from './types.ts'

export type Operation = 'append' | 'replace' | 'delete'

/** Offsets of one partition that a snapshot brought into the table; inclusive. */
export interface OffsetRange {
  readonly partition: number
  readonly firstOffset: number
  readonly lastOffset: number
}

/** Summaries name the changed partitions up to this many; beyond it they point to an object (T12). */
export const SUMMARY_PARTITIONS_MAX = 32
export const OFFSETS_OBJECT_KEY = 'frazil.offsets-object'

interface Counted {
  readonly files: number
  readonly rows: number
  readonly sizeBytes: number
}

/**
 * The summary of a snapshot: `operation`, what was added and deleted, totals (each the parent's plus the difference),
 * `frazil.publication`, the time of writing, and the offsets it brought as `first-last` per partition.
 */
export function summarize(input: {
  readonly operation: Operation
  readonly parent: Snapshot | null
  readonly added: Counted
  readonly deleted: Counted
  readonly publication: number
  readonly nowMs: number
  readonly offsets: readonly OffsetRange[]
  /** URI of the object that lists the offsets when there are too many. */
  readonly offsetsUri: string
  /** Partitions of the table that files came to or went from. */
  readonly partitionsChanged: number
}): Record<string, string> {
  const { added, deleted, parent } = input
  const before = (key: string): number => Number(parent?.summary[key] ?? 0)
  const summary: Record<string, string> = { operation: input.operation }
  const count = (prefix: string, counted: Counted, sizeKey: string): void => {
    if (counted.files === 0) return
    summary[`${prefix}-data-files`] = String(counted.files)
    summary[`${prefix}-records`] = String(counted.rows)
    summary[sizeKey] = String(counted.sizeBytes)
  }
  count('added', added, 'added-files-size')
  count('deleted', deleted, 'removed-files-size')
  summary['changed-partition-count'] = String(input.partitionsChanged)
  summary['total-data-files'] = String(before('total-data-files') + added.files - deleted.files)
  summary['total-records'] = String(before('total-records') + added.rows - deleted.rows)
  summary['total-files-size'] = String(before('total-files-size') + added.sizeBytes - deleted.sizeBytes)
  summary['total-delete-files'] = '0'
  summary['total-position-deletes'] = '0'
  summary['total-equality-deletes'] = '0'
  summary['frazil.publication'] = String(input.publication)
  summary[COMMITTED_KEY] = String(input.nowMs)
  if (input.offsets.length > SUMMARY_PARTITIONS_MAX) summary[OFFSETS_OBJECT_KEY] = input.offsetsUri
  else for (const range of input.offsets) summary[`frazil.offsets.${range.partition}`] = `${range.firstOffset}-${range.lastOffset}`
  return summary
}
