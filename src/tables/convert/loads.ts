import type { Clock } from '../../base/clock.ts'
import type { TopicSettings } from '../../base/config/topicSettings.ts'
import type { Logger } from '../../base/log.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { TopicView } from '../../metadata/view.ts'
import type { Publisher } from '../iceberg/publisher.ts'
import type { Converter } from './converter.ts'
import type { TableMetrics } from './metrics.ts'

export interface LoadsOptions {
  readonly metadata: Metadata
  readonly converter: Converter
  readonly publisher: Publisher
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: TableMetrics
  readonly settings: (topic: TopicView) => TopicSettings
}

/** How far the table is behind what was acknowledged before a load began; zeros when the load shows all of it. */
export interface LoadLag {
  readonly records: number
  readonly ms: number
}

interface Bucket {
  tokens: number
  filledMs: number
}

interface Flights {
  running: Promise<void> | null
  next: Promise<void> | null
}

/** Sustained, one flush per table in this time (T9); a load that comes earlier waits for it rather than miss a record. */
const FLUSH_EVERY_MS = 2000
/** … but a table that was quiet may be flushed this many times at once. */
const BURST = 30
const BUCKETS_MAX = 10_000

/**
 * Commit-on-load (T9, P7): brings everything that was acknowledged before a load began into the table. Loads that wait
 * share one flush. There is a flush only when there is something to show.
 */
export class Loads {
  readonly #options: LoadsOptions
  readonly #buckets = new Map<number, Bucket>()
  readonly #flights = new Map<number, Flights>()

  constructor(options: LoadsOptions) {
    this.#options = options
  }

  /**
   * Resolves when every record committed before the call is in the table and the table is published, or when
   * `table.load.wait.ms` has passed: then with the lag that is left. Never throws for a failing conversion; errors:
   * CLOSED, FENCED.
   */
  async flush(topic: TopicView): Promise<LoadLag> {
    const { clock, metadata, metrics, settings } = this.#options
    const deadline = new AbortController()
    const timer = clock.timer(settings(topic).table.loadWaitMs, () => deadline.abort())
    try {
      // An acknowledgement of another pod may stand in an entry that was not applied here yet.
      await Promise.race([metadata.barrier(), aborted(deadline.signal)])
      const ends = this.#ends(topic)
      if (this.#behind(topic, ends) === 0) {
        await this.#publishFirst(topic, deadline.signal)
        metrics.flushes.inc({ outcome: 'current' })
        return { records: 0, ms: 0 }
      }
      while (this.#behind(topic, ends) > 0 && !deadline.signal.aborted && !this.#options.converter.paused) {
        await Promise.race([this.#flight(topic.topic), aborted(deadline.signal)])
      }
      return this.#lag(topic, ends)
    } finally {
      timer.cancel()
      deadline.abort()
    }
  }

  #ends(topic: TopicView): number[] {
    const { state } = this.#options.metadata
    return Array.from({ length: topic.partitions }, (_, partition) => state.partition(topic.topic, partition)?.lastStableOffset ?? 0)
  }

  /** Records below `ends` that are not in the table. */
  #behind(topic: TopicView, ends: readonly number[]): number {
    const { state } = this.#options.metadata
    if (state.topicByNumber(topic.topic) === null) return 0
    return ends.reduce((sum, end, partition) => sum + Math.max(0, end - state.firstUnconverted(topic.topic, partition)), 0)
  }

  #lag(topic: TopicView, ends: readonly number[]): LoadLag {
    const { clock, logger, metadata, metrics } = this.#options
    const records = this.#behind(topic, ends)
    metrics.flushes.inc({ outcome: records === 0 ? 'flushed' : 'late' })
    if (records === 0) return { records: 0, ms: 0 }
    const oldestMs = metadata.state.oldestUnconvertedMs(topic.topic)
    const ms = oldestMs < 0 ? 0 : Math.max(0, clock.wallMs() - oldestMs)
    logger.warn({ topic: topic.name, records, ms }, 'a load of a table ended before its newest records were in it')
    return { records, ms }
  }

  /** A table that was never published, or whose folder moved, gets its metadata now (hazard I14). */
  async #publishFirst(topic: TopicView, signal: AbortSignal): Promise<void> {
    const { logger, metadata, publisher } = this.#options
    const table = metadata.state.table(topic.topic)
    if (table === null) return
    const loaded = await publisher.load(table)
    if (loaded !== null && publisher.isHere(table, loaded)) return
    const published = publisher.publish(topic.topic, (current, base) =>
      base !== null && publisher.isHere(current, base)
        ? null
        : { operation: 'none', added: [], removed: [], converted: [], dataTimeMs: current.dataTimeMs },
    )
    const settled = published.then(
      () => undefined,
      (error: unknown) => logger.error({ err: error, topic: topic.name }, 'the first metadata of a table could not be written'),
    )
    await Promise.race([settled, aborted(signal)])
  }

  /** The next flush of a table that has not begun yet, shared by all loads that come before it begins. */
  #flight(topic: number): Promise<void> {
    const flights = this.#flights.get(topic) ?? { running: null, next: null }
    this.#flights.set(topic, flights)
    flights.next ??= (flights.running ?? Promise.resolve()).then(async () => {
      flights.running = flights.next
      await this.#token(topic)
      flights.next = null
      const ended = this.#options.converter.ended(topic)
      this.#options.converter.request(topic, 'load')
      await ended
      if (flights.next === null) this.#flights.delete(topic)
    })
    return flights.next
  }

  /** Waits until the table may be flushed again. */
  async #token(topic: number): Promise<void> {
    const { clock } = this.#options
    const nowMs = clock.monotonicMs()
    let bucket = this.#buckets.get(topic)
    if (bucket === undefined) {
      if (this.#buckets.size >= BUCKETS_MAX) this.#buckets.delete(this.#buckets.keys().next().value!)
      this.#buckets.set(topic, (bucket = { tokens: BURST, filledMs: nowMs }))
    }
    const earned = Math.floor((nowMs - bucket.filledMs) / FLUSH_EVERY_MS)
    if (earned > 0) {
      bucket.tokens = Math.min(BURST, bucket.tokens + earned)
      bucket.filledMs += earned * FLUSH_EVERY_MS
    }
    if (bucket.tokens > 0) {
      bucket.tokens--
      return
    }
    // The token that this flush waits for is taken as it comes.
    const waitMs = bucket.filledMs + FLUSH_EVERY_MS - nowMs
    bucket.filledMs += FLUSH_EVERY_MS
    await clock.sleep(waitMs)
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
