import type { AbortedTransaction } from '../view.ts'

/** Numbers of one row: producer id, first offset, offset of the marker, last stable offset once the marker was there. */
const STRIDE = 4

/**
 * Aborted transactions of each partition whose marker is still in the WAL (L17), in order of their markers: flat lists of
 * numbers by partition slot, as Kafka's transaction index has them (K: TransactionIndex).
 */
export class AbortedTransactions {
  readonly #bySlot = new Map<number, number[]>()

  add(slot: number, producerId: number, firstOffset: number, lastOffset: number, lastStableOffset: number): void {
    const rows = this.#bySlot.get(slot)
    if (rows === undefined) this.#bySlot.set(slot, [producerId, firstOffset, lastOffset, lastStableOffset])
    else rows.push(producerId, firstOffset, lastOffset, lastStableOffset)
  }

  /** Those with a marker at or above `fromOffset` that began below `upTo`. Costs what it finds, and few more. */
  between(slot: number, fromOffset: number, upTo: number): AbortedTransaction[] {
    const found: AbortedTransaction[] = []
    const rows = this.#bySlot.get(slot)
    if (rows === undefined) return found
    for (let at = this.#firstAt(rows, fromOffset); at < rows.length; at += STRIDE) {
      if (rows[at + 1] < upTo) found.push({ producerId: rows[at], firstOffset: rows[at + 1], lastOffset: rows[at + 2] })
      // whatever ends later began at or above this
      if (rows[at + 3] >= upTo) break
    }
    return found
  }

  /** Forgets those whose marker is below `offset`. */
  dropBelow(slot: number, offset: number): void {
    const rows = this.#bySlot.get(slot)
    if (rows === undefined) return
    const count = this.#firstAt(rows, offset)
    if (count === rows.length) this.#bySlot.delete(slot)
    else if (count > 0) rows.splice(0, count)
  }

  /** The rows of a partition, one behind the other: see STRIDE. */
  rows(slot: number): readonly number[] {
    return this.#bySlot.get(slot) ?? []
  }

  /** Slots of partitions that have any. */
  slots(): Iterable<number> {
    return this.#bySlot.keys()
  }

  removePartition(slot: number): void {
    this.#bySlot.delete(slot)
  }

  /** Index of the first row whose marker is at or above `offset`. */
  #firstAt(rows: readonly number[], offset: number): number {
    let low = 0
    let high = rows.length / STRIDE
    while (low < high) {
      const middle = (low + high) >>> 1
      if (rows[middle * STRIDE + 2] < offset) low = middle + 1
      else high = middle
    }
    return low * STRIDE
  }
}
