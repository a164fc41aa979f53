import { seededRandom, type Random } from '../../../src/base/random.ts'
import { EventQueue } from './queue.ts'
import { Trace } from './trace.ts'

/** 2027-01-01: nothing may depend on the real date. */
export const START_WALL_MS = 1_798_761_600_000

/** Turns of the simulation after which the real event loop gets one, so that the garbage of promises can go. */
const TURNS_AT_ONCE = 20_000

export interface Event {
  cancelled: boolean
}

/**
 * The one source of time, chance and order. Everything that happens is an event at a time; events of one time run in the
 * order in which they were made. Between two events all promises that can settle do: `process.nextTick` runs only when
 * no microtask is left.
 */
export class World {
  readonly trace: Trace
  readonly seed: number
  /** Milliseconds since the start of the run, fractional. */
  nowMs = 0
  turns = 0
  readonly #random: Random
  readonly #queue = new EventQueue()
  #failure: unknown = null

  constructor(seed: number, options: { readonly keepTrace?: boolean } = {}) {
    this.seed = seed
    this.#random = seededRandom(Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995)
    this.trace = new Trace(options.keepTrace ?? false)
  }

  random(): number {
    return this.#random()
  }

  /** An integer in [0, below). */
  below(below: number): number {
    return Math.floor(this.#random() * below)
  }

  chance(probability: number): boolean {
    return this.#random() < probability
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)]
  }

  /** Mostly short waits, now and then a long one: where races live. */
  delay(typicalMs: number, tail = 8): number {
    const draw = this.#random()
    return draw < 0.9 ? typicalMs * (0.2 + draw) : typicalMs * (1 + (draw - 0.9) * 10 * tail)
  }

  bytes(count: number): Uint8Array {
    const bytes = new Uint8Array(count)
    for (let i = 0; i < count; i++) bytes[i] = this.#random() * 256
    return bytes
  }

  uuid(): string {
    const hex = Buffer.from(this.bytes(16)).toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
  }

  note(line: string): void {
    this.trace.note(this.nowMs, line)
  }

  /** Runs `fn` after `delayMs`. */
  after(delayMs: number, fn: () => void): Event {
    const event = { cancelled: false }
    this.#queue.push(this.nowMs + Math.max(0, delayMs), event, fn)
    return event
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.after(delayMs, resolve))
  }

  /** An error of the simulation itself, or one that no part caught: ends the run. */
  fail(error: unknown): void {
    this.#failure ??= error
  }

  /** Runs until `done` resolves. Errors: what `done` rejects with; when nothing is left to happen, or time is over. */
  async run<T>(done: Promise<T>, untilMs: number): Promise<T> {
    let settled = false
    const ended = done.finally(() => (settled = true))
    ended.catch(() => undefined)
    const uncaught = (error: unknown): void => this.fail(error)
    process.on('unhandledRejection', uncaught)
    try {
      await new Promise<void>((resolve, reject) => {
        const afterPromises = (): void => process.nextTick(step)
        const step = (): void => {
          if (this.#failure !== null) return reject(this.#failure as Error)
          if (settled) return resolve()
          const next = this.#queue.pop()
          if (next === null) return reject(new Error('nothing is left to happen, and the run is not over'))
          if (next.atMs > untilMs) return reject(new Error(`the run is not over after ${Math.round(untilMs / 1000)} s: something hangs`))
          this.nowMs = next.atMs
          this.turns++
          try {
            next.fn()
          } catch (error) {
            this.fail(error)
          }
          if (this.turns % TURNS_AT_ONCE === 0) setImmediate(step)
          // from a microtask: a tick made in a tick would run before the promises
          else queueMicrotask(afterPromises)
        }
        process.nextTick(step)
      })
    } finally {
      process.off('unhandledRejection', uncaught)
    }
    return ended
  }
}
