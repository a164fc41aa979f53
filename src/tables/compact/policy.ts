import type { StateView, TableFile } from '../../metadata/view.ts'

/** Files of one level that make a merge worth it; each row is rewritten once per level (T11). */
export const FAN_IN = 8
/** The most files of one merge, when many are waiting. */
const INPUTS_MAX = 64
/** A merge holds a row group of each input (T7: at most 16 MiB, 12 as written here); together at most this. */
const ROW_GROUP_BYTES = 12 * 1024 * 1024
const OPEN_MAX_BYTES = 128 * 1024 * 1024
/** A file of this share of the target counts as of target size: it is never merged again. */
const FULL_SHARE = 0.75
/** A merge may come out this much larger than the target. */
const OVER_SHARE = 1.25

export interface Merge {
  readonly files: readonly TableFile[]
  readonly level: number
}

/**
 * True when `next` follows the run in every partition that both hold: the first extent after the run is one of its own.
 * Otherwise the merged range would span rows that are in other files.
 */
function follows(state: StateView, topic: number, lastOffsets: ReadonlyMap<number, number>, next: TableFile): boolean {
  return next.ranges.every((range) => {
    const last = lastOffsets.get(range.partition)
    if (last === undefined) return true
    if (range.firstOffset <= last) return false
    const startOffset = state.partition(topic, range.partition)?.logStartOffset ?? 0
    // Rows below the log start are in no extent; nobody fetches them.
    if (range.lastOffset < startOffset) return true
    const extent = state.extentAt(topic, range.partition, Math.max(last + 1, startOffset))
    return extent !== null && extent.kind === 'table' && extent.files.includes(next.id)
  })
}

function qualifies(run: readonly TableFile[], sizeBytes: number, targetBytes: number): boolean {
  return run.length >= FAN_IN || (run.length >= 2 && sizeBytes >= targetBytes * FULL_SHARE)
}

/**
 * Chooses files of one level to merge into one of the next, lowest level first, oldest first, or null. Level 0 are files
 * of conversion and of loads. With each level eight times as large, a table keeps fewer than eight files per level.
 * `isScattered`: the files are those of one partition of a partitioned table, whose ranges lie among those of others (T10).
 */
export function chooseMerge(
  state: StateView,
  topic: number,
  files: Iterable<TableFile>,
  targetBytes: number,
  isScattered = false,
): Merge | null {
  const levels = new Map<number, TableFile[]>()
  for (const file of files) {
    if (file.sizeBytes >= targetBytes * FULL_SHARE) continue
    const level = levels.get(file.level)
    if (level === undefined) levels.set(file.level, [file])
    else level.push(file)
  }
  for (const [level, found] of [...levels].toSorted((a, b) => a[0] - b[0])) {
    const totalBytes = found.reduce((sum, file) => sum + file.sizeBytes, 0)
    if (!qualifies(found, totalBytes, targetBytes)) continue
    found.sort((a, b) => a.id - b.id)
    const merge = oldestRun(state, topic, found, targetBytes, isScattered)
    if (merge !== null) return { files: merge, level: level + 1 }
  }
  return null
}

function oldestRun(
  state: StateView,
  topic: number,
  files: readonly TableFile[],
  targetBytes: number,
  isScattered: boolean,
): TableFile[] | null {
  let run: TableFile[] = []
  let sizeBytes = 0
  let openBytes = 0
  let lastOffsets = new Map<number, number>()
  for (const file of files) {
    const groupBytes = Math.min(file.sizeBytes, ROW_GROUP_BYTES)
    const full =
      run.length >= INPUTS_MAX || sizeBytes + file.sizeBytes > targetBytes * OVER_SHARE || openBytes + groupBytes > OPEN_MAX_BYTES
    if (run.length > 0 && (full || (!isScattered && !follows(state, topic, lastOffsets, file)))) {
      if (qualifies(run, sizeBytes, targetBytes)) return run
      run = []
      sizeBytes = openBytes = 0
      lastOffsets = new Map()
    }
    run.push(file)
    sizeBytes += file.sizeBytes
    openBytes += groupBytes
    for (const range of file.ranges) lastOffsets.set(range.partition, range.lastOffset)
  }
  return qualifies(run, sizeBytes, targetBytes) ? run : null
}
