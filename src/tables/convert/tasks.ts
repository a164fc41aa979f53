import type { RequestCount } from '../../storage/metrics.ts'
import type { StoreSpec } from '../../storage/store.ts'
import type { StagedPartition } from '../iceberg/stage.ts'
import type { RangeTuple, FileMetrics } from '../iceberg/types.ts'
import type { RowOrigin } from '../parquet/lineage.ts'
import type { BoundField } from '../partition/spec.ts'
import type { SideCounts, UnknownSchema } from '../typed/side.ts'

/** What a worker is started with: how it opens its own store. */
export interface WorkerData {
  readonly store: StoreSpec
}

/** WAL extents that follow each other, inside a chunk of an encode task. */
export interface EncodePart {
  readonly partition: number
  /** Base offset of the first batch. */
  readonly baseOffset: number
  /** Rows outside [fromOffset, toOffset] are left out. */
  readonly fromOffset: number
  readonly toOffset: number
  /** Index of the chunk, and where it begins there. */
  readonly chunk: number
  readonly at: number
  readonly sizeBytes: number
  /** Batches of these transactions are no rows; `lastOffset` is the marker's. */
  readonly aborted: readonly { readonly producerId: number; readonly firstOffset: number; readonly lastOffset: number }[]
}

/** Batches to one table file; parts in order of partition and offset. */
export interface EncodeTask {
  readonly kind: 'encode'
  readonly key: string
  readonly chunks: readonly ArrayBuffer[]
  readonly parts: readonly EncodePart[]
  /** What the table is partitioned by: each partition gets a file of its own. */
  readonly partitionBy?: readonly BoundField[]
  /** Left out or null: keys and values stay as they are, and the table has no columns for them. */
  readonly typed?: TypedTask | null
}

/** How keys and values become columns. */
export interface TypedTask {
  readonly keys: boolean
  readonly values: boolean
  readonly setting: string | null
  /** The table's typing as text, and its key; '' for none yet. */
  readonly key: string
  readonly text: string
  readonly givenUp: readonly string[]
}

/** Table files to one, larger one. */
export interface MergeTask {
  readonly kind: 'merge'
  readonly key: string
  /** `origin` for tables with row lineage. */
  readonly inputs: readonly { readonly key: string; readonly sizeBytes: number; readonly origin?: RowOrigin }[]
  /** The table's typing, as in TypedTask; null when it has none. */
  readonly typing?: { readonly key: string; readonly text: string } | null
}

/** A file that was made and uploaded. */
export interface FileResult {
  readonly key: string
  readonly sizeBytes: number
  readonly rows: number
  /** Their originalBytes are 0: only the state knows them. */
  readonly ranges: readonly RangeTuple[]
  readonly metrics: FileMetrics
  /** The partition of its rows; left out without partitioning. */
  readonly partition?: StagedPartition
  /** Further files of the same task, when its rows are in several partitions. */
  readonly siblings?: readonly FileResult[]
  /** Schemas that the task's typing does not know: then no file was made. */
  readonly unknown: readonly UnknownSchema[]
  /** How values became columns; null when they did not. */
  readonly values: SideCounts | null
}

/** What a worker sends back. */
export interface WorkerAnswer {
  readonly file: FileResult
  /** Store requests of this task, and of those that failed in this thread since the last answer. */
  readonly requests: readonly RequestCount[]
  /** The task's chunks, for others to use. */
  readonly chunks: readonly ArrayBuffer[]
}
