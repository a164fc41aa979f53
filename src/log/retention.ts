import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Metadata } from '../metadata/port.ts'
import type { TopicView } from '../metadata/view.ts'
import { Loop } from '../wal/loop.ts'

/** What retention asks of a topic's settings. */
export interface RetentionRules {
  readonly cleanupPolicy: ReadonlySet<string>
  /** -1 for ever. */
  readonly retentionMs: number
  /** Per partition; -1 for no bound. */
  readonly retentionBytes: number
}

export interface RetentionOptions {
  readonly metadata: Metadata
  readonly clock: Clock
  readonly logger: Logger
  /** False while another pod does this work; always this one when left out. */
  readonly turn?: () => boolean
  readonly rules: (topic: TopicView) => RetentionRules
  /** Asks for the conversion of a topic whose records are due and not in the table yet (T20). */
  readonly requestConversion: (topic: number) => void
  /** `log.retention.check.interval.ms`; 300000 when left out. */
  readonly everyMs?: number
  /** `producer.id.expiration.ms`; a day when left out. */
  readonly producerExpiryMs?: number
}

/** Trims and expiries in one entry. */
const BATCH = 1000

/**
 * Moves log starts by `retention.ms` and `retention.bytes`, whole extents at a time as Kafka deletes whole segments
 * (K: UnifiedLog.deleteRetentionMsBreachedSegments, deleteRetentionSizeBreachedSegments), and expires idle producers.
 * Only what is in the table is taken from consumers (T20): what is due and not converted waits for its conversion.
 */
export class Retention {
  readonly #options: RetentionOptions
  readonly #loop: Loop

  constructor(options: RetentionOptions) {
    this.#options = options
    this.#loop = new Loop({
      clock: options.clock,
      everyMs: options.everyMs ?? 300_000,
      pass: () => this.pass(),
      turn: options.turn,
      failed: (error) => options.logger.warn({ error }, 'a pass of retention failed'),
    })
  }

  start(): void {
    this.#loop.start()
  }

  close(): Promise<void> {
    return this.#loop.close()
  }

  /** One pass over all topics; the number of partitions that were trimmed. */
  async pass(): Promise<number> {
    const { metadata } = this.#options
    const trims: { topic: number; partition: number; logStartOffset: number }[] = []
    for (const topic of metadata.state.topics()) {
      const rules = this.#options.rules(topic)
      if (!rules.cleanupPolicy.has('delete') || (rules.retentionMs < 0 && rules.retentionBytes < 0)) continue
      let unconverted = false
      for (let partition = 0; partition < topic.partitions; partition++) {
        const due = this.#dueOffset(topic.topic, partition, rules)
        const converted = metadata.state.firstUnconverted(topic.topic, partition)
        if (due > converted) unconverted = true
        const start = metadata.state.partition(topic.topic, partition)!.logStartOffset
        const logStartOffset = Math.min(due, converted)
        if (logStartOffset > start) trims.push({ topic: topic.topic, partition, logStartOffset })
      }
      if (unconverted) this.#options.requestConversion(topic.topic)
    }
    for (let at = 0; at < trims.length; at += BATCH) await metadata.propose({ kind: 'trimPartitions', trims: trims.slice(at, at + BATCH) })
    await this.#expireProducers()
    return trims.length
  }

  /** The offset below which everything is due, or the log start. */
  #dueOffset(topic: number, partition: number, { retentionMs, retentionBytes }: RetentionRules): number {
    const { metadata, clock } = this.#options
    const { logStartOffset, endOffset, sizeBytes } = metadata.state.partition(topic, partition)!
    if (logStartOffset === endOffset) return logStartOffset
    const oldestMs = retentionMs < 0 ? -Infinity : clock.wallMs() - retentionMs
    let due = logStartOffset
    let surplusBytes = retentionBytes < 0 ? -1 : sizeBytes - retentionBytes
    let byTime = retentionMs >= 0
    for (const extent of metadata.state.extents(topic, partition, logStartOffset)) {
      // Records without a timestamp are as old as their commit.
      byTime &&= (extent.maxTimestampMs < 0 ? extent.commitTimeMs : extent.maxTimestampMs) < oldestMs
      const bySize = surplusBytes >= extent.originalBytes
      if (!byTime && !bySize) break
      surplusBytes -= extent.originalBytes
      due = extent.lastOffset + 1
    }
    return due
  }

  async #expireProducers(): Promise<void> {
    const { metadata, clock } = this.#options
    const olderThanMs = clock.wallMs() - (this.#options.producerExpiryMs ?? 86_400_000)
    for (let rounds = 0; rounds < 100; rounds++) {
      const items = metadata.state.expiredProducers(olderThanMs, BATCH)
      if (items.length === 0) return
      await metadata.propose({ kind: 'expireProducers', items })
      if (items.length < BATCH) return
    }
  }
}
