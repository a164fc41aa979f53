import type { Clock, Timer } from '../../../src/base/clock.ts'

/** A clock on which waiting takes no time: whenever nothing else is left to do, it jumps to the next timer. */
export class QuickClock implements Clock {
  #now = 0
  #count = 0
  #timers: { readonly at: number; readonly order: number; readonly fn: () => void }[] = []
  #scheduled = false

  wallMs(): number {
    return Math.floor(this.#now)
  }

  monotonicMs(): number {
    return this.#now
  }

  timer(delayMs: number, fn: () => void): Timer {
    const timer = { at: this.#now + delayMs, order: this.#count++, fn }
    this.#timers.push(timer)
    this.#timers.sort((a, b) => a.at - b.at || a.order - b.order)
    this.#schedule()
    return { cancel: () => void (this.#timers = this.#timers.filter((other) => other !== timer)) }
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const timer = this.timer(delayMs, resolve)
      signal?.addEventListener('abort', () => {
        timer.cancel()
        resolve()
      })
    })
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      const next = this.#timers.shift()
      if (next === undefined) return
      this.#now = Math.max(this.#now, next.at)
      next.fn()
      if (this.#timers.length > 0) this.#schedule()
    })
  }
}
