import type { Metadata } from '../metadata/port.ts'

/** WAL sequences of this incarnation: they name objects, and the state takes them in rising order only (L2, L13). */
export class WalSequences {
  #last: number

  constructor(metadata: Metadata) {
    this.#last = metadata.state.incarnation(metadata.incarnation)?.lastWalSequence ?? 0
  }

  take(): number {
    return ++this.#last
  }
}
