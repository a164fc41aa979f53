import { ColumnReader, type Column } from './columnReader.ts'
import { ColumnId, Form, LOG_FIELDS } from '../row/schema.ts'
import { Codec, Encoding, chunkStart, type ChunkMeta, type FileMeta, type RowGroupMeta } from './footer.ts'
import { BytesReader, HeaderReader, IntReader, LongReader, type ByteStrings, type LeafReader } from './leafReaders.ts'
import { ChunkPages, type ChunkPlace } from './pageReader.ts'
import { parquetSchema, type Leaf } from './schema.ts'
import { corrupt } from './thriftRead.ts'

interface At {
  readonly at: number
}
export interface Ints extends At {
  readonly values: Int32Array
}
export interface Longs extends At {
  readonly values: Float64Array
}
export interface Strings extends At, ByteStrings {}
export interface Lists extends At, ByteStrings {
  /** Elements of each row, -1 for a null list. */
  readonly counts: Int32Array
  /** Index of each row's first element. */
  readonly firsts: Int32Array
}

/**
 * Rows of the log's columns, a block at a time. After `next` the block has `rows` rows, and row i of a column stands at
 * index `at + i` of its arrays; the arrays are replaced by the next call.
 */
export interface RowSource {
  readonly rows: number
  readonly partition: Ints
  readonly offset: Longs
  /** Milliseconds, -1 for none. */
  readonly timestampMs: Longs
  readonly timestampType: Ints
  readonly key: Strings
  readonly keyBytes: Strings
  readonly keyForm: Ints
  readonly value: Strings
  readonly valueBytes: Strings
  readonly valueForm: Ints
  readonly headerKeys: Lists
  readonly headerValues: Lists
  readonly headersBytes: Strings
  readonly crc: Ints
  /** A user's columns by field id, when they were asked for. */
  readonly columns: ReadonlyMap<number, Column>
  /** False when there are no more rows. */
  next(): boolean
}

/** The log's leaves in the order of the schema. */
export const LOG_LEAVES: readonly Leaf[] = parquetSchema(LOG_FIELDS).leaves

/** The places of the log's chunks in a row group, in the order of LOG_LEAVES. Errors: CORRUPT when a column is missing. */
export function logPlaces(leaves: readonly Leaf[], group: RowGroupMeta): ChunkMeta[] {
  if (group.chunks.length !== leaves.length) throw corrupt('a row group lacks columns')
  return LOG_LEAVES.map(({ id, path }) => {
    const index = leaves.findIndex((leaf) => leaf.id === id)
    if (index < 0) throw corrupt(`a table file has no column ${path.join('.')} (field id ${id})`)
    return group.chunks[index]
  })
}

/** The byte range of the file that these chunks span. */
export function logRange(places: readonly ChunkPlace[]): { start: number; end: number } {
  let start = Infinity
  let end = 0
  for (const chunk of places) {
    start = Math.min(start, chunkStart(chunk))
    end = Math.max(end, chunkStart(chunk) + chunk.storedBytes)
  }
  return { start, end }
}

const OURS: ReadonlySet<number> = new Set([
  Encoding.plain,
  Encoding.rle,
  Encoding.rleDictionary,
  Encoding.deltaBinaryPacked,
  Encoding.deltaLengthByteArray,
])

/** True when RowGroupReader can read the group: our writer made it. Others go through foreignRows. */
export function isOurs(meta: FileMeta, leaves: readonly Leaf[], places: readonly ChunkMeta[]): boolean {
  if (!meta.createdBy.startsWith('frazil ')) return false
  const sameShape = LOG_LEAVES.every((ours) => {
    const leaf = leaves.find(({ id }) => id === ours.id)
    return leaf?.physical === ours.physical && leaf.maxDefinition === ours.maxDefinition && leaf.maxRepetition === ours.maxRepetition
  })
  return sameShape && places.every(({ codec, encodings }) => codec === Codec.zstd && encodings.every((encoding) => OURS.has(encoding)))
}

/** Reads a row group of ours, page by page: what is held decoded is one page a column. Errors: CORRUPT. */
export class RowGroupReader implements RowSource {
  rows = 0
  readonly partition: IntReader
  readonly offset: LongReader
  readonly timestampMs: LongReader
  readonly timestampType: IntReader
  readonly key: BytesReader
  readonly keyBytes: BytesReader
  readonly keyForm: IntReader
  readonly value: BytesReader
  readonly valueBytes: BytesReader
  readonly valueForm: IntReader
  readonly headerKeys: HeaderReader
  readonly headerValues: HeaderReader
  readonly headersBytes: BytesReader
  readonly crc: IntReader
  readonly columns: ReadonlyMap<number, ColumnReader>
  readonly #all: readonly LeafReader[]
  #left: number

  /**
   * `places` as `logPlaces` gives them; `bytes` holds at least `logRange` and begins at `bytesStart` of the file. `users`
   * are the leaves of a user's columns that are read as well.
   */
  constructor(
    rows: number,
    places: readonly ChunkPlace[],
    bytes: Uint8Array,
    bytesStart: number,
    users: readonly { readonly leaf: Leaf; readonly place: ChunkPlace }[] = [],
  ) {
    const pages = (id: number): ChunkPages => {
      const at = LOG_LEAVES.findIndex((leaf) => leaf.id === id)
      return new ChunkPages(LOG_LEAVES[at], places[at], bytes, bytesStart)
    }
    this.#left = rows
    this.partition = new IntReader(pages(ColumnId.partition))
    this.offset = new LongReader(pages(ColumnId.offset), 1)
    this.timestampMs = new LongReader(pages(ColumnId.timestamp), 1000)
    this.timestampType = new IntReader(pages(ColumnId.timestampType))
    this.key = new BytesReader(pages(ColumnId.key))
    this.keyBytes = new BytesReader(pages(ColumnId.keyBytes))
    this.keyForm = new IntReader(pages(ColumnId.keyForm))
    this.value = new BytesReader(pages(ColumnId.value))
    this.valueBytes = new BytesReader(pages(ColumnId.valueBytes))
    this.valueForm = new IntReader(pages(ColumnId.valueForm))
    this.headerKeys = new HeaderReader(pages(ColumnId.headerKey), 2)
    this.headerValues = new HeaderReader(pages(ColumnId.headerValue), 3)
    this.headersBytes = new BytesReader(pages(ColumnId.headersBytes))
    this.crc = new IntReader(pages(ColumnId.crc))
    this.columns = new Map(
      users.map(({ leaf, place }) => [leaf.id, new ColumnReader(leaf, new ChunkPages(leaf, place, bytes, bytesStart))]),
    )
    this.#all = [
      this.partition,
      this.offset,
      this.timestampMs,
      this.timestampType,
      this.key,
      this.keyBytes,
      this.keyForm,
      this.value,
      this.valueBytes,
      this.valueForm,
      this.headerKeys,
      this.headerValues,
      this.headersBytes,
      this.crc,
      ...this.columns.values(),
    ]
  }

  next(): boolean {
    this.#left -= this.rows
    if (this.#left <= 0) {
      for (const leaf of this.#all) leaf.close()
      return false
    }
    let rows = this.#left
    for (const leaf of this.#all) {
      const left = leaf.advance(this.rows)
      if (left === 0) throw corrupt('a column has fewer rows than its row group')
      if (left < rows) rows = left
    }
    this.rows = rows
    return true
  }
}

/** The column that the key or value of row i comes back from; null for a null. Errors: CORRUPT. */
export function blobColumn(form: Ints, text: Strings, binary: Strings, i: number, offset: number): Strings | null {
  const kind = form.values[form.at + i]
  if (kind === Form.null) return null
  const from = kind === Form.string ? text : kind === Form.binary ? binary : null
  if (from === null) throw corrupt(`offset ${offset}: form ${kind} is unknown`)
  if (from.starts[from.at + i] < 0) throw corrupt(`offset ${offset}: form ${kind} says that bytes are there, and they are not`)
  return from
}
