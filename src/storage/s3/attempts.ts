import type { Clock } from '../../base/clock.ts'
import { FrazilError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Random } from '../../base/random.ts'
import type { RequestCounter, RequestKind } from '../metrics.ts'
import type { Reason } from '../store.ts'
import { classify, storeError, type S3Failure } from './failures.ts'
import type { Throttle } from './throttle.ts'

export interface AttemptsOptions {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly metrics: RequestCounter | undefined
  readonly throttle: Throttle
  /** How often a request is sent at most, and how long after the first it may still be sent again. */
  readonly tries: number
  readonly retryForMs: number
  /** Time limit of one attempt, without what its bytes take. */
  readonly attemptMs: number
}

/** One request to the store. */
export interface Call<T> {
  readonly kind: RequestKind
  readonly reason: Reason | undefined
  /** Begins the sentence of a failure: `cannot write k`. */
  readonly what: string
  /** Bytes that travel with it, which lengthen its time limit. */
  readonly sizeBytes?: number
  /** True when a lost answer leaves a doubt (STORE_UNKNOWN). */
  readonly write?: boolean
  readonly tries?: number
  readonly send: (signal: AbortSignal) => Promise<T>
  /** A failure that is an answer (a condition that does not hold). `doubt`: an earlier attempt may have taken effect. */
  readonly answer?: (failure: S3Failure, doubt: boolean) => { readonly value: T } | null | Promise<{ readonly value: T } | null>
  /** Looks whether an attempt of unknown outcome took effect; null: not seen. May throw STORE_UNKNOWN. */
  readonly readBack?: () => Promise<{ readonly value: T } | null>
}

const BACKOFF_MS = 40
const BACKOFF_MAX_MS = 3000
/** The slowest transfer that is no failure. */
const BYTES_PER_MS = 512

/** Sends requests: each attempt counted, limited in time and in number; repeated with jitter where that can help. */
export class Attempts {
  readonly #options: AttemptsOptions

  constructor(options: AttemptsOptions) {
    this.#options = options
  }

  /** Errors: STORE_NOT_FOUND, STORE_UNAVAILABLE, STORE_UNKNOWN, STORE_FULL. */
  async run<T>(call: Call<T>): Promise<T> {
    const { clock, logger, metrics, tries, retryForMs } = this.#options
    const beganMs = clock.monotonicMs()
    let doubt = false
    for (let attempt = 1; ; attempt++) {
      const { failure, value } = await this.#once(call)
      if (failure === null) return value as T
      const answer = await call.answer?.(failure, doubt)
      if (answer !== null && answer !== undefined) return answer.value
      if (failure.effect === 'unknown' && call.write === true) doubt = true
      const again = failure.retry && attempt < (call.tries ?? tries) && clock.monotonicMs() - beganMs < retryForMs
      if (again) {
        metrics?.retry?.(call.kind, failure.throttle ? 'throttled' : failure.effect === 'unknown' ? 'no answer' : 'failed')
        logger.debug({ attempt, why: failure.sentence }, `${call.what}: trying again`)
        await clock.sleep(this.#backoffMs(attempt))
      }
      if (doubt && call.readBack !== undefined) {
        const found = await call.readBack()
        if (found !== null) return found.value
      }
      if (!again) throw storeError(failure, call.what, doubt)
    }
  }

  async #once<T>(call: Call<T>): Promise<{ readonly failure: S3Failure | null; readonly value?: T }> {
    const { clock, metrics, throttle, attemptMs } = this.#options
    const turn = throttle.enter()
    if (turn !== null) await turn
    metrics?.count(call.kind, call.reason)
    const limit = new AbortController()
    const timer = clock.timer(attemptMs + (call.sizeBytes ?? 0) / BYTES_PER_MS, () => limit.abort())
    try {
      const value = await call.send(limit.signal)
      throttle.answered()
      return { failure: null, value }
    } catch (error) {
      if (error instanceof FrazilError) throw error
      const failure = classify(error)
      if (failure.throttle) throttle.slowDown()
      else if (failure.status > 0) throttle.answered()
      return { failure }
    } finally {
      timer.cancel()
      throttle.leave()
    }
  }

  /** Between half and the whole of a span that doubles. */
  #backoffMs(attempt: number): number {
    return Math.min(BACKOFF_MS * 2 ** (attempt - 1), BACKOFF_MAX_MS) * (0.5 + this.#options.random() / 2)
  }
}
