import { Counter, type Registry } from 'prom-client'
import type { Reason } from './store.ts'

export type RequestKind = 'put' | 'get' | 'head' | 'list' | 'delete' | 'copy'

/** What a store tells of its requests. */
export interface RequestCounter {
  count(kind: RequestKind, reason: Reason | undefined): void
  /** A request is sent again; `cause` is `throttled`, `no answer` or `failed`. */
  retry?(kind: RequestKind, cause: string): void
}

/** Requests of one kind made for one reason. */
export interface RequestCount {
  readonly kind: RequestKind
  readonly reason: Reason | undefined
  readonly requests: number
}

/**
 * `frazil_store_requests_total{kind,reason}`: what was asked of the store, repeated requests too; on a folder, what the same
 * would cost on an object store. `frazil_store_retries_total{kind,cause}`: the repeated ones.
 */
export class StoreMetrics implements RequestCounter {
  readonly #requests: Counter<'kind' | 'reason'>
  readonly #retries: Counter<'kind' | 'cause'>

  constructor(registry: Registry) {
    this.#requests = new Counter({
      name: 'frazil_store_requests_total',
      help: 'Requests to the store, by kind and by what they were made for',
      labelNames: ['kind', 'reason'],
      registers: [registry],
    })
    this.#retries = new Counter({
      name: 'frazil_store_retries_total',
      help: 'Requests to the store that were sent again, by kind and cause',
      labelNames: ['kind', 'cause'],
      registers: [registry],
    })
  }

  count(kind: RequestKind, reason: Reason | undefined, requests = 1): void {
    this.#requests.inc({ kind, reason: reason ?? 'other' }, requests)
  }

  retry(kind: RequestKind, cause: string): void {
    this.#retries.inc({ kind, cause })
  }
}

/** Requests of a store in a worker thread, kept until they are taken to the thread that has the metrics. */
export class RequestTally implements RequestCounter {
  #counts = new Map<string, RequestCount>()

  count(kind: RequestKind, reason: Reason | undefined): void {
    const key = `${kind} ${reason}`
    this.#counts.set(key, { kind, reason, requests: (this.#counts.get(key)?.requests ?? 0) + 1 })
  }

  /** What was counted since the last call. */
  take(): readonly RequestCount[] {
    const counts = [...this.#counts.values()]
    this.#counts.clear()
    return counts
  }
}
