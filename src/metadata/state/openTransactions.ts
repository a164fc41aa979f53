/**
 * Transactions that have records on a partition and are not ended there, by partition slot: producer id to the offset where
 * it began. Entries of a partition ascend by that offset, because a transaction begins at the log's end; the first one is
 * the last stable offset (protocol: KIP-98).
 */
export class OpenTransactions {
  readonly #bySlot = new Map<number, Map<number, number>>()

  get isEmpty(): boolean {
    return this.#bySlot.size === 0
  }

  /** Slots of partitions with an open transaction. */
  slots(): Iterable<number> {
    return this.#bySlot.keys()
  }

  /** Where the oldest open transaction of a partition began, or -1. */
  first(slot: number): number {
    const open = this.#bySlot.get(slot)
    if (open === undefined) return -1
    for (const firstOffset of open.values()) return firstOffset
    return -1
  }

  /** Where this producer's open transaction began, or -1. */
  of(slot: number, producerId: number): number {
    return this.#bySlot.get(slot)?.get(producerId) ?? -1
  }

  /** [producer id, first offset], ascending by offset. */
  list(slot: number): Iterable<readonly [number, number]> {
    return this.#bySlot.get(slot) ?? []
  }

  /** An open transaction begins at exactly this offset. */
  beginsAt(slot: number, offset: number): boolean {
    for (const [, firstOffset] of this.list(slot)) if (firstOffset >= offset) return firstOffset === offset
    return false
  }

  begin(slot: number, producerId: number, firstOffset: number): void {
    const open = this.#bySlot.get(slot)
    if (open === undefined) this.#bySlot.set(slot, new Map([[producerId, firstOffset]]))
    else open.set(producerId, firstOffset)
  }

  /** The offset where it began, or -1 when there is none. */
  end(slot: number, producerId: number): number {
    const open = this.#bySlot.get(slot)
    const firstOffset = open?.get(producerId) ?? -1
    open?.delete(producerId)
    if (open?.size === 0) this.#bySlot.delete(slot)
    return firstOffset
  }

  removePartition(slot: number): void {
    this.#bySlot.delete(slot)
  }
}
