import type { Clock, Timer } from '../../base/clock.ts'
import type { TopicSettings } from '../../base/config/topicSettings.ts'
import { hasCode } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { StateView, TableFile, TopicView } from '../../metadata/view.ts'
import type { Publisher } from '../iceberg/publisher.ts'

export interface TableRetentionOptions {
  readonly metadata: Metadata
  readonly publisher: Publisher
  readonly clock: Clock
  readonly logger: Logger
  readonly settings: (topic: TopicView) => TopicSettings
  /** False for topics that another pod keeps. */
  readonly keeps?: (topic: TopicView) => boolean
  /** `log.retention.check.interval.ms`. */
  readonly everyMs: number
}

/**
 * Files whose every row is older than the table's retention and is no longer served to consumers. A file with a range
 * whose rows have no timestamp stays: nothing says how old it is.
 */
export function expiredFiles(state: StateView, topic: number, files: Iterable<TableFile>, beforeMs: number): TableFile[] {
  const expired: TableFile[] = []
  for (const file of files) {
    const old = file.ranges.every(
      (range) =>
        range.maxTimestampMs >= 0 &&
        range.maxTimestampMs < beforeMs &&
        range.lastOffset < (state.partition(topic, range.partition)?.logStartOffset ?? 0),
    )
    if (old) expired.push(file)
  }
  return expired
}

/** Drops whole files by `table.retention.ms`; consumers' retention moves log starts first, elsewhere. */
export class TableRetention {
  readonly #options: TableRetentionOptions
  #timer: Timer | null = null
  #running: Promise<void> = Promise.resolve()
  #closed = false

  constructor(options: TableRetentionOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer = this.#options.clock.timer(this.#options.everyMs, () => {
      this.#running = this.pass().then(() => {
        if (!this.#closed) this.start()
      })
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    await this.#running
  }

  /** One look at every table. A table that fails is tried again in the next pass and stops no other (P9). */
  async pass(): Promise<void> {
    const { clock, logger, metadata, publisher, settings, keeps } = this.#options
    for (const topic of Array.from(metadata.state.topics())) {
      if (keeps?.(topic) === false) continue
      const { retentionMs } = settings(topic).table
      const table = metadata.state.table(topic.topic)
      if (this.#closed || retentionMs < 0 || retentionMs === Number.POSITIVE_INFINITY || table === null) continue
      const beforeMs = clock.wallMs() - retentionMs
      if (expiredFiles(metadata.state, topic.topic, table.files(), beforeMs).length === 0) continue
      try {
        await publisher.publish(topic.topic, (current) => {
          const removed = expiredFiles(metadata.state, topic.topic, current.files(), beforeMs)
          return removed.length === 0 ? null : { operation: 'delete', added: [], removed, converted: [], dataTimeMs: current.dataTimeMs }
        })
      } catch (error) {
        if (this.#closed || hasCode(error, 'CLOSED')) return
        logger.error({ err: error, topic: topic.name }, 'old files of a table could not be dropped')
      }
    }
  }
}
