import type { TableFile } from '../metadata/view.ts'

/** What is read of a table: `nextOffset` is where the next read goes on, past every hole that was seen to be one. */
export interface TableRows {
  readonly batches: readonly Uint8Array[]
  readonly nextOffset: number
}

/** Rows that have to be brought into memory first. */
export interface LoadingRows {
  /** False while they stand in line until there is room. */
  readonly isLoading: boolean
  /** Calls once when it is worth reading again; the answer stops listening. */
  whenReady(listener: () => void): () => void
}

/** Reads rows of table files back as record batches; tables/readback is the real one, wired in main.ts. */
export interface TableReader {
  /**
   * Batches (magic 2, base offsets set, leader epoch 0, no producer id) that hold the rows of `partition` with offset in
   * [fromOffset, lastOffset], in order, cut when `maxBytes` is reached but at least one when any row is left.
   * The first batch may begin before `fromOffset`. `nextOffset` is where the next read goes on: past every hole that was
   * seen to be one. Errors: STORE_NOT_FOUND, CORRUPT (a checksum that does not hold).
   */
  read(request: {
    readonly files: readonly TableFile[]
    readonly partition: number
    readonly fromOffset: number
    readonly lastOffset: number
    readonly maxBytes: number
  }): Promise<TableRows>
  /**
   * As `read`, of what is in memory, at once; what lacks for more is asked for, and loaded in turn. With `minOne` false
   * there may be no batch, as the first one does not fit. null: ask `read`, which meets the error that stands in the way.
   */
  readNow(request: {
    readonly files: readonly TableFile[]
    readonly partition: number
    readonly fromOffset: number
    readonly lastOffset: number
    readonly maxBytes: number
    readonly minOne: boolean
  }): TableRows | LoadingRows | null
  /** The first row at or above `fromOffset` with a timestamp at or above the time; null when none. */
  findByTime(request: {
    readonly files: readonly TableFile[]
    readonly partition: number
    readonly fromOffset: number
    readonly timestampMs: number
  }): Promise<{ readonly offset: number; readonly timestampMs: number } | null>
}

export interface FetchPartition {
  readonly topic: number
  readonly partition: number
  readonly fetchOffset: number
  readonly maxBytes: number
  /** read_committed: nothing at or above the last stable offset. Else, or left out, everything. */
  readonly isCommitted?: boolean
}

export interface FetchedPartition {
  /** Kafka error code. */
  readonly error: number
  readonly highWatermark: number
  readonly lastStableOffset: number
  readonly logStartOffset: number
  /** Of read_committed, by first offset: what of the records below must be left out. */
  readonly abortedTransactions: readonly { readonly producerId: number; readonly firstOffset: number }[]
  /** Whole batches, base offset and leader epoch patched; not to be changed. */
  readonly records: readonly Uint8Array[]
  readonly sizeBytes: number
}

/** What the api room wants of the log. */
export interface Log {
  /** See wal/port.ts; adds back-pressure when conversion cannot keep up (`throttleMs` tells the client). */
  append(
    items: readonly {
      readonly topic: number
      readonly partition: number
      readonly batch: import('../wal/port.ts').WalBatch
      readonly ready?: Promise<number>
    }[],
  ): Promise<{ readonly batches: readonly import('../wal/port.ts').AppendedBatch[]; readonly throttleMs: number }>
  /**
   * KIP-74: partitions in order; the first that has data gives at least one batch. Waits up to `maxWaitMs` for
   * `minBytes`, woken by commits. `signal` ends the wait (closed connection).
   */
  fetch(request: {
    readonly partitions: readonly FetchPartition[]
    readonly minBytes: number
    readonly maxBytes: number
    readonly maxWaitMs: number
    readonly signal: AbortSignal
  }): Promise<readonly FetchedPartition[]>
  /** First record (or marker) at or after the time, below the end; null when none. After a barrier. */
  offsetByTime(
    topic: number,
    partition: number,
    timestampMs: number,
  ): Promise<{ readonly offset: number; readonly timestampMs: number } | null>
  /** The record with the largest timestamp (KIP-734), null when empty. After a barrier. */
  offsetOfMaxTimestamp(topic: number, partition: number): Promise<{ readonly offset: number; readonly timestampMs: number } | null>
}
