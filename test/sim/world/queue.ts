interface Item {
  readonly atMs: number
  readonly order: number
  readonly event: { cancelled: boolean }
  readonly fn: () => void
}

/** Events by time, those of one time in the order in which they came: a binary heap. */
export class EventQueue {
  readonly #heap: Item[] = []
  #orders = 0

  push(atMs: number, event: { cancelled: boolean }, fn: () => void): void {
    const heap = this.#heap
    const item = { atMs, order: this.#orders++, event, fn }
    let at = heap.push(item) - 1
    while (at > 0) {
      const up = (at - 1) >> 1
      if (!before(item, heap[up])) break
      heap[at] = heap[up]
      at = up
    }
    heap[at] = item
  }

  /** The next event that was not cancelled, or null. */
  pop(): Item | null {
    const heap = this.#heap
    while (heap.length > 0) {
      const first = heap[0]
      const last = heap.pop()!
      if (heap.length > 0) this.#sink(last)
      if (!first.event.cancelled) return first
    }
    return null
  }

  #sink(item: Item): void {
    const heap = this.#heap
    let at = 0
    for (;;) {
      let down = at * 2 + 1
      if (down >= heap.length) break
      if (down + 1 < heap.length && before(heap[down + 1], heap[down])) down++
      if (!before(heap[down], item)) break
      heap[at] = heap[down]
      at = down
    }
    heap[at] = item
  }
}

function before(a: Item, b: Item): boolean {
  return a.atMs !== b.atMs ? a.atMs < b.atMs : a.order < b.order
}
