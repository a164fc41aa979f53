import type { WalExtent } from '../metadata/view.ts'

/** One validated batch (protocol/records header fields), still in the frame it arrived in; bytes are not copied. */
export interface WalBatch {
  readonly bytes: Uint8Array
  /** lastOffsetDelta + 1. */
  readonly offsetCount: number
  readonly maxTimestampMs: number
  readonly producerId: number
  readonly producerEpoch: number
  readonly baseSequence: number
  /** -1 unless the broker stamped the batch. */
  readonly appendTimeMs: number
  /** TXN_… of metadata/commands.ts; left out when it is not transactional. */
  readonly transaction?: number
}

export interface AppendedBatch {
  /** Kafka error code. */
  readonly error: number
  readonly baseOffset: number
  readonly appendTimeMs: number
  readonly logStartOffset: number
}

/** Batches [from, to) of `batches`; ascending and contiguous in offsets. Not to be changed. */
export interface CachedBatches {
  readonly batches: readonly Uint8Array[]
  readonly from: number
  readonly to: number
}

/** Whole batches, one after the other; `baseOffset` is that of the first. */
export interface LocatedBatches {
  readonly bytes: Uint8Array
  readonly baseOffset: number
}

/** What the log room wants of the WAL. */
export interface Wal {
  /**
   * Puts batches into the open buffer and resolves when they are durable and sequenced (L2, L10), one answer a batch.
   * `ready` is the outcome of validation that still runs (L11): the commit waits for it; a batch whose `ready` gives an
   * error code other than 0 is left behind as dead bytes.
   * Errors: as Metadata.propose; STORE_FULL, STORE_UNAVAILABLE.
   */
  append(
    items: readonly { readonly topic: number; readonly partition: number; readonly batch: WalBatch; readonly ready?: Promise<number> }[],
  ): Promise<readonly AppendedBatch[]>
  /**
   * Bytes of a WAL extent (whole batches) from `byteOffset` on, base offset and leader epoch NOT yet patched; from the
   * cache when it is there, else a ranged read. May be shared: do not change. Errors: STORE_NOT_FOUND after a barrier.
   */
  read(object: number, byteOffset: number, sizeBytes: number, options?: { readonly whole?: boolean }): Promise<Uint8Array>
  /** As `read`, but only what memory has; null otherwise. */
  cached(object: number, byteOffset: number, sizeBytes: number): Uint8Array | null
  /**
   * The batches of an extent as the cache of recent commits holds them, patched already, without a copy; null unless all
   * of them are there. They lie in the memory of the frames they came in, so there is no one array of them.
   */
  cachedBatches(object: number, byteOffset: number, sizeBytes: number): CachedBatches | null
  /** Copies an extent from the cache of recent commits to `target` at `at`; false, and nothing is copied, when it is not there. */
  copyCached(extent: WalExtent, target: Uint8Array, at: number): boolean
  /**
   * From the batch of a WAL extent that holds `offset` on: as many whole batches as fit into `maxBytes`, at least that one,
   * NOT yet patched; `baseOffset` is that of the first. Reads no more than it must: a large extent is looked up in its
   * object's index first. May be shared: patch, but do not otherwise change. Errors: as `read`, CORRUPT.
   */
  readFrom(extent: WalExtent, offset: number, maxBytes: number): Promise<LocatedBatches>
  /** Closes the open buffer, waits for all in flight, takes no more. */
  close(): Promise<void>
}
