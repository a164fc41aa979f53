import { BatchBuilder } from '../../../protocol/records/build.ts'
import {
  BATCH_HEADER_BYTES,
  batchAttributes,
  batchBaseTimestampMs,
  batchMaxTimestampMs,
  batchRecordCount,
  timestampTypeOf,
} from '../../../protocol/records/header.ts'
import { RecordCursor } from '../../../protocol/records/walk.ts'
import { BATCH_BYTES, type BatchList } from './batches.ts'

/** The batches of one partition in one decoded row group, and how far they are served. */
export class Run {
  readonly #list: BatchList
  readonly #start: number
  readonly #end: number
  /** Index in the list of the first batch that was open to be read. */
  readonly from: number
  #index: number
  #cursor: RecordCursor | null = null

  /** Null when the list has nothing of the partition at or above `fromOffset`. */
  static open(list: BatchList, partition: number, fromOffset: number): Run | null {
    const start = lowerBound(list.partitions, partition)
    const end = lowerBound(list.partitions, partition + 1)
    let index = start
    while (index < end && list.lastOffsets[index] < fromOffset) index++
    return index < end ? new Run(list, start, index, end) : null
  }

  private constructor(list: BatchList, start: number, index: number, end: number) {
    this.#list = list
    this.#start = start
    this.from = index
    this.#index = index
    this.#end = end
  }

  get isDone(): boolean {
    return this.#index >= this.#end
  }

  /** Offset of the next record; it may lie below where the read begins, in its first batch. */
  get head(): number {
    return this.#cursor === null ? this.#list.firstOffsets[this.#index] : this.#base + this.#cursor.offsetDelta
  }

  /** True when no record of the current batch was taken alone. */
  get isWhole(): boolean {
    return this.#cursor === null
  }

  get lastOffset(): number {
    return this.#list.lastOffsets[this.#index]
  }

  /** Last offset of the partition in the row group. */
  get endOffset(): number {
    return this.#list.lastOffsets[this.#end - 1]
  }

  get batch(): Uint8Array {
    return this.#list.batches[this.#index]
  }

  /** Batches of the partition in the row group. */
  get size(): number {
    return this.#end - this.#start
  }

  /** Index in the list of the current batch. */
  get at(): number {
    return this.#index
  }

  /** Batches left, this one included. */
  get left(): number {
    return this.#end - this.#index
  }

  /** Moves past the current batch. */
  nextBatch(): void {
    this.#index++
    this.#cursor = null
  }

  /** Moves records below `limit` into `merge`, until it has `maxBytes`. */
  take(merge: Merge, fromOffset: number, limit: number, maxBytes: number): void {
    const batch = this.batch
    let cursor = this.#cursor
    if (cursor === null) {
      cursor = this.#cursor = new RecordCursor().reset(batch, BATCH_HEADER_BYTES, batch.length, batchRecordCount(batch))
      cursor.next()
    }
    const type = timestampTypeOf(batchAttributes(batch))
    const baseMs = batchBaseTimestampMs(batch)
    const appendMs = batchMaxTimestampMs(batch)
    while (this.head < limit && merge.sizeBytes < maxBytes) {
      if (this.head >= fromOffset) merge.add(this.head, type === 1 ? appendMs : baseMs + cursor.timestampDeltaMs, type, cursor)
      if (!cursor.next()) return this.nextBatch()
    }
  }

  get #base(): number {
    return this.#list.firstOffsets[this.#index]
  }
}

/** Builds batches from records of several runs that lie between one another (T10). */
export class Merge {
  readonly #batches: Uint8Array[]
  readonly #builders: (BatchBuilder | undefined)[] = [undefined, undefined]
  #builder: BatchBuilder | null = null
  #finishedBytes = 0
  #lastOffset = -1

  constructor(batches: Uint8Array[]) {
    this.#batches = batches
  }

  /** Bytes that records which were added take, finished or not. */
  get sizeBytes(): number {
    return this.#finishedBytes + (this.#builder === null || this.#builder.count === 0 ? 0 : this.#builder.sizeBytes)
  }

  get isOpen(): boolean {
    return this.#builder !== null && this.#builder.count > 0
  }

  get lastOffset(): number {
    return this.#lastOffset
  }

  add(offset: number, timestampMs: number, type: 0 | 1, record: RecordCursor): void {
    // Files of one extent are disjoint; a file that was rewritten twice could still repeat a row.
    if (offset <= this.#lastOffset) return
    // Most reads merge nothing: no buffer is made for those.
    const next = (this.#builders[type] ??= new BatchBuilder({ timestampType: type }))
    if (next !== this.#builder || this.#builder.sizeBytes >= BATCH_BYTES || !this.#builder.accepts(offset, timestampMs)) this.finish()
    this.#builder = next
    this.#lastOffset = offset
    const { buf } = record
    next.append(
      offset,
      timestampMs,
      record.keyStart < 0 ? null : buf,
      record.keyStart,
      record.keyEnd,
      record.valueStart < 0 ? null : buf,
      record.valueStart,
      record.valueEnd,
      buf,
      record.headersWireStart,
      record.headersEnd,
    )
  }

  /** Closes the open batch. */
  finish(): void {
    if (this.#builder === null || this.#builder.count === 0) return
    const batch = this.#builder.finish()
    this.#finishedBytes += batch.length
    this.#batches.push(batch)
  }
}

/** The first record of a batch at or above `fromOffset` whose timestamp is at or above the time, or null. */
export function firstByTime(
  batch: Uint8Array,
  firstOffset: number,
  fromOffset: number,
  timestampMs: number,
): { offset: number; timestampMs: number } | null {
  const type = timestampTypeOf(batchAttributes(batch))
  const baseMs = batchBaseTimestampMs(batch)
  const cursor = new RecordCursor().reset(batch, BATCH_HEADER_BYTES, batch.length, batchRecordCount(batch))
  while (cursor.next()) {
    const offset = firstOffset + cursor.offsetDelta
    const timeMs = type === 1 ? batchMaxTimestampMs(batch) : baseMs + cursor.timestampDeltaMs
    if (offset >= fromOffset && timeMs >= timestampMs) return { offset, timestampMs: timeMs }
  }
  return null
}

/** Index of the first element at or above `value` in an ascending array. */
function lowerBound(values: Int32Array, value: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (values[middle] < value) low = middle + 1
    else high = middle
  }
  return low
}
