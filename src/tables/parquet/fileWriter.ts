import type { IcebergField } from '../../schemas/columns/types.ts'
import { FIRST_USER_COLUMN_ID } from '../row/schema.ts'
import { FixedWriter } from './fixedWriter.ts'
import { BytesWriter } from './bytesWriter.ts'
import { MAGIC, type ChunkMeta, type RowGroupMeta, Codec } from './footer.ts'
import { encodeFooter } from './footerWrite.ts'
import type { LeafWriter, StoredChunk } from './leafWriter.ts'
import { DictionaryIntWriter, LongWriter } from './numberWriters.ts'
import { PageContext, type PageLimits, type StoredPage } from './page.ts'
import { encodeColumnIndex, encodeOffsetIndex, type PageLocation } from './pageIndex.ts'
import { Physical, parquetSchema, type Leaf, type ParquetSchema } from './schema.ts'

/** What an Iceberg manifest entry says of a data file; maps go by field id (Iceberg spec, data_file). */
export interface FileStats {
  readonly rows: number
  readonly sizeBytes: number
  readonly rowGroups: number
  readonly columnSizes: ReadonlyMap<number, number>
  /** Values of a column, nulls included. */
  readonly valueCounts: ReadonlyMap<number, number>
  readonly nullValueCounts: ReadonlyMap<number, number>
  /** Of float and double columns. */
  readonly nanValueCounts: ReadonlyMap<number, number>
  /** Single-value bytes (Appendix D), truncate(16). Nested columns have none. */
  readonly lowerBounds: ReadonlyMap<number, Uint8Array>
  readonly upperBounds: ReadonlyMap<number, Uint8Array>
  /** Where row groups begin, ascending. */
  readonly splitOffsets: readonly number[]
}

export interface ParquetFileWriterOptions {
  /** All columns in the order of the file; the log's come last (DESIGN.md, the row). */
  readonly fields: readonly IcebergField[]
  readonly limits: PageLimits
  /** Takes the file's bytes as they become final, in order. */
  readonly sink: (bytes: Uint8Array) => void
  /** Chooses the writer of a leaf; null for the writer that its type gets otherwise. */
  readonly leafWriter?: (leaf: Leaf, context: PageContext) => LeafWriter | null
}

/** Page indexes of a row group that is copied. */
export interface CopiedIndexes {
  readonly columnIndexes: readonly (Buffer | null)[]
  readonly offsetIndexes: readonly (readonly PageLocation[])[]
}

/** Bounds are stated for the log's columns and for this many others (T12). */
const BOUNDED_USER_COLUMNS = 32
/** Pieces below this are joined before they go to the sink. */
const GATHER_BYTES = 64 * 1024

interface RowGroupIndexes {
  readonly chunks: readonly ChunkMeta[]
  readonly columnIndexes: readonly (Buffer | null)[]
  readonly offsetIndexes: readonly Buffer[]
}

/**
 * Writes one Parquet file column by column. Rows are put into the leaves' writers by the caller, who says where row
 * groups end; a row group's chunks are written in the order of the columns, so that those of the log are one byte range
 * at its end, whatever stands before them.
 */
export class ParquetFileWriter {
  readonly #schema: ParquetSchema
  readonly #leaves: readonly LeafWriter[]
  readonly #byId = new Map<number, LeafWriter>()
  readonly #sink: (bytes: Uint8Array) => void
  readonly #rowGroups: RowGroupMeta[] = []
  readonly #indexes: RowGroupIndexes[] = []
  readonly #columnSizes = new Map<number, number>()
  readonly #valueCounts = new Map<number, number>()
  readonly #nullValueCounts = new Map<number, number>()
  /** Columns with a copied chunk that states no bounds: the file states none for them either. */
  readonly #unbounded = new Set<number>()
  readonly #copied = new Set<number>()
  #gathered: Uint8Array[] = []
  #gatheredBytes = 0
  #at = 0
  #rows = 0

  constructor(options: ParquetFileWriterOptions) {
    this.#schema = parquetSchema(options.fields)
    this.#sink = options.sink
    const context = new PageContext(options.limits)
    this.#leaves = this.#schema.leaves.map((leaf) => options.leafWriter?.(leaf, context) ?? defaultWriter(leaf, context))
    for (const leaf of this.#leaves) {
      this.#byId.set(leaf.leaf.id, leaf)
      for (const map of [this.#columnSizes, this.#valueCounts, this.#nullValueCounts]) map.set(leaf.leaf.id, 0)
    }
    this.#write(MAGIC)
  }

  /** The writer of the leaf with this field id. */
  leaf<W extends LeafWriter>(id: number): W {
    return this.#byId.get(id) as W
  }

  get sizeBytes(): number {
    return this.#at
  }

  /** What the open row group will take as stored, nearly. */
  get openBytes(): number {
    let sum = 0
    for (const leaf of this.#leaves) sum += leaf.storedBytes
    return sum
  }

  /** Writes the open row group of `rows` rows; every leaf must have been given exactly that many. */
  endRowGroup(rows: number): void {
    if (rows === 0) return
    const fileOffset = this.#at
    const chunks: ChunkMeta[] = []
    const locations: PageLocation[][] = []
    const stored = this.#leaves.map((leaf) => leaf.finish())
    for (const chunk of stored) {
      const written = this.#writeChunk(chunk)
      chunks.push(written.meta)
      locations.push(written.locations)
    }
    this.#rowGroups.push({
      rows,
      rawBytes: chunks.reduce((sum, chunk) => sum + chunk.rawBytes, 0),
      storedBytes: this.#at - fileOffset,
      fileOffset,
      chunks,
    })
    this.#rows += rows
    // One page a chunk needs no index; but readers filter only where all columns have one, so it is all or none.
    if (locations.some((pages) => pages.length > 1)) {
      this.#indexes.push({ chunks, columnIndexes: stored.map(encodeColumnIndex), offsetIndexes: locations.map(encodeOffsetIndex) })
    }
  }

  /**
   * Copies a row group of another file with the same schema. `bytes` are the file's from the group's start on;
   * `columnIndexes` and `offsetIndexes` run along its chunks, null when the group has no page indexes. What moves is only
   * its place: offsets in chunks and page locations.
   */
  copyRowGroup(group: RowGroupMeta, bytes: Uint8Array, indexes: CopiedIndexes | null): void {
    const shift = this.#at - group.fileOffset
    const moved = (offset: number): number => (offset < 0 ? offset : offset + shift)
    const chunks = group.chunks.map((chunk, i): ChunkMeta => {
      const writer = this.#leaves[i]
      const { id } = writer.leaf
      this.#columnSizes.set(id, this.#columnSizes.get(id)! + chunk.storedBytes)
      this.#valueCounts.set(id, this.#valueCounts.get(id)! + chunk.values)
      this.#copied.add(id)
      const { nullCount = -1, min, max } = chunk.statistics ?? {}
      if (nullCount < chunk.values && (min === undefined || max === undefined)) this.#unbounded.add(id)
      if (chunk.statistics !== null) {
        this.#nullValueCounts.set(id, this.#nullValueCounts.get(id)! + chunk.statistics.nullCount)
        writer.absorb(chunk.statistics)
      }
      const none = { offsetIndexOffset: -1, offsetIndexBytes: 0, columnIndexOffset: -1, columnIndexBytes: 0 }
      return { ...chunk, dataOffset: moved(chunk.dataOffset), dictionaryOffset: moved(chunk.dictionaryOffset), ...none }
    })
    this.#rowGroups.push({ ...group, fileOffset: this.#at, chunks })
    this.#rows += group.rows
    this.#write(bytes)
    if (indexes === null) return
    const offsetIndexes = indexes.offsetIndexes.map((pages) =>
      encodeOffsetIndex(pages.map((page) => ({ ...page, offset: page.offset + shift }))),
    )
    this.#indexes.push({ chunks, columnIndexes: indexes.columnIndexes, offsetIndexes })
  }

  /** Ends the file; the open row group must have been ended. */
  finish(): FileStats {
    for (const { chunks, columnIndexes } of this.#indexes) {
      columnIndexes.forEach((bytes, i) => {
        if (bytes === null) return
        chunks[i].columnIndexOffset = this.#at
        chunks[i].columnIndexBytes = bytes.length
        this.#write(bytes)
      })
    }
    for (const { chunks, offsetIndexes } of this.#indexes) {
      offsetIndexes.forEach((bytes, i) => {
        chunks[i].offsetIndexOffset = this.#at
        chunks[i].offsetIndexBytes = bytes.length
        this.#write(bytes)
      })
    }
    this.#write(encodeFooter(this.#schema, this.#rowGroups, []))
    this.#flush()
    const nanValueCounts = new Map<number, number>()
    let users = 0
    const lowerBounds = new Map<number, Uint8Array>()
    const upperBounds = new Map<number, Uint8Array>()
    for (const leaf of this.#leaves) {
      const { id, maxRepetition } = leaf.leaf
      if (leaf instanceof FixedWriter && leaf.isFloat && maxRepetition === 0 && !this.#copied.has(id)) nanValueCounts.set(id, leaf.nanCount)
      const isBounded = maxRepetition === 0 && !this.#unbounded.has(id) && (id < FIRST_USER_COLUMN_ID || users++ < BOUNDED_USER_COLUMNS)
      const bounds = isBounded ? leaf.fileBounds() : null
      if (bounds === null) continue
      lowerBounds.set(leaf.leaf.id, Uint8Array.from(bounds.lower))
      if (bounds.upper !== undefined) upperBounds.set(leaf.leaf.id, Uint8Array.from(bounds.upper))
    }
    return {
      rows: this.#rows,
      sizeBytes: this.#at,
      rowGroups: this.#rowGroups.length,
      columnSizes: this.#columnSizes,
      valueCounts: this.#valueCounts,
      nullValueCounts: this.#nullValueCounts,
      nanValueCounts,
      lowerBounds,
      upperBounds,
      splitOffsets: this.#rowGroups.map((group) => group.fileOffset),
    }
  }

  #writeChunk(chunk: StoredChunk): { meta: ChunkMeta; locations: PageLocation[] } {
    const { leaf, dictionary, pages, statistics } = chunk
    const start = this.#at
    let rawBytes = 0
    const writePage = (page: StoredPage): number => {
      const at = this.#at
      this.#write(page.head)
      this.#write(page.body)
      rawBytes += page.rawBytes
      return at
    }
    const dictionaryOffset = dictionary === null ? -1 : writePage(dictionary)
    const locations = pages.map((page) => ({
      offset: writePage(page),
      storedBytes: page.head.length + page.body.length,
      firstRow: page.firstRow,
    }))
    const storedBytes = this.#at - start
    this.#columnSizes.set(leaf.id, this.#columnSizes.get(leaf.id)! + storedBytes)
    this.#valueCounts.set(leaf.id, this.#valueCounts.get(leaf.id)! + chunk.levels)
    this.#nullValueCounts.set(leaf.id, this.#nullValueCounts.get(leaf.id)! + statistics.nullCount)
    const meta: ChunkMeta = {
      physical: leaf.physical,
      encodings: chunk.encodings,
      path: leaf.path,
      codec: Codec.zstd,
      values: chunk.levels,
      rawBytes,
      storedBytes,
      dataOffset: locations[0].offset,
      dictionaryOffset,
      statistics,
      offsetIndexOffset: -1,
      offsetIndexBytes: 0,
      columnIndexOffset: -1,
      columnIndexBytes: 0,
    }
    return { meta, locations }
  }

  /** Gathers small pieces (page headers, pages of narrow columns), so that the sink is not called for each. */
  #write(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#at += bytes.length
    if (bytes.length < GATHER_BYTES) {
      this.#gathered.push(bytes)
      this.#gatheredBytes += bytes.length
      if (this.#gatheredBytes >= GATHER_BYTES) this.#flush()
      return
    }
    this.#flush()
    this.#sink(bytes)
  }

  #flush(): void {
    if (this.#gatheredBytes === 0) return
    this.#sink(Buffer.concat(this.#gathered, this.#gatheredBytes))
    this.#gathered = []
    this.#gatheredBytes = 0
  }
}

function defaultWriter(leaf: Leaf, context: PageContext): LeafWriter {
  if (leaf.physical === Physical.int32) return new DictionaryIntWriter(leaf, context)
  if (leaf.physical === Physical.int64) return new LongWriter(leaf, context)
  return new BytesWriter(leaf, context)
}
