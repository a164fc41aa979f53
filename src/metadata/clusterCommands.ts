/**
 * Since level 3. While a hold lasts nothing is deleted that was needed when it began: neither what waits in the deletion queue nor entries
 * and snapshots of the log (a bucket is copied meanwhile). It ends by itself `forMs` after its entry's time; 0 ends it now. Asked
 * again under the same name it is prolonged, or shortened.
 */
export interface HoldDeletions {
  readonly name: string
  readonly forMs: number
}

/** Since level 3. Incarnations that were fenced long ago leave the state; what lives, or is not known, is passed over. */
export interface ForgetIncarnations {
  readonly incarnations: readonly number[]
}

/**
 * A copy of the log becomes a cluster of its own (L9): nobody who wrote the log before writes this one, and clients can tell records
 * that were written after it from those that another history has under the same offsets. Proposed by no incarnation, to a log that
 * no pod has open; raises the level to 3.
 */
export interface OpenTimeline {
  /** The last entry before it: refused anywhere else. */
  readonly lastEntry: number
  /** 16 random bytes: the cluster's new id. */
  readonly nonce: Uint8Array
}
