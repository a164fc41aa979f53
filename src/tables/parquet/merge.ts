import { CopySource } from './copy.ts'
import { TAIL_BYTES } from './footer.ts'
import { footerBytes } from './footerRead.ts'
import { indexFile, openGroup, type FileIndex, type GroupIndex } from './fileIndex.ts'
import { HeaderWire } from './headerWire.ts'
import { LINEAGE_FIELDS, LineageCopier, type RowOrigin } from './lineage.ts'
import type { IcebergField } from '../../schemas/columns/types.ts'
import { EMPTY_TYPING, FIRST_RECIPE, type Typing } from '../../schemas/typing/typing.ts'
import { LOG_FIELDS } from '../row/schema.ts'
import { RowBlobs } from '../typed/blobs.ts'
import { columnCopies, type CopyLeaf } from '../typed/copyColumns.ts'
import type { RowSource } from './rowGroupReader.ts'
import { parquetSchema } from './schema.ts'
import { RowFileWriter, type RowFileOptions, type RowFileStats } from './rowWriter.ts'
import { corrupt } from './thriftRead.ts'

/** A file to merge: its size and bytes of it by range. Errors of `read` pass through. */
export interface MergeInput {
  readonly sizeBytes: number
  read(start: number, end: number): Promise<Uint8Array>
  /** What its rows inherit; given for all inputs or for none. */
  readonly origin?: RowOrigin
}

const EMPTY = new Uint8Array(0)
const FOOTER_GUESS_BYTES = 64 * 1024

export interface MergeOptions extends RowFileOptions {
  /**
   * A row group of at least this size as stored, whose rows nothing lies between, is copied as it is, and its checksums
   * with it: 8 MiB. Infinity encodes all rows anew.
   */
  readonly copyFromBytes?: number
  /** The table's columns and recipes; left out when it has only the log's columns. */
  readonly typing?: Typing
}

const COPY_FROM_BYTES = 8 * 1024 * 1024
/** The largest row group as stored (T7). */
const ROW_GROUP_MAX_BYTES = 16 * 1024 * 1024

/**
 * Merges table files into one whose rows are sorted by (partition, offset) and whose row groups hold one partition each
 * (T7). Values are the same bytes; the kafka_crc of every row that is encoded anew is checked. `sink` takes the file's bytes in order and
 * is waited for. Held at once: one row group of the output as stored, and of each input that has rows where the merge
 * stands, one row group as stored and a page a column decoded.
 *
 * Errors: CORRUPT (an input does not decode, or a checksum does not hold), REFUSED (the same row in two inputs), and what
 * `read` and `sink` throw. Nothing of the output is valid after an error.
 */
export async function mergeRowFiles(
  inputs: readonly MergeInput[],
  sink: (bytes: Uint8Array) => Promise<void> | void,
  options: MergeOptions = {},
): Promise<RowFileStats> {
  const { typing = EMPTY_TYPING } = options
  // v3: rows that are moved keep their identity in columns, so that all of them are encoded anew (T11).
  const hasLineage = inputs.some((input) => input.origin !== undefined)
  const copyFromBytes = hasLineage ? Infinity : (options.copyFromBytes ?? COPY_FROM_BYTES)
  const userFields = hasLineage ? [...LINEAGE_FIELDS, ...typing.fields] : typing.fields
  const written = parquetSchema([...userFields, ...LOG_FIELDS]).leaves
  const ready: Uint8Array[] = []
  const writer = new RowFileWriter({ onePartitionPerRowGroup: true, ...options, userFields }, (bytes) => ready.push(bytes))
  const drain = async (): Promise<void> => {
    for (const bytes of ready.splice(0)) await sink(bytes)
  }
  const cursors: Cursor[] = []
  for (const input of inputs) {
    const footer = await readFooter(input)
    const index = indexFile(footer, userFields.length > 0)
    // Row groups of our files follow each other; those of other writers may stand in any order.
    if (index.footer === null) cursors.push(new Cursor(input, index, index.groups, CopySource.open(input, footer, written), typing.fields))
    else for (const group of index.groups) cursors.push(new Cursor(input, index, [group], null, typing.fields))
  }
  const copier = new RowCopier(writer, typing, hasLineage)
  for (;;) {
    const [first, second] = leastTwo(cursors)
    if (first === null) break
    if (first.source !== null) copier.copy(first, second)
    else if (!(await copyWhole(writer, first, second, copyFromBytes))) await first.open()
    if (ready.length > 0) await drain()
  }
  const stats = writer.finish()
  await drain()
  return stats
}

async function readFooter(input: MergeInput): Promise<Uint8Array> {
  const guess = await input.read(Math.max(0, input.sizeBytes - FOOTER_GUESS_BYTES), input.sizeBytes)
  if (guess.length < TAIL_BYTES) throw corrupt('a table file is too short')
  const needed = footerBytes(guess)
  if (needed > input.sizeBytes) throw corrupt('the footer of a table file is longer than the file')
  return needed <= guess.length ? guess : await input.read(input.sizeBytes - needed, input.sizeBytes)
}

/**
 * Copies the cursor's next row group as a whole where that is allowed and leaves no small row group before it; false
 * when its rows must be encoded. A small open row group takes in the next one, in even halves if need be, so that the
 * row groups behind them can be copied again.
 */
async function copyWhole(writer: RowFileWriter, cursor: Cursor, other: Cursor | null, copyFromBytes: number): Promise<boolean> {
  writer.limitRowGroup()
  const group = cursor.nextGroup
  const copy = cursor.copySource
  if (group === null || copy === null || group.minPartition !== group.maxPartition || group.end - group.start < copyFromBytes) return false
  if (
    other !== null &&
    (other.partition < group.maxPartition || (other.partition === group.maxPartition && other.offset <= group.maxOffset))
  )
    return false
  const { openBytes, openPartition } = writer
  if (openBytes > 0 && openBytes < copyFromBytes && openPartition === group.minPartition) {
    const bothBytes = openBytes + group.end - group.start
    writer.limitRowGroup(bothBytes <= ROW_GROUP_MAX_BYTES ? ROW_GROUP_MAX_BYTES : bothBytes / 2)
    return false
  }
  const range = {
    partition: group.minPartition,
    firstOffset: group.minOffset,
    lastOffset: group.maxOffset,
    rows: group.rows,
    minTimestampMs: group.minTimestampMs,
    maxTimestampMs: group.maxTimestampMs,
  }
  const copied = await copy.read(cursor.groupNumber)
  if (copied === null) return false
  writer.copyRowGroup(copied.group, range, copied.bytes, copied.indexes)
  cursor.skipGroup()
  return true
}

/** A place in one input. While no row group is open, `partition` and `offset` are a lower bound of what comes next. */
class Cursor {
  source: RowSource | null = null
  /** Row of the block. */
  row = 0
  partition = Infinity
  offset = Infinity
  /** Position of the block's first row in the file. */
  position = 0
  readonly #input: MergeInput
  readonly #index: FileIndex
  readonly #groups: readonly GroupIndex[]
  #next = 0
  /** Null when row groups cannot be copied. */
  readonly copySource: CopySource | null

  readonly #userFields: readonly IcebergField[]

  constructor(
    input: MergeInput,
    index: FileIndex,
    groups: readonly GroupIndex[],
    copySource: CopySource | null,
    userFields: readonly IcebergField[],
  ) {
    this.#userFields = userFields
    this.copySource = copySource
    this.#input = input
    this.#index = index
    this.#groups = groups
    this.#toBound()
  }

  /** The row group that comes next, and its number in the file. */
  get nextGroup(): GroupIndex | null {
    return this.#groups[this.#next] ?? null
  }

  get groupNumber(): number {
    return this.#next
  }

  skipGroup(): void {
    this.#next++
    this.#toBound()
  }

  async open(): Promise<void> {
    const group = this.#groups[this.#next++]
    this.source = await openGroup(
      group,
      this.#index.footer,
      await this.#input.read(group.start, group.end),
      this.#index.userLeaves,
      this.#userFields,
    )
    this.row = 0
    this.position = group.firstRow
    this.nextBlock()
  }

  get origin(): RowOrigin | undefined {
    return this.#input.origin
  }

  /** Loads the next block of rows, or closes the row group after its last one. */
  nextBlock(): void {
    const source = this.source!
    this.position += source.rows
    if (!source.next()) {
      this.source = null
      return this.#toBound()
    }
    this.row = 0
    this.locate()
  }

  /** Reads partition and offset of the current row. */
  locate(): void {
    const { partition, offset } = this.source!
    this.partition = partition.values[partition.at + this.row]
    this.offset = offset.values[offset.at + this.row]
  }

  #toBound(): void {
    const group = this.#groups[this.#next]
    this.partition = group === undefined ? Infinity : group.minPartition
    this.offset = group === undefined ? Infinity : group.minPartition === group.maxPartition ? group.minOffset : -Infinity
  }
}

/** A row of the current block of a source. */
export interface RowPlace {
  readonly row: number
  readonly partition: number
  readonly offset: number
  /** Position in the file of the block's first row, and what rows of the file inherit; with lineage only. */
  readonly position?: number
  readonly origin?: RowOrigin
}

/** Copies rows into a writer, one after the other, and proves each. */
export class RowCopier {
  readonly #writer: RowFileWriter
  readonly #headers = new HeaderWire()

  readonly #typing: Typing
  /** Of the source that the last row came from. */
  #source: RowSource | null = null
  #blobs: RowBlobs | null = null
  #columns: readonly CopyLeaf[] = []
  readonly #opened = new WeakMap<RowSource, { readonly blobs: RowBlobs; readonly columns: readonly CopyLeaf[] }>()

  readonly #lineage: LineageCopier | null

  constructor(writer: RowFileWriter, typing: Typing, hasLineage = false) {
    this.#writer = writer
    this.#typing = typing
    this.#lineage = hasLineage ? new LineageCopier((id) => writer.leaf(id)) : null
  }

  #switch(source: RowSource): void {
    let opened = this.#opened.get(source)
    if (opened === undefined) {
      const { fields } = this.#typing
      opened = {
        blobs: new RowBlobs(source, this.#typing),
        columns: columnCopies(fields, source.columns, (id) => this.#writer.leaf(id)),
      }
      this.#opened.set(source, opened)
    }
    this.#source = source
    this.#blobs = opened.blobs
    this.#columns = opened.columns
  }

  /** Copies rows of `from` while they come before those of `other`, at most to the end of the block. */
  copy(from: Cursor, other: Cursor | null): void {
    const source = from.source!
    const partition = other?.partition ?? Infinity
    const offset = other?.offset ?? Infinity
    do {
      this.row(source, from)
      if (++from.row === source.rows) return from.nextBlock()
      from.locate()
    } while (from.partition < partition || (from.partition === partition && from.offset <= offset))
  }

  /** Errors: CORRUPT when the row does not match its checksum. */
  row(source: RowSource, place: RowPlace): void {
    const { row, partition, offset } = place
    const writer = this.#writer
    if (source !== this.#source) this.#switch(source)
    const blobs = this.#blobs!
    blobs.read(row, offset)
    const { key, keyStart, keyEnd, keyForm, value, valueStart, valueEnd, valueForm } = blobs
    writer.beginRow(
      partition,
      offset,
      source.timestampMs.values[source.timestampMs.at + row],
      source.timestampType.values[source.timestampType.at + row],
    )
    if (keyForm >= FIRST_RECIPE) writer.keyOfForm(keyForm, key!, keyStart, keyEnd)
    else writer.key(key ?? EMPTY, keyStart, keyEnd)
    if (valueForm >= FIRST_RECIPE) writer.valueOfForm(valueForm, value!, valueStart, valueEnd)
    else writer.value(value ?? EMPTY, valueStart, valueEnd)
    if (this.#lineage !== null) this.#lineage.copy(source, row, place.position! + row, place.origin!)
    for (const copy of this.#columns) copy(row)
    const headers = this.#headers
    headers.read(source, row, null)
    if (headers.bytes === null) writer.noHeaders()
    else writer.headers(headers.bytes, headers.start, headers.firstAt, headers.end, headers.count)
    if (writer.endRow() !== source.crc.values[source.crc.at + row]) {
      throw corrupt(`partition ${partition} offset ${offset}: the row of the table file does not match its checksum`)
    }
  }
}

/** The two cursors that come first in (partition, offset); null where there are none with rows left. */
function leastTwo(cursors: readonly Cursor[]): [Cursor | null, Cursor | null] {
  let first: Cursor | null = null
  let second: Cursor | null = null
  for (const cursor of cursors) {
    if (cursor.partition === Infinity) continue
    if (first === null || before(cursor, first)) {
      second = first
      first = cursor
    } else if (second === null || before(cursor, second)) second = cursor
  }
  return [first, second]
}

function before(a: Cursor, b: Cursor): boolean {
  return a.partition !== b.partition ? a.partition < b.partition : a.offset < b.offset
}
