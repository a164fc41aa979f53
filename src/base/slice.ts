import type { Clock } from './clock.ts'

/** Looks at the clock once in so many steps. */
const STEPS = 16

/**
 * Cuts long work on the event loop into slices, so that requests wait for a millisecond or two. Call `step` often;
 * where it answers a promise, await it: everything else that is ready runs first.
 */
export class TimeSlice {
  readonly #clock: Clock
  readonly #budgetMs: number
  #steps = 0
  #sinceMs: number

  constructor(clock: Clock, budgetMs = 1) {
    this.#clock = clock
    this.#budgetMs = budgetMs
    this.#sinceMs = clock.monotonicMs()
  }

  /** Null while the slice lasts. */
  step(): Promise<void> | null {
    if (++this.#steps < STEPS) return null
    this.#steps = 0
    return this.#clock.monotonicMs() - this.#sinceMs < this.#budgetMs ? null : this.#next()
  }

  async #next(): Promise<void> {
    await this.#clock.sleep(0)
    this.#sinceMs = this.#clock.monotonicMs()
  }
}
