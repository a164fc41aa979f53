import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Metadata } from '../metadata/port.ts'
import { shardOf } from '../metadata/state/shards.ts'
import type { TransactionView } from '../metadata/view.ts'
import { Loop } from '../wal/loop.ts'

export interface TransactionTimeoutsOptions {
  readonly metadata: Metadata
  readonly clock: Clock
  readonly logger: Logger
  /** `transaction.abort.timed.out.transaction.cleanup.interval.ms`; 10000 when left out. */
  readonly everyMs?: number
  /** `transactional.id.expiration.ms`; seven days when left out. */
  readonly idExpiryMs?: number
}

/** Forgotten ids in one entry. */
const BATCH = 1000

/**
 * Ends what nobody else will: transactions that run for longer than their timeout are aborted and their producers fenced,
 * transactional ids that are idle for long are forgotten (K: TransactionCoordinator.abortTimedOutTransactions,
 * TransactionStateManager.removeExpiredTransactionalIds). Each pod looks at the ids of its own shards; `apply` refuses what
 * went on meanwhile (L6).
 */
export class TransactionTimeouts {
  readonly #options: TransactionTimeoutsOptions
  readonly #loop: Loop

  constructor(options: TransactionTimeoutsOptions) {
    this.#options = options
    this.#loop = new Loop({
      clock: options.clock,
      everyMs: options.everyMs ?? 10_000,
      pass: () => this.pass(),
      failed: (error) => options.logger.warn({ error }, 'transactions that ran out of time could not be ended; they are looked at again'),
    })
  }

  start(): void {
    this.#loop.start()
  }

  close(): Promise<void> {
    return this.#loop.close()
  }

  /** One pass; the number of transactions that were aborted. */
  async pass(): Promise<number> {
    const { metadata, clock, logger } = this.#options
    const nowMs = clock.wallMs()
    const due = [...metadata.state.ongoingTransactions()].filter((row) => this.#isOwn(row) && nowMs - row.startMs > row.timeoutMs)
    let aborted = 0
    for (const { transactionalId, producerId, producerEpoch, startMs, timeoutMs } of due) {
      const own = { transactionalId, producerId, producerEpoch }
      const result = await metadata.propose({ kind: 'expireTransaction', ...own, startMs })
      if (result.kind !== 'transaction' || result.error !== 0) continue
      aborted++
      logger.info({ transactionalId, producerId, timeoutMs }, 'a transaction ran out of time and was aborted')
    }
    await this.#forgetIdle(nowMs - (this.#options.idExpiryMs ?? 604_800_000))
    return aborted
  }

  async #forgetIdle(olderThanMs: number): Promise<void> {
    const { metadata } = this.#options
    const items = []
    for (const row of metadata.state.transactions()) {
      if (row.status === 'Ongoing' || row.updateMs >= olderThanMs || !this.#isOwn(row)) continue
      const { transactionalId, producerId, producerEpoch, updateMs } = row
      items.push({ transactionalId, producerId, producerEpoch, updateMs })
    }
    for (let at = 0; at < items.length; at += BATCH)
      await metadata.propose({ kind: 'forgetTransactionalIds', items: items.slice(at, at + BATCH) })
  }

  #isOwn(row: TransactionView): boolean {
    const { state, incarnation } = this.#options.metadata
    return state.shard(shardOf(row.transactionalId)).owner === incarnation
  }
}
