import type { Metadata } from '../metadata/port.ts'

/** A parked fetch: called with the positions (in its own list) of partitions that were appended to. */
export interface Waiter {
  readonly partitions: readonly { readonly topic: number; readonly partition: number }[]
  readonly woken: (positions: readonly number[]) => void
}

interface Parked {
  readonly waiter: Waiter
  dirty: number[]
}

/**
 * Wakes parked fetches when entries append to their partitions, whoever's entries they are (hazards B14, B15). Fetches
 * are woken once a turn of the event loop, after the WAL has put the commit into its cache.
 */
export class Waiters {
  readonly #byPartition = new Map<number, Map<Parked, number>>()
  readonly #dirty = new Set<Parked>()
  readonly #defer: (fn: () => void) => void
  readonly #unsubscribe: () => void
  #scheduled = false

  constructor(options: { readonly metadata: Metadata; readonly defer: (fn: () => void) => void }) {
    this.#defer = options.defer
    this.#unsubscribe = options.metadata.onApplied(({ appended }) => this.#applied(appended))
  }

  /** Parks; the answer takes it away again. */
  park(waiter: Waiter): () => void {
    const parked: Parked = { waiter, dirty: [] }
    waiter.partitions.forEach(({ topic, partition }, position) => {
      const key = keyOf(topic, partition)
      let waiting = this.#byPartition.get(key)
      if (waiting === undefined) this.#byPartition.set(key, (waiting = new Map()))
      waiting.set(parked, position)
    })
    return () => {
      this.#dirty.delete(parked)
      for (const { topic, partition } of waiter.partitions) {
        const waiting = this.#byPartition.get(keyOf(topic, partition))
        waiting?.delete(parked)
        if (waiting?.size === 0) this.#byPartition.delete(keyOf(topic, partition))
      }
    }
  }

  close(): void {
    this.#unsubscribe()
  }

  #applied(appended: readonly number[]): void {
    if (this.#byPartition.size === 0) return
    for (let i = 0; i < appended.length; i += 2) {
      const waiting = this.#byPartition.get(keyOf(appended[i], appended[i + 1]))
      if (waiting === undefined) continue
      for (const [parked, position] of waiting) {
        parked.dirty.push(position)
        this.#dirty.add(parked)
      }
    }
    if (this.#dirty.size === 0 || this.#scheduled) return
    this.#scheduled = true
    this.#defer(() => {
      this.#scheduled = false
      const dirty = [...this.#dirty]
      this.#dirty.clear()
      for (const parked of dirty) {
        const positions = parked.dirty
        parked.dirty = []
        parked.waiter.woken(positions)
      }
    })
  }
}

const keyOf = (topic: number, partition: number): number => topic * 0x100000 + partition
