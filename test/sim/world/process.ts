import type { Clock, Timer } from '../../../src/base/clock.ts'
import { START_WALL_MS, type World } from './world.ts'

/**
 * One process of a pod: everything that reaches it (timers, answers, requests) comes through `deliver`. Paused, it takes
 * nothing until it is resumed, and then all at once; killed, it never does anything again.
 */
export class Process {
  readonly world: World
  readonly name: string
  readonly clock: Clock
  alive = true
  #paused = false
  #inbox: (() => void)[] = []

  /** `skewMs`: what its wall clock is off by; `rate`: how fast its monotonic clock runs. */
  constructor(world: World, name: string, skewMs: number, rate: number) {
    this.world = world
    this.name = name
    this.clock = new ProcessClock(this, skewMs, rate)
  }

  get paused(): boolean {
    return this.#paused
  }

  deliver(fn: () => void): void {
    if (!this.alive) return
    if (this.#paused) this.#inbox.push(fn)
    else fn()
  }

  /** For `setImmediate` in the parts. */
  readonly defer = (fn: () => void): void => void this.world.after(0, () => this.deliver(fn))

  pause(): void {
    this.#paused = true
  }

  /** What waited comes in order, each in a turn of its own. */
  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    for (const fn of this.#inbox.splice(0)) this.world.after(0, () => this.deliver(fn))
  }

  kill(): void {
    this.alive = false
    this.#inbox = []
  }
}

class ProcessClock implements Clock {
  readonly #process: Process
  readonly #skewMs: number
  readonly #rate: number

  constructor(process: Process, skewMs: number, rate: number) {
    this.#process = process
    this.#skewMs = skewMs
    this.#rate = rate
  }

  wallMs(): number {
    return Math.floor(START_WALL_MS + this.#skewMs + this.#process.world.nowMs)
  }

  monotonicMs(): number {
    return 1000 + this.#process.world.nowMs * this.#rate
  }

  timer(delayMs: number, fn: () => void): Timer {
    const process = this.#process
    let cancelled = false
    const event = process.world.after(delayMs / this.#rate, () => process.deliver(() => void (cancelled || fn())))
    return {
      cancel: () => {
        cancelled = true
        event.cancelled = true
      },
    }
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = (): void => {
        timer.cancel()
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = this.timer(delayMs, done)
      signal?.addEventListener('abort', done)
    })
  }
}
