import type { Clock } from '../base/clock.ts'
import type { StateView } from '../metadata/view.ts'

/** How stale the sum over all topics may be. */
const REFRESH_MS = 50
/** The delay just below the hard limit. */
const MAX_DELAY_MS = 1000
/** Above the hard limit an append waits until conversion catches up, this long at most (clients time out at 30 s). */
const MAX_HOLD_MS = 10_000
const HOLD_STEP_MS = 100

export interface ThrottleOptions {
  readonly state: StateView
  readonly clock: Clock
  /** Unconverted bytes at which producers begin to be slowed; at 1.25 × they are held. */
  readonly limitBytes: number
  /** Seconds that appends were delayed. */
  readonly observe: (seconds: number) => void
}

/**
 * Back-pressure when conversion cannot keep up: the delay of an append grows with the backlog over the limit. Appends
 * leave in the order in which they came, so that nothing overtakes inside a partition.
 */
export class Throttle {
  readonly #options: ThrottleOptions
  #backlogBytes = 0
  #measuredMs = -Infinity
  /** Appends that wait now, as one chain; null when none does. */
  #last: Promise<unknown> | null = null

  constructor(options: ThrottleOptions) {
    this.#options = options
  }

  /** Bytes over all topics that were not converted yet. */
  backlogBytes(): number {
    const { clock, state } = this.#options
    const nowMs = clock.monotonicMs()
    if (nowMs - this.#measuredMs >= REFRESH_MS) {
      this.#measuredMs = nowMs
      this.#backlogBytes = 0
      for (const topic of state.topics()) this.#backlogBytes += state.unconvertedBytes(topic.topic)
    }
    return this.#backlogBytes
  }

  /** Runs an append when its time has come, and tells how long it had to wait. `run` is called in the order of the calls. */
  async pass<T>(run: () => Promise<T>): Promise<{ readonly value: T; readonly throttleMs: number }> {
    if (this.#last === null && this.#delayMs() === 0) return { value: await run(), throttleMs: 0 }
    const startMs = this.#options.clock.monotonicMs()
    const started = Promise.all([this.#last, this.#wait()]).then(() => {
      if (this.#last === started) this.#last = null
      const waitedMs = this.#options.clock.monotonicMs() - startMs
      this.#options.observe(waitedMs / 1000)
      return { running: run(), throttleMs: Math.ceil(waitedMs) }
    })
    this.#last = started
    const { running, throttleMs } = await started
    return { value: await running, throttleMs }
  }

  #delayMs(): number {
    const { limitBytes } = this.#options
    const over = (this.backlogBytes() - limitBytes) / (limitBytes / 4)
    return over <= 0 ? 0 : Math.min(1, over) * MAX_DELAY_MS
  }

  async #wait(): Promise<void> {
    const { clock } = this.#options
    const startMs = clock.monotonicMs()
    await clock.sleep(this.#delayMs())
    while (this.#delayMs() >= MAX_DELAY_MS && clock.monotonicMs() - startMs < MAX_HOLD_MS) await clock.sleep(HOLD_STEP_MS)
  }
}
