import type { TableFile } from '../../metadata/view.ts'
import type { FileIndex } from '../parquet/fileIndex.ts'
import type { Run } from './select.ts'

/** A row group that may hold rows of the range that is read. */
export interface Segment {
  readonly file: TableFile
  readonly index: FileIndex
  readonly group: number
  /** No row of the partition in it is below this … */
  readonly lower: number
  /** … or above this. */
  readonly upper: number
}

/**
 * Row groups of one file that follow each other in offset: the next one is opened when the one before is used up. In a
 * file of ours that is all of them, as its rows are sorted; one of another writer gives a chain for each.
 */
export class Chain {
  readonly #segments: readonly Segment[]
  #next = 0
  #floor = -Infinity
  run: Run | null = null

  constructor(segments: readonly Segment[]) {
    this.#segments = segments
  }

  /** The same row groups, none opened. */
  again(): Chain {
    return new Chain(this.#segments)
  }

  /** The row group to open next, or null. */
  get next(): Segment | null {
    return this.#segments[this.#next] ?? null
  }

  get isActive(): boolean {
    return this.run !== null && !this.run.isDone
  }

  /** The lowest offset that a row group still to be opened may have; infinite while one is open. */
  get lower(): number {
    if (this.isActive || this.next === null) return Infinity
    return Math.max(this.#floor, this.next.lower)
  }

  /** Takes the opened row group: null when it had nothing of the partition. */
  open(run: Run | null): void {
    this.#next++
    this.run = run
    if (run !== null) this.#floor = run.endOffset + 1
  }
}

/** Chains over the row groups of `files` that may hold rows of the partition in [fromOffset, lastOffset]. */
export function chainsOf(
  files: readonly TableFile[],
  indexes: readonly FileIndex[],
  partition: number,
  fromOffset: number,
  lastOffset: number,
): Chain[] {
  const chains: Chain[] = []
  files.forEach((file, i) => {
    const index = indexes[i]
    const range = file.ranges.find((candidate) => candidate.partition === partition)!
    const segments: Segment[] = []
    const firstRow = firstRowOf(file, index, partition)
    index.groups.forEach((group, at) => {
      if (group.minPartition > partition || group.maxPartition < partition) return
      // Offsets of a mixed row group are bounds over all its partitions; the file's range narrows them.
      let lower = Math.max(group.minOffset, range.firstOffset)
      let upper = Math.min(group.maxOffset, range.lastOffset)
      if (firstRow !== null) {
        lower = Math.max(lower, range.firstOffset + group.firstRow - firstRow)
        upper = Math.min(upper, range.firstOffset + group.firstRow + group.rows - 1 - firstRow)
        if (upper < lower) return
      }
      if (lower <= lastOffset && upper >= fromOffset) segments.push({ file, index, group: at, lower, upper })
    })
    if (segments.length === 0) return
    if (index.footer === null) chains.push(new Chain(segments))
    else for (const segment of segments) chains.push(new Chain([segment]))
  })
  return chains
}

/**
 * The row of the file that holds the partition's first offset, when its rows lie there one for each offset: then it is
 * known which row group has which offsets, and none is loaded in vain. null when they do not.
 */
function firstRowOf(file: TableFile, index: FileIndex, partition: number): number | null {
  if (index.footer !== null) return null
  let firstRow = 0
  let isDense = false
  let previous = -1
  for (const range of file.ranges) {
    if (range.partition <= previous) return null
    previous = range.partition
    if (range.partition < partition) firstRow += range.rows
    else if (range.partition === partition) isDense = range.rows === range.lastOffset - range.firstOffset + 1
  }
  return isDense ? firstRow : null
}
