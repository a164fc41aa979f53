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
}

export interface AppendedBatch {
  /** Kafka error code. */
  readonly error: number
  readonly baseOffset: number
  readonly appendTimeMs: number
  readonly logStartOffset: number
}

/** What the log room wants of the WAL. */
export interface Wal {
  /**
   * Puts batches into the open buffer and resolves when they are durable and sequenced (L2, L10), one answer a batch.
   * `ready` is the outcome of validation that still runs (L11): the commit waits for it; a batch whose `ready` gives an
   * error code other than 0 is left behind as dead bytes.
   * Errors: as Metadata.propose; STORE_FULL, STORE_UNAVAILABLE.
   */
  append(items: readonly { readonly topic: number; readonly partition: number; readonly batch: WalBatch; readonly ready?: Promise<number> }[]): Promise<
    readonly AppendedBatch[]
  >
  /**
   * Bytes of a WAL extent (whole batches) from `byteOffset` on, base offset and leader epoch NOT yet patched; from the
   * cache when it is there, else a ranged read. May be shared: do not change. Errors: STORE_NOT_FOUND after a barrier.
   */
  read(object: number, byteOffset: number, sizeBytes: number, options?: { readonly whole?: boolean }): Promise<Uint8Array>
  /** As `read`, but only what memory has; null otherwise. */
  cached(object: number, byteOffset: number, sizeBytes: number): Uint8Array | null
  /** Closes the open buffer, waits for all in flight, takes no more. */
  close(): Promise<void>
}
