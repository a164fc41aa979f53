import type { IcebergField } from '../../schemas/columns/types.ts'
import { FIRST_RECIPE } from '../../schemas/typing/typing.ts'
import { ColumnId, FIRST_USER_COLUMN_ID } from '../row/schema.ts'
import { foreignRows } from './foreign.ts'
import type { ChunkMeta, ColumnStatistics, RowGroupMeta } from './footer.ts'
import { decodeFooter, footerBytes, leavesOf } from './footerRead.ts'
import { LOG_LEAVES, RowGroupReader, isOurs, logPlaces, logRange, type RowSource } from './rowGroupReader.ts'
import type { ChunkPlace } from './pageReader.ts'
import type { Leaf } from './schema.ts'
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
  /** The same of a user's columns, in the order of `userLeaves`; null when there are none. */
  readonly userPlaces: Float64Array | null
}

/** A footer in the form in which it is kept: nothing of columns that are not the log's. */
export interface FileIndex {
  readonly groups: readonly GroupIndex[]
  /** A user's leaf columns, when some rows come back from them. */
  readonly userLeaves: readonly Leaf[]
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

/**
 * Reads the footer that ends `bytes` and must lie in it as a whole. A user's columns are part of the index when rows come
 * back from them, or with `allColumns`. Errors: CORRUPT.
 */
export function indexFile(bytes: Uint8Array, allColumns = false): FileIndex {
  const meta = decodeFooter(bytes)
  const leaves = leavesOf(meta.elements)
  const isTyped = allColumns || meta.rowGroups.some((group) => usesRecipes(leaves, group))
  const users = isTyped ? leaves.map((leaf, at) => ({ leaf, at })).filter(({ leaf }) => leaf.id >= FIRST_USER_COLUMN_ID) : []
  let firstRow = 0
  let foreign = false
  const groups = meta.rowGroups.map((group): GroupIndex => {
    const chunks = logPlaces(leaves, group)
    const userChunks = users.map(({ at }) => group.chunks[at])
    const { start, end } = logRange([...chunks, ...userChunks])
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
      rawBytes: [...chunks, ...userChunks].reduce((sum, chunk) => sum + chunk.rawBytes, 0),
      minPartition: partition.min,
      maxPartition: partition.max,
      minOffset: offset.min,
      maxOffset: offset.max,
      minTimestampMs: allNull ? -1 : timestamp.min / 1000,
      maxTimestampMs: allNull ? -1 : timestamp.max / 1000,
      places: ours ? packPlaces(chunks) : null,
      userPlaces: ours && isTyped ? packPlaces(userChunks) : null,
    }
    firstRow += group.rows
    return index
  })
  const footer = foreign ? Uint8Array.from(bytes.subarray(bytes.length - footerBytes(bytes))) : null
  const userLeaves = users.map(({ leaf }) => leaf)
  const heldBytes =
    256 +
    userLeaves.length * 300 +
    groups.length * (200 + (LOG_LEAVES.length + userLeaves.length) * PLACE_NUMBERS * 8) +
    (footer?.length ?? 0)
  return { groups, userLeaves, footer, heldBytes }
}

/** True when rows of the group come back by recipes, or may: without statistics nobody knows. */
function usesRecipes(leaves: readonly Leaf[], group: RowGroupMeta): boolean {
  return [ColumnId.keyForm, ColumnId.valueForm].some((id) => {
    const chunk = group.chunks[leaves.findIndex((leaf) => leaf.id === id)]
    return chunk !== undefined && bounds(chunk.statistics).max >= FIRST_RECIPE
  })
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

/** The places again, in their order. */
export function unpackPlaces(packed: Float64Array): ChunkPlace[] {
  return Array.from({ length: packed.length / PLACE_NUMBERS }, (_, i) => {
    const [codec, dictionaryOffset, dataOffset, storedBytes] = packed.subarray(i * PLACE_NUMBERS, (i + 1) * PLACE_NUMBERS)
    return { codec, dictionaryOffset, dataOffset, storedBytes }
  })
}

/**
 * Opens a row group whose log columns, [start, end) of the file, are `bytes`; with a user's columns where the index has
 * them, which for a file of another writer takes the table's `userFields`. Errors: CORRUPT.
 */
export async function openGroup(
  group: GroupIndex,
  footer: Uint8Array | null,
  bytes: Uint8Array,
  userLeaves: readonly Leaf[] = [],
  userFields: readonly IcebergField[] = [],
): Promise<RowSource> {
  if (group.places !== null) {
    const places = group.userPlaces === null ? [] : unpackPlaces(group.userPlaces)
    const users = places.map((place, i) => ({ leaf: userLeaves[i], place }))
    return new RowGroupReader(group.rows, unpackPlaces(group.places), bytes, group.start, users)
  }
  if (footer === null) throw corrupt('a row group of another writer has no footer')
  return foreignRows(footer, bytes, group.start, group.firstRow, group.rows, userLeaves.length === 0 ? [] : userFields)
}
