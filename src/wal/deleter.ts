import { Counter, type Registry } from 'prom-client'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Metadata } from '../metadata/port.ts'
import type { Deletion } from '../metadata/view.ts'
import type { ObjectStore } from '../storage/store.ts'
import { Loop } from './loop.ts'

export interface DeleterOptions {
  readonly store: ObjectStore
  readonly metadata: Metadata
  readonly clock: Clock
  readonly logger: Logger
  /** False while another pod does this work; always this one when left out. */
  readonly turn?: () => boolean
  readonly registry: Registry
  /** Pause between passes; 1000 when left out. */
  readonly everyMs?: number
  /** Keys in one request; 500 when left out. */
  readonly batch?: number
}

/** How many failed keys a log line names (hazard E13). */
const NAMED_KEYS = 5

/**
 * Carries out the deletion queue of the state (L13): the only place that deletes objects, WAL and table files alike. What
 * was deleted leaves the queue by one entry a batch; what could not be deleted stays and is tried again in the next
 * pass, so that the set shrinks whatever fails (hazard E6). Deleting twice is no error, so a lost entry costs nothing.
 */
export class Deleter {
  readonly #options: DeleterOptions
  readonly #loop: Loop
  readonly #deleted: Counter
  readonly #failed: Counter

  constructor(options: DeleterOptions) {
    this.#options = options
    const registers = [options.registry]
    this.#deleted = new Counter({ name: 'frazil_deletions_total', help: 'Objects deleted', registers })
    this.#failed = new Counter({ name: 'frazil_deletion_failures_total', help: 'Deletions that failed and stay in the queue', registers })
    this.#loop = new Loop({
      clock: options.clock,
      everyMs: options.everyMs ?? 1000,
      pass: () => this.pass(),
      turn: options.turn,
      failed: (error) => options.logger.warn({ error }, 'a pass of the deletion queue failed'),
    })
  }

  start(): void {
    this.#loop.start()
  }

  /** Ends after the batch that runs. */
  close(): Promise<void> {
    return this.#loop.close()
  }

  /** One pass over everything that is due now; the number of deletions that left the queue. */
  async pass(): Promise<number> {
    const nowMs = this.#options.clock.wallMs()
    // What was queued before a hold began no copy of it refers to; this one may have been paused, and be late with it.
    if (this.#options.metadata.state.isHeld(nowMs)) return 0
    const due: Deletion[] = []
    for (const deletion of this.#options.metadata.state.deletions()) if (deletion.dueMs <= nowMs) due.push(deletion)
    const size = this.#options.batch ?? 500
    let done = 0
    const goesOn = (): boolean => !this.#loop.closed && !this.#options.metadata.state.isHeld(nowMs)
    for (let at = 0; at < due.length && goesOn(); at += size) done += await this.#batch(due.slice(at, at + size))
    return done
  }

  async #batch(deletions: readonly Deletion[]): Promise<number> {
    const failures: { readonly key: string; readonly error: Error }[] = []
    const plain = deletions.filter((deletion) => !deletion.key.endsWith('/'))
    if (plain.length > 0) {
      const keys = plain.map((deletion) => deletion.key)
      failures.push(...(await this.#options.store.delete(keys, { reason: 'maintain' })))
    }
    for (const deletion of deletions) if (deletion.key.endsWith('/')) failures.push(...(await this.#below(deletion.key)))
    const failed = new Set(failures.map((failure) => failure.key))
    const ids = deletions.filter((deletion) => !failed.has(deletion.key)).map((deletion) => deletion.id)
    if (failures.length > 0) this.#report(failures)
    if (ids.length === 0) return 0
    await this.#options.metadata.propose({ kind: 'deleted', ids })
    this.#deleted.inc(ids.length)
    return ids.length
  }

  /** Deletes every key below a prefix; names the prefix as failed while one is left. */
  async #below(prefix: string): Promise<readonly { readonly key: string; readonly error: Error }[]> {
    let keys: string[] = []
    let failure: Error | null = null
    const flush = async (): Promise<void> => {
      const failures = await this.#options.store.delete(keys, { reason: 'maintain' })
      failure ??= failures[0]?.error ?? null
      keys = []
    }
    for await (const { key } of this.#options.store.list(prefix, { reason: 'maintain' })) {
      keys.push(key)
      if (keys.length >= (this.#options.batch ?? 500)) await flush()
    }
    if (keys.length > 0) await flush()
    return failure === null ? [] : [{ key: prefix, error: failure }]
  }

  #report(failures: readonly { readonly key: string; readonly error: Error }[]): void {
    this.#failed.inc(failures.length)
    const keys = failures.slice(0, NAMED_KEYS).map((failure) => failure.key.slice(0, 500))
    const reason = failures[0].error.message.slice(0, 500)
    this.#options.logger.warn({ failures: failures.length, keys, reason }, 'some objects could not be deleted and stay in the queue')
  }
}
