import type { Clock } from '../base/clock.ts'

export interface LoopOptions {
  readonly clock: Clock
  /** From the end of one pass to the start of the next. */
  readonly everyMs: number
  readonly pass: () => Promise<unknown>
  /** False: this round is left out. */
  readonly turn?: () => boolean
  readonly failed: (error: unknown) => void
}

/** Runs `pass` again and again with a pause between the end of one and the start of the next; a failure is reported, not fatal. */
export class Loop {
  readonly #options: LoopOptions
  readonly #stop = new AbortController()
  #running: Promise<void> | null = null

  constructor(options: LoopOptions) {
    this.#options = options
  }

  get closed(): boolean {
    return this.#stop.signal.aborted
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Ends the pause, or waits for the pass that runs. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.closed) {
      await this.#options.clock.sleep(this.#options.everyMs, this.#stop.signal)
      if (this.closed) return
      if (this.#options.turn?.() === false) continue
      try {
        await this.#options.pass()
      } catch (error) {
        this.#options.failed(error)
      }
    }
  }
}
