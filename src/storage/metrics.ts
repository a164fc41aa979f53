import { Counter, type Registry } from 'prom-client'
import type { Reason } from './store.ts'

export type RequestKind = 'put' | 'get' | 'head' | 'list' | 'delete' | 'copy'

/** `frazil_store_requests_total{kind,reason}`: what the same requests would cost on an object store. */
export class StoreMetrics {
  readonly #requests: Counter<'kind' | 'reason'>

  constructor(registry: Registry) {
    this.#requests = new Counter({
      name: 'frazil_store_requests_total',
      help: 'Requests to the store, by kind and by what they were made for',
      labelNames: ['kind', 'reason'],
      registers: [registry],
    })
  }

  count(kind: RequestKind, reason: Reason | undefined): void {
    this.#requests.inc({ kind, reason: reason ?? 'other' })
  }
}
