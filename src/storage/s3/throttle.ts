import type { Clock } from '../../base/clock.ts'

/** How long a store that asked for fewer requests is believed before it may halve them again. */
const HALVE_EVERY_MS = 500

/**
 * How many requests may run at once: halved when the store asks for fewer (503 SlowDown), raised by one for each round of
 * answers without it. Who does not get a turn waits in order, and so do those behind it: that is the back-pressure.
 */
export class Throttle {
  readonly #max: number
  readonly #clock: Clock
  readonly #waiting: (() => void)[] = []
  #limit: number
  #running = 0
  #halvedMs = -Infinity

  constructor(max: number, clock: Clock) {
    this.#max = max
    this.#limit = max
    this.#clock = clock
  }

  get limit(): number {
    return Math.floor(this.#limit)
  }

  /** Resolves when it is this request's turn; `leave` must follow. */
  enter(): Promise<void> | null {
    if (this.#running < this.limit && this.#waiting.length === 0) {
      this.#running++
      return null
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  leave(): void {
    this.#running--
    while (this.#running < this.limit && this.#waiting.length > 0) {
      this.#running++
      this.#waiting.shift()!()
    }
  }

  answered(): void {
    if (this.#limit < this.#max) this.#limit = Math.min(this.#max, this.#limit + 1 / this.#limit)
  }

  slowDown(): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#halvedMs < HALVE_EVERY_MS) return
    this.#halvedMs = nowMs
    this.#limit = Math.max(1, this.#limit / 2)
  }
}
