import { FrazilError } from '../../base/errors.ts'
import type { Metadata } from '../../metadata/port.ts'

/** Ids taken from the log at once; what is left of a block when the process ends is never used. */
const BLOCK = 1000

/** Hands out producer ids, each once for ever, from blocks that the metadata log gave to this process. */
export class ProducerIds {
  readonly #metadata: Metadata
  #next = 0
  #end = 0
  #taking: Promise<void> | null = null

  constructor(metadata: Metadata) {
    this.#metadata = metadata
  }

  /** Errors: as Metadata.propose. */
  async next(): Promise<number> {
    while (this.#next === this.#end) {
      this.#taking ??= this.#take().finally(() => (this.#taking = null))
      await this.#taking
    }
    return this.#next++
  }

  async #take(): Promise<void> {
    const result = await this.#metadata.propose({ kind: 'allocateProducerIds', count: BLOCK })
    if (result.kind !== 'producerIds')
      throw new FrazilError('REFUSED', `producer ids were not given: ${result.kind === 'refused' ? result.reason : result.kind}`)
    this.#next = result.first
    this.#end = result.first + result.count
  }
}
