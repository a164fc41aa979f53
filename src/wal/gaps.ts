import { LRUCache } from 'lru-cache'
import { Errors } from '../../protocol/errors.ts'
import type { Item } from './buffer.ts'

/**
 * Keeps the order of an idempotent producer's batches when one of them was refused or lost before the sequencer saw it
 * (protocol 2.3: a failed batch must leave no gap). The sequencer accepts any sequence from a producer it does not know,
 * so the batches behind the failed one must be refused here, until the failed one comes again or the epoch changes.
 *
 * A producer that it knows it judges better, as the failed one may have been a repetition, or have come in by another pod.
 * What is behind must not pass even so while the producer is about to send the failed one again: five batches on, the sequencer
 * would not know it again, and refuse it for good. Producers repeat what they have open in order; so when something behind
 * comes that is not above what was refused last, the failed one was answered elsewhere or given up, and nothing is held up
 * any more. Until then the answer is an error after which any producer tries again, for its batch may be the next in line.
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

  /** The item was not sequenced and will not be. */
  lost(item: Item): void {
    const { producerId, producerEpoch, baseSequence } = item.batch
    if (producerId < 0) return
    const key = keyOf(item)
    const gaps = (this.#gaps ??= new LRUCache({ max: this.#max }))
    const known = gaps.get(key)
    if (known !== undefined && known.epoch === producerEpoch && isAbove(baseSequence, known.baseSequence)) return
    gaps.set(key, { epoch: producerEpoch, baseSequence, lastRefused: null })
  }

  /** Kafka error code for an item about to be sequenced: 0, or what to answer behind a gap. */
  check(item: Item): number {
    if (item.batch.producerId < 0 || this.#gaps === null || this.#gaps.size === 0) return Errors.NONE
    const key = keyOf(item)
    const gap = this.#gaps.get(key)
    if (gap === undefined) return Errors.NONE
    const { producerEpoch, baseSequence } = item.batch
    if (gap.epoch === producerEpoch && baseSequence !== gap.baseSequence) {
      if (!isAbove(baseSequence, gap.baseSequence)) return Errors.NONE
      if (!this.#isKnown(item)) return Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
      if (gap.lastRefused === null || isAbove(baseSequence, gap.lastRefused)) {
        gap.lastRefused = baseSequence
        return Errors.KAFKA_STORAGE_ERROR
      }
    }
    this.#gaps.delete(key)
    return Errors.NONE
  }
}

/** What is missing of one producer in one partition. */
interface Gap {
  readonly epoch: number
  readonly baseSequence: number
  /** The base sequence of the batch behind it that was refused last, of a producer that the sequencer knows. */
  lastRefused: number | null
}

/** Sequences begin at 0 again after 2^31 - 1. */
const isAbove = (sequence: number, other: number): boolean => sequence !== other && ((sequence - other) & 0x7fffffff) < 0x40000000

const keyOf = (item: Item): string => `${item.topic}:${item.partition}:${item.batch.producerId}`
