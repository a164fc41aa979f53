import type { Answer } from './port.ts'

const PRODUCE_KEY = 0

/** A request from the moment its frame is whole until its response is on the way. */
export interface Request {
  readonly frame: Buffer
  readonly sizeBytes: number
  outcome: Answer | null | 'close' | 'pending'
}

/** The API key is the first field of every request header. */
function isProduce(frame: Buffer): boolean {
  return frame.length >= 2 && frame.readInt16BE(0) === PRODUCE_KEY
}

/**
 * The requests of one connection in the order of arrival: first those that run, then those that wait. Consecutive Produce
 * requests run side by side, any other runs alone (L12); answers are taken in order.
 */
export class RequestQueue {
  readonly #requests: Request[] = []
  readonly #onRunning: (deltaBytes: number) => void
  #running = 0
  #produceRuns = false
  #sizeBytes = 0

  /** `onRunning` hears how many bytes of requests start or stop running. */
  constructor(onRunning: (deltaBytes: number) => void) {
    this.#onRunning = onRunning
  }

  get length(): number {
    return this.#requests.length
  }

  get running(): number {
    return this.#running
  }

  /** Of all requests that are not answered. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  push(frame: Buffer): void {
    this.#requests.push({ frame, sizeBytes: frame.length, outcome: 'pending' })
    this.#sizeBytes += frame.length
  }

  /** True when a request waits that may start now. */
  get startable(): boolean {
    if (this.#running === this.#requests.length) return false
    return this.#running === 0 || (this.#produceRuns && isProduce(this.#requests[this.#running].frame))
  }

  /** True when the next request is Produce: its answer is small, and it must not wait for readers. Only when `startable`. */
  get startsProduce(): boolean {
    return isProduce(this.#requests[this.#running].frame)
  }

  /** The next request, which runs from now on. Only when `startable`. */
  start(): Request {
    const request = this.#requests[this.#running++]
    this.#produceRuns = isProduce(request.frame)
    this.#onRunning(request.sizeBytes)
    return request
  }

  /** The oldest request when it is settled; it leaves the queue. */
  takeSettled(): Request | null {
    if (this.#running === 0 || this.#requests[0].outcome === 'pending') return null
    const request = this.#requests.shift()!
    this.#running--
    this.#sizeBytes -= request.sizeBytes
    this.#onRunning(-request.sizeBytes)
    return request
  }

  /** Forgets requests that wait, from the first that is not Produce on (those before are still applied), or all of them. */
  dropWaiting(keepProduce: boolean): void {
    let from = this.#running
    if (keepProduce) while (from < this.#requests.length && isProduce(this.#requests[from].frame)) from++
    for (const request of this.#requests.splice(from)) this.#sizeBytes -= request.sizeBytes
  }

  /** Forgets everything; what runs is no longer of interest. */
  dropAll(): void {
    this.dropWaiting(false)
    for (const request of this.#requests.splice(0)) {
      this.#sizeBytes -= request.sizeBytes
      this.#onRunning(-request.sizeBytes)
    }
    this.#running = 0
  }
}
