import type { Timer } from '../../base/clock.ts'
import type { TopicSettings } from '../../base/config/topicSettings.ts'
import { hasCode } from '../../base/errors.ts'
import type { AppliedChange } from '../../metadata/port.ts'
import type { TopicView } from '../../metadata/view.ts'
import { ConversionJob, type JobOptions } from './job.ts'
import type { Priority } from './slots.ts'

export interface ConverterOptions extends JobOptions {
  readonly settings: (topic: TopicView) => TopicSettings
  /** Unconverted bytes of a topic at which it is converted (T8). */
  readonly convertBytes: number
  /** Unconverted bytes of all topics together at which the largest are converted, however small each is. */
  readonly pressureBytes: number
  /** False for topics that another pod converts, unless this one is asked to; all of them when left out. */
  readonly keeps?: (topic: TopicView) => boolean
  /** True: no table is written, loads included; for benches. */
  readonly paused: boolean
}

/** What is known of a topic with records to convert. */
interface Work {
  readonly topic: number
  due: Timer | null
  running: Promise<void> | null
  /** Asked for again while a job runs, with the highest priority so far. */
  again: Priority | null
  failures: number
  retry: Timer | null
  apart: boolean
}

/** A due timer looks again at least this often, because the interval can be altered meanwhile. */
const LOOK_AGAIN_MS = 10_000
const RETRY_FIRST_MS = 500
const RETRY_MAX_MS = 60_000
const PRESSURE_CHECK_MS = 1000

/**
 * Decides when topics are converted (T8): by bytes, when a load asks, at the staleness bound, or when all topics together
 * hold too much. One job at a time per topic; jobs of all topics share the slots. A failing topic backs off alone (P9).
 */
export class Converter {
  readonly #options: ConverterOptions
  readonly #job: ConversionJob
  readonly #works = new Map<number, Work>()
  readonly #waiters = new Map<number, (() => void)[]>()
  #stopListening: (() => void) | null = null
  #pressure: Timer | null = null
  #closed = false

  constructor(options: ConverterOptions) {
    this.#options = options
    this.#job = new ConversionJob(options)
  }

  get paused(): boolean {
    return this.#options.paused
  }

  /** Begins: what is unconverted now and what comes. */
  start(): void {
    if (this.#options.paused) return
    const { metadata } = this.#options
    this.#stopListening = metadata.onApplied((change) => this.#applied(change))
    this.reassess()
  }

  /** Looks at every topic: which ones are this pod's may have changed. */
  reassess(): void {
    const { metadata, paused } = this.#options
    if (paused || this.#closed) return
    for (const topic of metadata.state.topics()) if (metadata.state.unconvertedRecords(topic.topic) > 0) this.#touch(topic.topic)
  }

  /** Takes no more work and waits for what runs. */
  async close(): Promise<void> {
    this.#closed = true
    this.#stopListening?.()
    this.#pressure?.cancel()
    for (const work of this.#works.values()) {
      work.due?.cancel()
      work.retry?.cancel()
    }
    await Promise.all([...this.#works.values()].map((work) => work.running))
    for (const topic of this.#waiters.keys()) this.#wake(topic)
  }

  /** Asks for a conversion of a topic, soon; does not wait. */
  request(topic: number, priority: Priority): void {
    if (this.#closed || this.#options.paused) return
    this.#enqueue(this.#work(topic), priority)
  }

  /** Resolves after the next job of the topic ended, well or not. */
  ended(topic: number): Promise<void> {
    if (this.#closed || this.#options.paused) return Promise.resolve()
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(topic)
      if (waiters === undefined) this.#waiters.set(topic, [resolve])
      else waiters.push(resolve)
    })
  }

  #applied(change: AppliedChange): void {
    const { appended } = change
    let last = -1
    for (let at = 0; at < appended.length; at += 2) {
      const topic = appended[at]!
      if (topic !== last) this.#touch(topic)
      last = topic
    }
  }

  #work(topic: number): Work {
    let work = this.#works.get(topic)
    if (work === undefined) {
      work = { topic, due: null, running: null, again: null, failures: 0, retry: null, apart: false }
      this.#works.set(topic, work)
    }
    return work
  }

  #touch(topic: number): void {
    if (!this.#keeps(topic)) return
    const work = this.#work(topic)
    if (work.retry === null && this.#options.metadata.state.unconvertedBytes(topic) >= this.#options.convertBytes) {
      if (work.running === null) this.#enqueue(work, 'convert')
    } else if (work.due === null) this.#schedule(work)
    if (this.#pressure === null) this.#pressure = this.#options.clock.timer(PRESSURE_CHECK_MS, () => this.#relieve())
  }

  #keeps(topic: number): boolean {
    const { metadata, keeps } = this.#options
    if (keeps === undefined) return true
    const view = metadata.state.topicByNumber(topic)
    return view !== null && keeps(view)
  }

  /** Sets the timer of the staleness bound. */
  #schedule(work: Work): void {
    const { clock, metadata, settings } = this.#options
    const topic = metadata.state.topicByNumber(work.topic)
    const oldestMs = metadata.state.oldestUnconvertedMs(work.topic)
    if (this.#closed || topic === null || oldestMs < 0) return
    const leftMs = settings(topic).table.commitIntervalMs - Math.max(0, clock.wallMs() - oldestMs)
    work.due?.cancel()
    work.due = clock.timer(Math.max(0, Math.min(leftMs, LOOK_AGAIN_MS)), () => {
      work.due = null
      if (!this.#keeps(work.topic)) this.#works.delete(work.topic)
      else if (leftMs <= LOOK_AGAIN_MS) this.#enqueue(work, 'convert')
      else this.#schedule(work)
    })
  }

  /** Converts the topics that hold most while all together hold too much. Runs once a second while anything waits. */
  #relieve(): void {
    const { clock, metadata, pressureBytes } = this.#options
    this.#pressure = null
    if (this.#closed) return
    const sizes: { work: Work; sizeBytes: number }[] = []
    let totalBytes = 0
    for (const work of this.#works.values()) {
      const sizeBytes = metadata.state.unconvertedBytes(work.topic)
      totalBytes += sizeBytes
      if (sizeBytes > 0 && this.#keeps(work.topic)) sizes.push({ work, sizeBytes })
    }
    if (totalBytes > pressureBytes) {
      sizes.sort((a, b) => b.sizeBytes - a.sizeBytes)
      for (const { work, sizeBytes } of sizes) {
        if (totalBytes <= pressureBytes / 2) break
        totalBytes -= sizeBytes
        if (work.running === null && work.retry === null) this.#enqueue(work, 'convert')
      }
    }
    if (sizes.length > 0) this.#pressure = clock.timer(PRESSURE_CHECK_MS, () => this.#relieve())
  }

  #enqueue(work: Work, priority: Priority): void {
    if (this.#closed) return
    if (work.running !== null) {
      if (work.again !== 'load') work.again = priority
      return
    }
    // A load may try again at most once in a back-off: the topic's own timer decides when.
    if (work.retry !== null) return
    work.due?.cancel()
    work.due = null
    work.running = this.#run(work, priority)
  }

  async #run(work: Work, priority: Priority): Promise<void> {
    const { clock, logger, metadata, metrics } = this.#options
    const topic = metadata.state.topicByNumber(work.topic)
    let complete = true
    try {
      if (topic !== null) ({ complete } = await this.#job.run(topic, priority, work.apart))
      work.failures = 0
      work.apart = false
    } catch (error) {
      if (this.#closed || hasCode(error, 'CLOSED')) return
      work.failures++
      work.apart = hasCode(error, 'CORRUPT')
      metrics.failures.inc({ topic: topic?.name ?? String(work.topic) })
      const retryMs = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** (work.failures - 1))
      logger.error({ err: error, topic: topic?.name, retryMs }, 'a conversion failed; the records stay in the WAL')
      work.retry = clock.timer(retryMs, () => {
        work.retry = null
        this.#enqueue(work, 'convert')
      })
    } finally {
      work.running = null
      this.#wake(work.topic)
      this.#after(work, complete)
    }
  }

  /** What comes after a job: the next one, a timer, or nothing. */
  #after(work: Work, complete: boolean): void {
    const { metadata, convertBytes } = this.#options
    const again = work.again
    work.again = null
    if (this.#closed || work.retry !== null) return
    if (again !== null) this.#enqueue(work, again)
    else if (metadata.state.topicByNumber(work.topic) === null) this.#works.delete(work.topic)
    else if (metadata.state.unconvertedRecords(work.topic) === 0 || !this.#keeps(work.topic)) this.#works.delete(work.topic)
    else if (!complete || metadata.state.unconvertedBytes(work.topic) >= convertBytes) this.#enqueue(work, 'convert')
    else this.#schedule(work)
  }

  #wake(topic: number): void {
    const waiters = this.#waiters.get(topic)
    this.#waiters.delete(topic)
    for (const wake of waiters ?? []) wake()
  }
}
