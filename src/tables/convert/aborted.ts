import type { EncodePart } from './tasks.ts'

type Aborted = EncodePart['aborted']

/** Tells which batches belong to aborted transactions. Those of one producer are disjoint, and in order of their markers. */
export class AbortedBatches {
  readonly #byProducer = new Map<number, { readonly firstOffset: number; readonly lastOffset: number }[]>()

  constructor(aborted: Aborted) {
    for (const { producerId, firstOffset, lastOffset } of aborted) {
      const ranges = this.#byProducer.get(producerId)
      if (ranges === undefined) this.#byProducer.set(producerId, [{ firstOffset, lastOffset }])
      else ranges.push({ firstOffset, lastOffset })
    }
  }

  has(producerId: number, offset: number): boolean {
    const ranges = this.#byProducer.get(producerId)
    if (ranges === undefined) return false
    let low = 0
    let high = ranges.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (ranges[middle].lastOffset < offset) low = middle + 1
      else high = middle
    }
    return low < ranges.length && ranges[low].firstOffset <= offset
  }
}
