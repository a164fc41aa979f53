import { LRUCache } from 'lru-cache'
import { Errors } from '../../protocol/errors.ts'
import type { Item } from './buffer.ts'

/**
 * Keeps the order of an idempotent producer's batches when one of them was refused or lost before the sequencer saw it
 * (protocol 2.3: a failed batch must leave no gap). The sequencer accepts any sequence from a producer it does not know,
 * so the batches behind the failed one must be refused here, until the failed one comes again or the epoch changes. Batches
 * of a producer that it knows it judges better, as the failed one may have been a repetition, or have come in by another pod;
 * only those that were here when it failed are refused, so that acknowledgements leave no gap either: five batches on, the
 * sequencer would not know the failed one again.
 */
export class SequenceGaps {
  readonly #max: number
  readonly #isKnown: (item: Item) => boolean
  /** Made with the first gap: it takes its memory at once. */
  #gaps: LRUCache<string, Gap> | null = null

  /** `isKnown`: the sequencer knows the item's producer. */
  constructor(options: { readonly max: number; readonly isKnown: (item: Item) => boolean }) {
    this.#max = options.max
    this.#isKnown = options.isKnown
  }

  /** The item was not sequenced and will not be; `arrivals` counts the items that have come so far. */
  lost(item: Item, arrivals: number): void {
    const { producerId, producerEpoch, baseSequence } = item.batch
    if (producerId < 0) return
    const key = keyOf(item)
    const gaps = (this.#gaps ??= new LRUCache({ max: this.#max }))
    const known = gaps.get(key)
    const isLowest = known === undefined || known.epoch !== producerEpoch || isAbove(known.baseSequence, baseSequence)
    gaps.set(key, { epoch: producerEpoch, baseSequence: isLowest ? baseSequence : known.baseSequence, arrivals })
  }

  /** Kafka error code for an item about to be sequenced: 0, or OUT_OF_ORDER_SEQUENCE_NUMBER behind a gap. */
  check(item: Item): number {
    if (item.batch.producerId < 0 || this.#gaps === null || this.#gaps.size === 0) return Errors.NONE
    const key = keyOf(item)
    const gap = this.#gaps.get(key)
    if (gap === undefined) return Errors.NONE
    const { producerEpoch, baseSequence } = item.batch
    if (gap.epoch === producerEpoch && (item.arrival <= gap.arrivals || !this.#isKnown(item))) {
      if (isAbove(baseSequence, gap.baseSequence)) return Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
      if (baseSequence !== gap.baseSequence) return Errors.NONE
    }
    this.#gaps.delete(key)
    return Errors.NONE
  }
}

interface Gap {
  readonly epoch: number
  readonly baseSequence: number
  readonly arrivals: number
}

/** Sequences begin at 0 again after 2^31 - 1. */
const isAbove = (sequence: number, other: number): boolean => sequence !== other && ((sequence - other) & 0x7fffffff) < 0x40000000

const keyOf = (item: Item): string => `${item.topic}:${item.partition}:${item.batch.producerId}`
