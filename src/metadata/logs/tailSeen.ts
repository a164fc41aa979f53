import type { Clock } from '../../base/clock.ts'

/** An instant on both clocks: a process that is frozen with its machine may find only one of them moved. */
export interface Instant {
  readonly monotonicMs: number
  readonly wallMs: number
}

/**
 * When this process last knew for certain that the number behind the last entry had never been used (L4). Whatever lies
 * above was made later than that, and cannot have been truncated until the retention has passed.
 */
export class TailSeen {
  readonly #clock: Clock
  readonly #limitMs: number
  #seen: Instant | null = null

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock
    this.#limitMs = limitMs
  }

  now(): Instant {
    return { monotonicMs: this.#clock.monotonicMs(), wallMs: this.#clock.wallMs() }
  }

  /** Takes note of a look at the end: `instant` is when the request for it was sent, not when it was answered. */
  at(instant: Instant): void {
    if (this.#seen === null || instant.monotonicMs > this.#seen.monotonicMs) this.#seen = instant
  }

  /** True when the floor has to be read again before anything found or made at the end is believed. */
  stale(): boolean {
    if (this.#seen === null) return true
    const { monotonicMs, wallMs } = this.now()
    return monotonicMs - this.#seen.monotonicMs > this.#limitMs || wallMs - this.#seen.wallMs > this.#limitMs
  }
}
