import type { CopiedIndexes } from './fileWriter.ts'
import { chunkStart, type RowGroupMeta } from './footer.ts'
import { decodeFooter, leavesOf } from './footerRead.ts'
import type { MergeInput } from './merge.ts'
import { decodeOffsetIndex } from './pageIndex.ts'
import { FIRST_USER_COLUMN_ID } from '../row/schema.ts'
import { Physical, type Leaf } from './schema.ts'

export interface CopiedRowGroup {
  readonly group: RowGroupMeta
  readonly bytes: Uint8Array
  readonly indexes: CopiedIndexes | null
}

/** Reads row groups of one input for copying: only of files with exactly the columns that are written. */
export class CopySource {
  readonly #input: MergeInput
  readonly #groups: readonly RowGroupMeta[]
  readonly #leaves: readonly Leaf[]

  /** Null when the file has other columns than `written`. Errors: CORRUPT. */
  static open(input: MergeInput, footer: Uint8Array, written: readonly Leaf[]): CopySource | null {
    const meta = decodeFooter(footer)
    const leaves = leavesOf(meta.elements)
    const same = leaves.length === written.length && leaves.every((leaf, i) => isSame(leaf, written[i]))
    return same ? new CopySource(input, meta.rowGroups, written) : null
  }

  private constructor(input: MergeInput, groups: readonly RowGroupMeta[], leaves: readonly Leaf[]) {
    this.#leaves = leaves
    this.#input = input
    this.#groups = groups
  }

  /** A row group with its bytes and page indexes; null when its statistics do not give bounds for the whole file. */
  async read(number: number): Promise<CopiedRowGroup | null> {
    const group = this.#groups[number]
    const unbounded = group.chunks.some(({ statistics, values, physical }, i) => {
      const { id, maxRepetition } = this.#leaves[i]
      // Of a user's columns some have no bounds (NaN): then the file states none of its own.
      if (maxRepetition > 0 || id >= FIRST_USER_COLUMN_ID) return false
      if (statistics === null || statistics.nullCount < 0) return true
      return (
        statistics.nullCount < values && (statistics.min === undefined || (statistics.max === undefined && physical === Physical.bytes))
      )
    })
    const start = Math.min(...group.chunks.map(chunkStart))
    if (unbounded || start !== group.fileOffset) return null
    const bytes = await this.#input.read(start, start + group.storedBytes)
    return { group, bytes, indexes: await this.#indexes(group) }
  }

  async #indexes(group: RowGroupMeta): Promise<CopiedIndexes | null> {
    if (group.chunks.some((chunk) => chunk.offsetIndexOffset < 0)) return null
    const columns = group.chunks.filter((chunk) => chunk.columnIndexOffset >= 0)
    const columnBytes = await this.#span(columns.map((chunk) => [chunk.columnIndexOffset, chunk.columnIndexBytes]))
    const offsetBytes = await this.#span(group.chunks.map((chunk) => [chunk.offsetIndexOffset, chunk.offsetIndexBytes]))
    return {
      columnIndexes: group.chunks.map((chunk) =>
        chunk.columnIndexOffset < 0 ? null : columnBytes(chunk.columnIndexOffset, chunk.columnIndexBytes),
      ),
      offsetIndexes: group.chunks.map((chunk) => decodeOffsetIndex(offsetBytes(chunk.offsetIndexOffset, chunk.offsetIndexBytes))),
    }
  }

  /** Reads the one range that spans these (offset, size) pairs; gives parts of it. */
  async #span(ranges: readonly (readonly [number, number])[]): Promise<(offset: number, size: number) => Buffer> {
    const start = Math.min(...ranges.map(([offset]) => offset))
    const end = Math.max(...ranges.map(([offset, size]) => offset + size))
    const bytes = ranges.length === 0 ? new Uint8Array(0) : await this.#input.read(start, end)
    return (offset, size) => Buffer.from(bytes.subarray(offset - start, offset - start + size))
  }
}

function isSame(a: Leaf, b: Leaf): boolean {
  return (
    a.id === b.id &&
    a.physical === b.physical &&
    a.typeLength === b.typeLength &&
    a.maxDefinition === b.maxDefinition &&
    a.maxRepetition === b.maxRepetition &&
    a.path.join('\u0000') === b.path.join('\u0000')
  )
}
