import {
  batchAttributes,
  batchMaxTimestampMs,
  batchOffsetCount,
  CODEC_NONE,
  codecOf,
  wholeBatchBytes,
} from '../../protocol/records/header.ts'
import { FrazilError, hasCode } from '../base/errors.ts'
import { WorkerPool } from '../base/workers.ts'
import type { Metadata } from '../metadata/port.ts'
import type { Extent, WalExtent } from '../metadata/view.ts'
import type { Wal } from '../wal/port.ts'
import { firstInBatch, type TimedOffset } from './firstInBatch.ts'
import { filesOf } from './partitionReader.ts'
import type { TableReader } from './port.ts'

/** What `timesWorker.ts` is asked. */
export interface BatchTask {
  readonly batch: Uint8Array
  readonly baseOffset: number
  readonly from: number
  readonly timestampMs: number
}

/** A compressed batch over this size is inflated by a worker. */
const INLINE_BYTES = 32 * 1024

/**
 * Lookups by time, exactly as Kafka answers them (K: UnifiedLog.fetchOffsetByTimestamp): the first record in offset order
 * at or after a time, and the first record that has the largest timestamp (KIP-734). Create times go up and down, so
 * extents are found by the largest timestamp in them, then batches, then records.
 */
export class TimeLookup {
  readonly #metadata: Metadata
  readonly #wal: Wal
  readonly #tables: TableReader
  readonly #pool: WorkerPool

  constructor(options: { readonly metadata: Metadata; readonly wal: Wal; readonly tables: TableReader }) {
    this.#metadata = options.metadata
    this.#wal = options.wal
    this.#tables = options.tables
    const file = './timesWorker' + (import.meta.url.endsWith('.ts') ? '.ts' : '.js')
    this.#pool = new WorkerPool(new URL(file, import.meta.url), { size: 1 })
  }

  close(): Promise<void> {
    return this.#pool.close()
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
    if (extent.kind === 'marker') return { offset: extent.firstOffset, timestampMs: extent.maxTimestampMs }
    if (extent.kind === 'wal') return this.#firstInWal(extent, from, timestampMs)
    const found = await this.#tables.findByTime({ files: filesOf(this.#metadata, extent), partition, fromOffset: from, timestampMs })
    return found !== null && found.offset <= extent.lastOffset ? found : null
  }

  async #firstInWal(extent: WalExtent, from: number, timestampMs: number): Promise<TimedOffset | null> {
    const bytes = await this.#wal.read(extent.object, extent.byteOffset, extent.sizeBytes)
    // The second round looks into batches whose producer understated their largest timestamp (log/validate.ts).
    return (await this.#firstRecord(bytes, extent, from, timestampMs, true)) ?? this.#firstRecord(bytes, extent, from, timestampMs, false)
  }

  async #firstRecord(
    bytes: Uint8Array,
    extent: WalExtent,
    from: number,
    timestampMs: number,
    trusting: boolean,
  ): Promise<TimedOffset | null> {
    let baseOffset = extent.firstOffset
    for (let at = 0; at < bytes.length;) {
      const sizeBytes = wholeBatchBytes(bytes, at)
      if (sizeBytes < 0) throw new FrazilError('CORRUPT', `an extent of WAL object ${extent.object} is no run of whole batches`)
      const next = baseOffset + batchOffsetCount(bytes, at)
      if (next > from && (!trusting || batchMaxTimestampMs(bytes, at) >= timestampMs)) {
        const found = await this.#firstInBatch(bytes.subarray(at, at + sizeBytes), baseOffset, from, timestampMs)
        if (found !== null) return found
      }
      baseOffset = next
      at += sizeBytes
    }
    return null
  }

  async #firstInBatch(batch: Uint8Array, baseOffset: number, from: number, timestampMs: number): Promise<TimedOffset | null> {
    if (codecOf(batchAttributes(batch)) === CODEC_NONE || batch.length <= INLINE_BYTES)
      return firstInBatch(batch, baseOffset, from, timestampMs)
    const task: BatchTask = { batch: new Uint8Array(batch), baseOffset, from, timestampMs }
    return this.#pool.run<TimedOffset | null>(task, [task.batch.buffer as ArrayBuffer])
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
