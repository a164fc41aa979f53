import { LRUCache } from 'lru-cache'
import { Errors } from '../../protocol/errors.ts'
import type { Item } from './buffer.ts'

/**
 * Keeps the order of an idempotent producer's batches when one of them was refused or lost before the sequencer saw it
 * (protocol 2.3: a failed batch must leave no gap). The sequencer accepts any sequence from a producer it does not know,
 * so the batches behind the failed one must be refused here, until the failed one comes again or the epoch changes.
 */
export class SequenceGaps {
  readonly #gaps: LRUCache<string, { readonly epoch: number; readonly baseSequence: number }>

  constructor(options: { readonly max: number }) {
    this.#gaps = new LRUCache({ max: options.max })
  }

  /** The item was not sequenced and will not be. */
  lost(item: Item): void {
    const { producerId, producerEpoch, baseSequence } = item.batch
    if (producerId < 0) return
    const key = keyOf(item)
    const known = this.#gaps.get(key)
    if (known === undefined || known.epoch !== producerEpoch) this.#gaps.set(key, { epoch: producerEpoch, baseSequence })
  }

  /** Kafka error code for an item about to be sequenced: 0, or OUT_OF_ORDER_SEQUENCE_NUMBER behind a gap. */
  check(item: Item): number {
    if (item.batch.producerId < 0 || this.#gaps.size === 0) return Errors.NONE
    const key = keyOf(item)
    const gap = this.#gaps.get(key)
    if (gap === undefined) return Errors.NONE
    if (gap.epoch === item.batch.producerEpoch && gap.baseSequence !== item.batch.baseSequence) return Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    this.#gaps.delete(key)
    return Errors.NONE
  }
}

const keyOf = (item: Item): string => `${item.topic}:${item.partition}:${item.batch.producerId}`
