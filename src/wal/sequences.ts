import type { Metadata } from '../metadata/port.ts'

/** How far ahead segments are numbered: more buffers than can close while a segment uploads. */
const LEAP = 10_000

/**
 * WAL sequences of this incarnation: they name objects, and the state takes them in rising order only, so that an object
 * with a sequence below the last one applied and without a commit can get none any more (L2, L13).
 *
 * Segments (L14) upload slowly and must not hold back producers: they are numbered ahead of the buffers, and only when a
 * segment is about to be proposed do the numbers of later buffers jump over its own.
 */
export class WalSequences {
  #last: number

  constructor(metadata: Metadata) {
    this.#last = metadata.state.incarnation(metadata.incarnation)?.lastWalSequence ?? 0
  }

  /** The sequence of a buffer that closes now. */
  take(): number {
    return ++this.#last
  }

  /** The first of a run of sequences for segments that begin to upload. One run at a time. */
  ahead(): number {
    return this.#last + LEAP
  }

  /** Every buffer closed from now on comes after `sequence`; false when one that is not below it has closed already. */
  claim(sequence: number): boolean {
    if (this.#last >= sequence) return false
    this.#last = sequence
    return true
  }
}
