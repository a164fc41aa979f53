import type { StoreSpec } from '../../storage/store.ts'
import type { RangeTuple, FileMetrics } from '../iceberg/types.ts'

/** What a worker is started with: its own store, or null where the store lives in the main thread's memory. */
export interface WorkerData {
  readonly store: StoreSpec | null
}

/** One WAL extent inside the bytes of an encode task. */
export interface EncodePart {
  readonly partition: number
  /** Base offset of the first batch. */
  readonly baseOffset: number
  /** Rows outside [fromOffset, toOffset] are left out. */
  readonly fromOffset: number
  readonly toOffset: number
  readonly at: number
  readonly sizeBytes: number
}

/** Batches to one table file; parts in order of partition and offset. */
export interface EncodeTask {
  readonly kind: 'encode'
  readonly key: string
  readonly bytes: ArrayBuffer
  readonly parts: readonly EncodePart[]
  /** Merged files hold one partition a row group; a first file of one partition does so anyway. */
}

/** A file that was made; `body` only where the worker has no store. */
export interface FileResult {
  readonly key: string
  readonly sizeBytes: number
  readonly rows: number
  /** originalBytes is 0: only the main thread knows it. */
  readonly ranges: readonly RangeTuple[]
  readonly metrics: FileMetrics
  readonly body: readonly Uint8Array[] | null
}
