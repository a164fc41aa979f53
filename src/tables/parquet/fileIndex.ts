import { ColumnId } from '../row/schema.ts'
import { foreignRows } from './foreign.ts'
import type { ChunkMeta, ColumnStatistics } from './footer.ts'
import { decodeFooter, footerBytes, leavesOf } from './footerRead.ts'
import { LOG_LEAVES, RowGroupReader, isOurs, logPlaces, logRange, type RowSource } from './rowGroupReader.ts'
import type { ChunkPlace } from './pageReader.ts'
import { corrupt } from './thriftRead.ts'

/** What reading back needs of a row group. Bounds are of all partitions in it; infinite where the file states none. */
export interface GroupIndex {
  readonly rows: number
  /** First row of the group in the file. */
  readonly firstRow: number
  /** Byte range that spans the log's columns. */
  readonly start: number
  readonly end: number
  readonly rawBytes: number
  readonly minPartition: number
  readonly maxPartition: number
  readonly minOffset: number
  readonly maxOffset: number
  /** -1 when no row has a timestamp. */
  readonly minTimestampMs: number
  readonly maxTimestampMs: number
  /** Codec, dictionary offset, data offset, stored bytes of each log column; null when another writer made the file. */
  readonly places: Float64Array | null
}

/** A footer in the form in which it is kept: nothing of columns that are not the log's. */
export interface FileIndex {
  readonly groups: readonly GroupIndex[]
  /** The footer itself, for a file of another writer. */
  readonly footer: Uint8Array | null
  /** Memory that this takes, nearly. */
  readonly heldBytes: number
}

const PLACE_NUMBERS = 4
const leafAt = (id: number): number => LOG_LEAVES.findIndex((leaf) => leaf.id === id)
const PARTITION = leafAt(ColumnId.partition)
const OFFSET = leafAt(ColumnId.offset)
const TIMESTAMP = leafAt(ColumnId.timestamp)

/** Reads the footer that ends `bytes` and must lie in it as a whole. Errors: CORRUPT. */
export function indexFile(bytes: Uint8Array): FileIndex {
  const meta = decodeFooter(bytes)
  const leaves = leavesOf(meta.elements)
  let firstRow = 0
  let foreign = false
  const groups = meta.rowGroups.map((group): GroupIndex => {
    const chunks = logPlaces(leaves, group)
    const { start, end } = logRange(chunks)
    const ours = isOurs(meta, leaves, chunks)
    if (!ours) foreign = true
    const partition = bounds(chunks[PARTITION].statistics)
    const offset = bounds(chunks[OFFSET].statistics)
    const timestamp = bounds(chunks[TIMESTAMP].statistics)
    if (!(start >= 4 && end > start && end <= Number.MAX_SAFE_INTEGER && group.rows > 0)) throw corrupt('a row group lies outside its file')
    if (partition.min === partition.max && offset.max - offset.min + 1 < group.rows) {
      // Wrong bounds would hide rows: what can be seen of that is seen here, before a range is taken for a hole.
      throw corrupt('a row group has more rows than offsets')
    }
    const allNull = chunks[TIMESTAMP].statistics?.nullCount === group.rows
    const index: GroupIndex = {
      rows: group.rows,
      firstRow,
      start,
      end,
      rawBytes: chunks.reduce((sum, chunk) => sum + chunk.rawBytes, 0),
      minPartition: partition.min,
      maxPartition: partition.max,
      minOffset: offset.min,
      maxOffset: offset.max,
      minTimestampMs: allNull ? -1 : timestamp.min / 1000,
      maxTimestampMs: allNull ? -1 : timestamp.max / 1000,
      places: ours ? packPlaces(chunks) : null,
    }
    firstRow += group.rows
    return index
  })
  const footer = foreign ? Uint8Array.from(bytes.subarray(bytes.length - footerBytes(bytes))) : null
  return { groups, footer, heldBytes: 256 + groups.length * (200 + LOG_LEAVES.length * PLACE_NUMBERS * 8) + (footer?.length ?? 0) }
}

function bounds(statistics: ColumnStatistics | null): { min: number; max: number } {
  const number = (bytes: Uint8Array | undefined, none: number): number => {
    if (bytes === undefined || (bytes.length !== 4 && bytes.length !== 8)) return none
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    return bytes.length === 4 ? view.getInt32(0, true) : Number(view.getBigInt64(0, true))
  }
  return { min: number(statistics?.min, -Infinity), max: number(statistics?.max, Infinity) }
}

function packPlaces(chunks: readonly ChunkMeta[]): Float64Array {
  const packed = new Float64Array(chunks.length * PLACE_NUMBERS)
  chunks.forEach((chunk, i) => packed.set([chunk.codec, chunk.dictionaryOffset, chunk.dataOffset, chunk.storedBytes], i * PLACE_NUMBERS))
  return packed
}

/** The places again, in the order of LOG_LEAVES. */
export function unpackPlaces(packed: Float64Array): ChunkPlace[] {
  return LOG_LEAVES.map((_, i) => {
    const [codec, dictionaryOffset, dataOffset, storedBytes] = packed.subarray(i * PLACE_NUMBERS, (i + 1) * PLACE_NUMBERS)
    return { codec, dictionaryOffset, dataOffset, storedBytes }
  })
}

/** Opens a row group whose log columns, [start, end) of the file, are `bytes`. Errors: CORRUPT. */
export async function openGroup(group: GroupIndex, footer: Uint8Array | null, bytes: Uint8Array): Promise<RowSource> {
  if (group.places !== null) return new RowGroupReader(group.rows, unpackPlaces(group.places), bytes, group.start)
  if (footer === null) throw corrupt('a row group of another writer has no footer')
  return foreignRows(footer, bytes, group.start, group.firstRow, group.rows)
}
