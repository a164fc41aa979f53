import type { Clock } from './clock.ts'

/** Looks at the clock once in so many steps. */
const STEPS = 16
const SLICE_MS = 1
/** `restMs` of work in the background. */
export const BACKGROUND_REST_MS = 3

/**
 * Cuts long work on the event loop into slices, so that requests wait for a millisecond or two. Call `step` often;
 * where it answers a promise, await it: everything else that is ready runs first. Work that nobody waits for rests for
 * `restMs` between slices: requests that come one after the other would otherwise each meet a slice of it.
 */
export class TimeSlice {
  readonly #clock: Clock
  readonly #restMs: number
  #steps = 0
  #sinceMs: number

  constructor(clock: Clock, restMs = 0) {
    this.#clock = clock
    this.#restMs = restMs
    this.#sinceMs = clock.monotonicMs()
  }

  /** Null while the slice lasts. */
  step(): Promise<void> | null {
    if (++this.#steps < STEPS) return null
    this.#steps = 0
    return this.#clock.monotonicMs() - this.#sinceMs < SLICE_MS ? null : this.#next()
  }

  async #next(): Promise<void> {
    await this.#clock.sleep(this.#restMs)
    this.#sinceMs = this.#clock.monotonicMs()
  }
}
