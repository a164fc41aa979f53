import type { Clock, Timer } from '../base/clock.ts'

/** How often the end of a shared log is looked at (L23): after news, when there was none for long, while a peer streams entries. */
export interface PollPolicy {
  readonly activeMs: number
  readonly idleMs: number
  readonly streamMs: number
}

export const DEFAULT_POLL_POLICY: PollPolicy = { activeMs: 100, idleMs: 5000, streamMs: 30_000 }

/** Looks at the end of the log again and again, ever more rarely while nothing happens; one look at a time. */
export class TailPoller {
  readonly #clock: Clock
  readonly #policy: PollPolicy
  readonly #look: () => Promise<boolean>
  #waitMs: number
  #streaming = false
  #lastLookMs = 0
  #timer: Timer | null = null
  #looking = false
  #again = false
  #closed = false

  /** `look` tells whether there was something new; it does not reject. */
  constructor(clock: Clock, policy: PollPolicy, look: () => Promise<boolean>) {
    this.#clock = clock
    this.#policy = policy
    this.#look = look
    this.#waitMs = policy.activeMs
  }

  start(): void {
    this.seen()
    this.#arm(this.#waitMs)
  }

  /** The end was seen by other means: the next look can wait. */
  seen(): void {
    this.#lastLookMs = this.#clock.monotonicMs()
  }

  wake(): void {
    if (this.#closed) return
    if (this.#looking) this.#again = true
    else void this.#now()
  }

  streaming(healthy: boolean): void {
    if (healthy === this.#streaming) return
    this.#streaming = healthy
    this.#waitMs = healthy ? this.#policy.streamMs : this.#policy.activeMs
    this.wake()
  }

  close(): void {
    this.#closed = true
    this.#timer?.cancel()
  }

  async #now(): Promise<void> {
    this.#timer?.cancel()
    this.#looking = true
    do {
      this.#again = false
      const news = await this.#look()
      const { activeMs, idleMs, streamMs } = this.#policy
      const maxMs = this.#streaming ? streamMs : idleMs
      this.#waitMs = news && !this.#streaming ? activeMs : Math.min(this.#waitMs * 1.5, maxMs)
    } while (this.#again && !this.#closed)
    this.#looking = false
    this.seen()
    if (!this.#closed) this.#arm(this.#waitMs)
  }

  #arm(waitMs: number): void {
    this.#timer = this.#clock.timer(waitMs, () => {
      const leftMs = this.#lastLookMs + this.#waitMs - this.#clock.monotonicMs()
      if (leftMs > 1) this.#arm(leftMs)
      else void this.#now()
    })
  }
}
