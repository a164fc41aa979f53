/** A connection that stopped reading because the memory of all connections is spent. */
export interface BudgetWaiter {
  /** Read on. */
  wake(): void
}

/** While requests that run hold less than this share of the budget, no relief is to be expected from them. */
const RUNNING_SHARE = 1 / 20

/**
 * The memory that requests of all connections may hold. Who finds it spent waits in line, first come first served. Half
 * requests could fill it and wait for each other: so when nothing of size runs, the first in line reads on alone, past
 * the bound, until its request is whole. The bound is exceeded by one request at most.
 */
export class MemoryBudget {
  readonly #limitBytes: number
  #usedBytes = 0
  #runningBytes = 0
  readonly #waiting = new Set<BudgetWaiter>()
  #favoured: BudgetWaiter | null = null

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** The connection that reads on past the bound, if any. */
  get favoured(): BudgetWaiter | null {
    return this.#favoured
  }

  /** Changes what requests hold; whoever is in line is served when it shrinks. */
  change(deltaBytes: number): void {
    this.#usedBytes += deltaBytes
    if (deltaBytes < 0) this.serve()
  }

  /** Changes what those requests hold that a handler is at work on. */
  changeRunning(deltaBytes: number): void {
    this.#runningBytes += deltaBytes
  }

  /** True when `waiter` must not read on; it is in line then, and woken in its turn. */
  mustWait(waiter: BudgetWaiter): boolean {
    if (this.#usedBytes < this.#limitBytes || this.#favoured === waiter) return false
    this.#waiting.add(waiter)
    this.serve()
    return this.#waiting.has(waiter)
  }

  /** The favoured connection's request is whole: the next may have the favour. */
  whole(waiter: BudgetWaiter): void {
    if (this.#favoured === waiter) this.#favoured = null
  }

  /** The connection is gone. */
  leave(waiter: BudgetWaiter): void {
    this.#waiting.delete(waiter)
    this.whole(waiter)
    this.serve()
  }

  serve(): void {
    for (const waiter of this.#waiting) {
      if (this.#usedBytes >= this.#limitBytes) {
        if (this.#favoured !== null || this.#runningBytes >= this.#limitBytes * RUNNING_SHARE) return
        this.#favoured = waiter
      }
      this.#waiting.delete(waiter)
      waiter.wake()
    }
  }
}
