import {
  BATCH_HEADER_BYTES,
  batchMaxTimestampMs,
  batchSizeBytes,
  codecOf,
  readBatchHeader,
  timestampTypeOf,
  type BatchHeader,
} from '../../protocol/records/header.ts'
import { decompressPayload } from '../../protocol/records/codecs.ts'
import { RecordCursor } from '../../protocol/records/walk.ts'
import { FrazilError, hasCode } from '../base/errors.ts'
import type { Metadata } from '../metadata/port.ts'
import type { Extent, WalExtent } from '../metadata/view.ts'
import type { Wal } from '../wal/port.ts'
import { filesOf } from './partitionReader.ts'
import type { TableReader } from './port.ts'

export interface TimedOffset {
  readonly offset: number
  readonly timestampMs: number
}

/** A validated batch inflated within bounds once already; this only guards against a damaged one. */
const INFLATED_MAX_BYTES = 256 * 1024 * 1024

/**
 * Lookups by time, exactly as Kafka answers them (K: UnifiedLog.fetchOffsetByTimestamp): the first record in offset order
 * at or after a time, and the first record that has the largest timestamp (KIP-734). Create times go up and down, so
 * extents are found by the largest timestamp in them, then batches, then records.
 */
export class TimeLookup {
  readonly #metadata: Metadata
  readonly #wal: Wal
  readonly #tables: TableReader

  constructor(options: { readonly metadata: Metadata; readonly wal: Wal; readonly tables: TableReader }) {
    this.#metadata = options.metadata
    this.#wal = options.wal
    this.#tables = options.tables
  }

  /** See Log.offsetByTime. */
  async atOrAfter(topic: number, partition: number, timestampMs: number): Promise<TimedOffset | null> {
    await this.#metadata.barrier()
    return this.#retried(async () => {
      const view = this.#metadata.state.partition(topic, partition)
      if (view === null) return null
      for (let from = view.logStartOffset; ;) {
        const extent = this.#metadata.state.extentByTime(topic, partition, from, timestampMs)
        if (extent === null) return null
        const found = await this.#first(extent, partition, from, timestampMs)
        if (found !== null) return found
        from = extent.lastOffset + 1 // its latest record was below the log start, or deleted from the table
      }
    })
  }

  /** See Log.offsetOfMaxTimestamp. */
  async ofMax(topic: number, partition: number): Promise<TimedOffset | null> {
    await this.#metadata.barrier()
    return this.#retried(async () => {
      const view = this.#metadata.state.partition(topic, partition)
      const extent = this.#metadata.state.extentOfMaxTimestamp(topic, partition)
      if (view === null || extent === null) return null
      return this.#first(extent, partition, view.logStartOffset, extent.maxTimestampMs)
    })
  }

  async #first(extent: Extent, partition: number, fromOffset: number, timestampMs: number): Promise<TimedOffset | null> {
    const from = Math.max(fromOffset, extent.firstOffset)
    if (extent.kind === 'wal') return this.#firstInWal(extent, from, timestampMs)
    const found = await this.#tables.findByTime({ files: filesOf(this.#metadata, extent), partition, fromOffset: from, timestampMs })
    return found !== null && found.offset <= extent.lastOffset ? found : null
  }

  async #firstInWal(extent: WalExtent, from: number, timestampMs: number): Promise<TimedOffset | null> {
    const bytes = await this.#wal.read(extent.object, extent.byteOffset, extent.sizeBytes)
    // The second round looks into batches whose producer understated their largest timestamp (log/validate.ts).
    return (
      firstRecord(bytes, extent.firstOffset, from, timestampMs, true) ?? firstRecord(bytes, extent.firstOffset, from, timestampMs, false)
    )
  }

  /** Once more after a barrier when what was looked at has moved meanwhile (L8). */
  async #retried<T>(look: () => Promise<T>): Promise<T> {
    try {
      return await look()
    } catch (error) {
      if (!hasCode(error, 'STORE_NOT_FOUND')) throw error
      await this.#metadata.barrier()
      return look()
    }
  }
}

function firstRecord(bytes: Uint8Array, firstOffset: number, from: number, timestampMs: number, trusting: boolean): TimedOffset | null {
  let baseOffset = firstOffset
  for (let at = 0; at < bytes.length; at += batchSizeBytes(bytes, at)) {
    const header = readBatchHeader(bytes, at)
    if (header.sizeBytes < BATCH_HEADER_BYTES) throw new FrazilError('CORRUPT', 'a WAL extent is no run of whole batches')
    const next = baseOffset + header.lastOffsetDelta + 1
    if (next > from && (!trusting || batchMaxTimestampMs(bytes, at) >= timestampMs)) {
      const found = firstInBatch(bytes.subarray(at, at + header.sizeBytes), header, baseOffset, from, timestampMs)
      if (found !== null) return found
    }
    baseOffset = next
  }
  return null
}

function firstInBatch(batch: Uint8Array, header: BatchHeader, baseOffset: number, from: number, timestampMs: number): TimedOffset | null {
  if (timestampTypeOf(header.attributes) === 1) {
    // Every record of it has the append time.
    return header.maxTimestampMs >= timestampMs ? { offset: Math.max(baseOffset, from), timestampMs: header.maxTimestampMs } : null
  }
  const payload = decompressPayload(codecOf(header.attributes), batch.subarray(BATCH_HEADER_BYTES), INFLATED_MAX_BYTES)
  const cursor = new RecordCursor().reset(payload, 0, payload.length, header.count)
  while (cursor.next()) {
    const at = header.baseTimestampMs + cursor.timestampDeltaMs
    const offset = baseOffset + cursor.offsetDelta
    if (at >= timestampMs && offset >= from) return { offset, timestampMs: at }
  }
  return null
}
