import { walkHeaders } from '../../../protocol/records/walk.ts'
import { FrazilError } from '../../base/errors.ts'
import { RowCrc } from '../row/crc.ts'
import { ColumnId, FIRST_USER_COLUMN_ID, Form, LOG_FIELDS } from '../row/schema.ts'
import type { BytesWriter } from './bytesWriter.ts'
import type { LeafSink } from '../../schemas/columns/ports.ts'
import type { IcebergField } from '../../schemas/columns/types.ts'
import type { TypedSide } from '../typed/side.ts'
import { userWriter, type UserLeaf } from './userWriters.ts'
import { ParquetFileWriter, type CopiedIndexes, type FileStats } from './fileWriter.ts'
import type { RowGroupMeta } from './footer.ts'
import { DictionaryIntWriter, LongWriter, PlainIntWriter } from './numberWriters.ts'
import { validUtf8 } from './utf8.ts'

/** What a partition has in a file; offsets inclusive, times -1 when no row has one. */
export interface PartitionRange {
  readonly partition: number
  readonly firstOffset: number
  readonly lastOffset: number
  readonly rows: number
  readonly minTimestampMs: number
  readonly maxTimestampMs: number
}

export interface RowFileStats extends FileStats {
  /** Ascending by partition. */
  readonly ranges: readonly PartitionRange[]
}

export interface RowFileOptions {
  /** A row group ends before it takes more than this as stored: 12 MiB, which leaves it within 8 to 16 MiB (T7). */
  readonly rowGroupStoredBytes?: number
  /** … or more than this decoded, which bounds what a reader holds: 64 MiB. */
  readonly rowGroupRawBytes?: number
  readonly rowGroupRows?: number
  /** Merged files: a row group ends where its partition does (T7). */
  readonly onePartitionPerRowGroup?: boolean
  readonly pageBytes?: number
  readonly pageRows?: number
  /** A user's columns, which stand before the log's. */
  readonly userFields?: readonly IcebergField[]
  /** zstd level; 1 by default: higher ones cost more than they save on records. */
  readonly zstdLevel?: number
}

const DEFAULTS = {
  rowGroupStoredBytes: 12 * 1024 * 1024,
  rowGroupRawBytes: 64 * 1024 * 1024,
  rowGroupRows: 1_000_000,
  onePartitionPerRowGroup: false,
  pageBytes: 1024 * 1024,
  pageRows: 20_000,
  userFields: [],
  zstdLevel: 1,
}

/** How often the size of the open row group is looked at. */
const CHECK_ROWS = 64
const CHECK_BYTES = 256 * 1024
const EMPTY = new Uint8Array(0)

interface OpenRange {
  partition: number
  firstOffset: number
  lastOffset: number
  rows: number
  minTimestampMs: number
  maxTimestampMs: number
}

/**
 * Writes rows of the log's columns into a Parquet file. Rows come sorted by partition and offset, each by `beginRow`,
 * `key`, `value`, one of the headers calls, `endRow`; nothing is allocated per row. kafka_crc is computed on the way.
 */
export class RowFileWriter {
  readonly #options: Required<RowFileOptions>
  readonly #file: ParquetFileWriter
  readonly #partition: DictionaryIntWriter
  readonly #offset: LongWriter
  readonly #timestamp: LongWriter
  readonly #timestampType: DictionaryIntWriter
  readonly #key: BytesWriter
  readonly #keyBytes: BytesWriter
  readonly #keyForm: DictionaryIntWriter
  readonly #value: BytesWriter
  readonly #valueBytes: BytesWriter
  readonly #valueForm: DictionaryIntWriter
  readonly #headerKey: BytesWriter
  readonly #headerValue: BytesWriter
  readonly #headersBytes: BytesWriter
  readonly #crcColumn: PlainIntWriter
  readonly #crc = new RowCrc()
  readonly #ranges: OpenRange[] = []
  #typedKey: TypedSide | null = null
  #typedValue: TypedSide | null = null
  #range: OpenRange | null = null
  #rowGroupStoredBytes: number
  #rows = 0
  #rawBytes = 0
  #checkRows = 0
  #checkBytes = 0

  constructor(options: RowFileOptions, sink: (bytes: Uint8Array) => void) {
    this.#options = { ...DEFAULTS, ...options }
    this.#rowGroupStoredBytes = this.#options.rowGroupStoredBytes
    const file = (this.#file = new ParquetFileWriter({
      fields: [...this.#options.userFields, ...LOG_FIELDS],
      limits: this.#options,
      sink,
      leafWriter: (leaf, context) => {
        if (leaf.id === ColumnId.timestamp) return new LongWriter(leaf, context, 1000)
        if (leaf.id >= FIRST_USER_COLUMN_ID) return userWriter(leaf, context)
        return leaf.id === ColumnId.crc ? new PlainIntWriter(leaf, context) : null
      },
    }))
    this.#partition = file.leaf(ColumnId.partition)
    this.#offset = file.leaf(ColumnId.offset)
    this.#timestamp = file.leaf(ColumnId.timestamp)
    this.#timestampType = file.leaf(ColumnId.timestampType)
    this.#key = file.leaf(ColumnId.key)
    this.#keyBytes = file.leaf(ColumnId.keyBytes)
    this.#keyForm = file.leaf(ColumnId.keyForm)
    this.#value = file.leaf(ColumnId.value)
    this.#valueBytes = file.leaf(ColumnId.valueBytes)
    this.#valueForm = file.leaf(ColumnId.valueForm)
    this.#headerKey = file.leaf(ColumnId.headerKey)
    this.#headerValue = file.leaf(ColumnId.headerValue)
    this.#headersBytes = file.leaf(ColumnId.headersBytes)
    this.#crcColumn = file.leaf(ColumnId.crc)
  }

  /** The column of a user's leaf. */
  leaf(id: number): LeafSink {
    return this.#file.leaf<UserLeaf>(id)
  }

  /** What decodes keys and values from now on; each of a user's leaves belongs to one of them. */
  decodeWith(key: TypedSide | null, value: TypedSide | null): void {
    this.#typedKey = key
    this.#typedValue = value
  }

  get rows(): number {
    return this.#ranges.reduce((sum, range) => sum + range.rows, 0)
  }

  /** Bytes that are final so far plus what the open row group will take, nearly. */
  get sizeBytes(): number {
    return this.#file.sizeBytes + this.#file.openBytes
  }

  /** Errors: REFUSED when the row does not follow the one before it in (partition, offset). */
  beginRow(partition: number, offset: number, timestampMs: number, timestampType: number): void {
    let range = this.#range
    if (range === null || range.partition !== partition) {
      if (range !== null && range.partition > partition) throw outOfOrder(partition, offset)
      if (this.#rows > 0 && (this.#options.onePartitionPerRowGroup || this.#isFull())) this.endRowGroup()
      range = { partition, firstOffset: offset, lastOffset: offset, rows: 0, minTimestampMs: -1, maxTimestampMs: -1 }
      this.#range = range
      this.#ranges.push(range)
    } else {
      if (offset <= range.lastOffset) throw outOfOrder(partition, offset)
      if ((this.#checkRows >= CHECK_ROWS || this.#checkBytes >= CHECK_BYTES) && this.#isFull()) this.endRowGroup()
    }
    range.lastOffset = offset
    range.rows++
    this.#partition.put(partition)
    this.#offset.put(offset)
    if (timestampMs === -1) this.#timestamp.absent(0, 0)
    else {
      this.#timestamp.put(timestampMs)
      if (range.minTimestampMs === -1 || timestampMs < range.minTimestampMs) range.minTimestampMs = timestampMs
      if (timestampMs > range.maxTimestampMs) range.maxTimestampMs = timestampMs
    }
    this.#timestampType.put(timestampType)
    this.#crc.begin(partition, offset, timestampMs, timestampType)
  }

  /** The key [start, end) of `buf`; `start` -1 is null. `header` names its schema (newer form), or is null. */
  key(buf: Uint8Array, start: number, end: number, header: Uint8Array | null = null): void {
    const form = this.#typedKey === null ? 0 : decoded(this.#typedKey, buf, start, end, header)
    if (form > 0) this.keyOfForm(form, buf, start, end)
    else this.#form(buf, start, end, this.#key, this.#keyBytes, this.#keyForm)
  }

  /** The value, likewise; after the key. */
  value(buf: Uint8Array, start: number, end: number, header: Uint8Array | null = null): void {
    const form = this.#typedValue === null ? 0 : decoded(this.#typedValue, buf, start, end, header)
    if (form > 0) this.valueOfForm(form, buf, start, end)
    else this.#form(buf, start, end, this.#value, this.#valueBytes, this.#valueForm)
  }

  /** A key whose columns were put already and give back these bytes by a recipe. */
  keyOfForm(form: number, buf: Uint8Array, start: number, end: number): void {
    this.#recipe(form, buf, start, end, this.#key, this.#keyBytes, this.#keyForm)
  }

  valueOfForm(form: number, buf: Uint8Array, start: number, end: number): void {
    this.#recipe(form, buf, start, end, this.#value, this.#valueBytes, this.#valueForm)
  }

  noHeaders(): void {
    this.#headerKey.absent(1, 0)
    this.#headerValue.absent(1, 0)
    this.#headersBytes.absent(0, 0)
    this.#crc.count(0)
  }

  /** Headers in wire form: [wireStart, end) with the count varint, which ends at `start`. */
  headers(buf: Uint8Array, wireStart: number, start: number, end: number, count: number): void {
    if (count === 0) return this.noHeaders()
    this.#rawBytes += end - start
    this.#checkBytes += end - start
    this.#crc.count(count)
    let text = true
    walkHeaders(buf, start, count, (keyStart, keyEnd, valueStart, valueEnd) => {
      this.#crc.blob(buf, keyStart, keyEnd)
      this.#crc.blob(buf, valueStart, valueEnd)
      text &&= validUtf8(buf, keyStart, keyEnd)
    })
    if (!text) {
      // T4: a header key that is no UTF-8 cannot be a string, so all headers of the row keep their bytes.
      this.#headerKey.absent(0, 0)
      this.#headerValue.absent(0, 0)
      this.#headersBytes.put(buf, wireStart, end)
      return
    }
    let repetition = 0
    walkHeaders(buf, start, count, (keyStart, keyEnd, valueStart, valueEnd) => {
      this.#headerKey.put(buf, keyStart, keyEnd, repetition)
      if (valueStart < 0) this.#headerValue.absent(2, repetition)
      else this.#headerValue.put(buf, valueStart, valueEnd, repetition)
      repetition = 1
    })
    this.#headersBytes.absent(0, 0)
  }

  /** Ends the row; its kafka_crc as a signed int32. */
  endRow(): number {
    const crc = this.#crc.finish()
    this.#crcColumn.put(crc)
    this.#rows++
    this.#checkRows++
    return crc
  }

  /** Ends the open row group, if it has rows. */
  endRowGroup(): void {
    this.#file.endRowGroup(this.#rows)
    this.#rows = this.#rawBytes = this.#checkRows = this.#checkBytes = 0
  }

  /** Bytes that the open row group will take as stored, nearly; 0 when it has no rows. */
  get openBytes(): number {
    return this.#rows === 0 ? 0 : this.#file.openBytes
  }

  /** Partition of the last row; -1 before the first. */
  get openPartition(): number {
    return this.#range?.partition ?? -1
  }

  /** The size at which row groups end from now on; undefined for the option's. */
  limitRowGroup(storedBytes?: number): void {
    this.#rowGroupStoredBytes = storedBytes ?? this.#options.rowGroupStoredBytes
  }

  /** Copies a row group that holds `range` and follows all rows so far; ends the open one first. Errors: REFUSED. */
  copyRowGroup(group: RowGroupMeta, range: PartitionRange, bytes: Uint8Array, indexes: CopiedIndexes | null): void {
    this.endRowGroup()
    const last = this.#range
    if (
      last !== null &&
      (last.partition > range.partition || (last.partition === range.partition && last.lastOffset >= range.firstOffset))
    ) {
      throw outOfOrder(range.partition, range.firstOffset)
    }
    if (last?.partition === range.partition) {
      last.lastOffset = range.lastOffset
      last.rows += range.rows
      last.maxTimestampMs = Math.max(last.maxTimestampMs, range.maxTimestampMs)
      if (last.minTimestampMs === -1) last.minTimestampMs = range.minTimestampMs
      else if (range.minTimestampMs !== -1) last.minTimestampMs = Math.min(last.minTimestampMs, range.minTimestampMs)
    } else this.#ranges.push((this.#range = { ...range }))
    this.#file.copyRowGroup(group, bytes, indexes)
  }

  finish(): RowFileStats {
    this.endRowGroup()
    return { ...this.#file.finish(), ranges: this.#ranges }
  }

  #form(buf: Uint8Array, start: number, end: number, text: BytesWriter, binary: BytesWriter, form: DictionaryIntWriter): void {
    this.#crc.blob(start < 0 ? EMPTY : buf, start, end)
    if (start < 0) {
      text.absent(0, 0)
      binary.absent(0, 0)
      form.put(Form.null)
      return
    }
    this.#rawBytes += end - start
    this.#checkBytes += end - start
    if (validUtf8(buf, start, end)) {
      text.put(buf, start, end)
      binary.absent(0, 0)
      form.put(Form.string)
    } else {
      text.absent(0, 0)
      binary.put(buf, start, end)
      form.put(Form.binary)
    }
  }

  #recipe(
    recipe: number,
    buf: Uint8Array,
    start: number,
    end: number,
    text: BytesWriter,
    binary: BytesWriter,
    form: DictionaryIntWriter,
  ): void {
    this.#crc.blob(buf, start, end)
    this.#rawBytes += end - start
    this.#checkBytes += end - start
    text.absent(0, 0)
    binary.absent(0, 0)
    form.put(recipe)
  }

  #isFull(): boolean {
    this.#checkRows = this.#checkBytes = 0
    const { rowGroupRawBytes, rowGroupRows } = this.#options
    return this.#rows >= rowGroupRows || this.#rawBytes >= rowGroupRawBytes || this.#file.openBytes >= this.#rowGroupStoredBytes
  }
}

function decoded(side: TypedSide, buf: Uint8Array, start: number, end: number, header: Uint8Array | null): number {
  if (start >= 0) return side.put(buf, start, end, header)
  side.absent()
  return 0
}

function outOfOrder(partition: number, offset: number): FrazilError {
  return new FrazilError('REFUSED', `partition ${partition} offset ${offset} does not follow the row before it`)
}
