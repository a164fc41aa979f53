import type { Clock, Timer } from '../../base/clock.ts'
import type { TopicSettings } from '../../base/config/topicSettings.ts'
import { hasCode } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { TopicView } from '../../metadata/view.ts'
import type { Plan } from '../iceberg/prepare.ts'
import type { Publisher } from '../iceberg/publisher.ts'
import { nextExpiryMs } from '../iceberg/retain.ts'
import type { LoadedTable } from '../iceberg/table.ts'

export interface ExpirerOptions {
  readonly metadata: Metadata
  readonly publisher: Publisher
  readonly clock: Clock
  readonly logger: Logger
  readonly settings: (topic: TopicView) => TopicSettings
}

/** A quiet table is published for expiry alone at most this often, so that many snapshots go at once. */
const GAP_MIN_MS = 1000
const GAP_MAX_MS = 3_600_000
const GAP_SHARE = 0.5

/** The longest a timer of the platform runs. */
const TIMER_MAX_MS = 2 ** 31 - 1

/**
 * Expires snapshots of quiet tables (T12). Every publication leaves out what is due anyway; this publishes a table for
 * that alone when nothing else does, so that no snapshot outlives its files.
 */
export class Expirer {
  readonly #options: ExpirerOptions
  readonly #timers = new Map<string, { readonly timer: Timer; readonly atMs: number }>()
  #closed = false

  constructor(options: ExpirerOptions) {
    this.#options = options
    options.publisher.onPublished(({ table, loaded }) => this.schedule(table.topic, table.uuid, loaded))
  }

  /** Sets the timer of a table by what its current publication holds. */
  schedule(topicNumber: number, tableUuid: string, loaded: LoadedTable): void {
    const { clock, metadata, settings } = this.#options
    this.#timers.get(tableUuid)?.timer.cancel()
    this.#timers.delete(tableUuid)
    const topic = metadata.state.topicByNumber(topicNumber)
    if (this.#closed || topic === null) return
    const graceMs = settings(topic).table.fileGraceMs
    const atMs = nextExpiryMs(loaded.metadata, graceMs)
    if (atMs === Number.POSITIVE_INFINITY) return
    const gapMs = Math.min(GAP_MAX_MS, Math.max(GAP_MIN_MS, graceMs * GAP_SHARE))
    const delayMs = Math.min(TIMER_MAX_MS, Math.max(atMs - clock.wallMs(), 0) + gapMs)
    const timer = clock.timer(delayMs, () => {
      this.#timers.delete(tableUuid)
      void this.#expire(topicNumber, tableUuid)
    })
    this.#timers.set(tableUuid, { timer, atMs })
  }

  close(): void {
    this.#closed = true
    for (const { timer } of this.#timers.values()) timer.cancel()
    this.#timers.clear()
  }

  async #expire(topic: number, tableUuid: string): Promise<void> {
    const { clock, logger, metadata, publisher, settings } = this.#options
    if (this.#closed) return
    try {
      const published = await publisher.publish(topic, (table, base): Plan | null => {
        const view = metadata.state.topicByNumber(topic)
        if (base === null || view === null || nextExpiryMs(base.metadata, settings(view).table.fileGraceMs) > clock.wallMs()) return null
        return { operation: 'none', added: [], removed: [], converted: [], dataTimeMs: table.dataTimeMs }
      })
      if (published === null) await this.#look(topic, tableUuid)
    } catch (error) {
      if (this.#closed || hasCode(error, 'CLOSED')) return
      logger.warn({ err: error, topic }, 'snapshots of a table could not be expired')
      await this.#look(topic, tableUuid)
    }
  }

  /** Sets the timer again after a look that published nothing. */
  async #look(topic: number, tableUuid: string): Promise<void> {
    const { logger, metadata, publisher } = this.#options
    const table = metadata.state.tableByUuid(tableUuid)
    if (table === null) return
    try {
      const loaded = await publisher.load(table)
      if (loaded !== null) this.schedule(topic, tableUuid, loaded)
    } catch (error) {
      // The next publication of the table sets its timer again.
      logger.warn({ err: error, topic }, 'the snapshots of a table could not be looked at')
    }
  }
}
