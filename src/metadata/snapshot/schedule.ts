import type { Clock, Timer } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { EntryLog, RawEntry } from '../entryLog.ts'
import type { EngineMetrics } from '../metrics.ts'
import type { State } from '../state/state.ts'
import { makeSnapshot } from './make.ts'

/** A snapshot is due when any of these is reached since the last one, and no sooner than `pauseMs` after it. */
export interface SnapshotPolicy {
  /** Bytes of entries, attachments not counted: they cost no replay. */
  readonly logBytes: number
  readonly entries: number
  /** Bytes of attachments, which only truncation gives back. */
  readonly attachmentBytes: number
  /** With at least one entry. */
  readonly intervalMs: number
  readonly pauseMs: number
}

export const DEFAULT_SNAPSHOT_POLICY: SnapshotPolicy = {
  logBytes: 8 << 20,
  entries: 50_000,
  attachmentBytes: 256 << 20,
  intervalMs: 600_000,
  pauseMs: 5000,
}

/** Decides when snapshots are written, one at a time, and truncates the log behind the one before the newest (L4). */
export class SnapshotSchedule {
  readonly #log: EntryLog
  readonly #state: State
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #metrics: EngineMetrics
  readonly #policy: SnapshotPolicy
  /** Snapshots known to be damaged: none of them counts as something to fall back on. */
  readonly #bad: Set<number>
  #entries = 0
  #bytes = 0
  #attachmentBytes = 0
  #lastMs: number
  #running: Promise<void> = Promise.resolve()
  #started = false
  /** `pauseMs`, longer after failures. */
  #waitMs: number
  #timer: Timer | null = null
  #closed = false

  constructor(options: {
    readonly log: EntryLog
    readonly state: State
    readonly clock: Clock
    readonly logger: Logger
    readonly metrics: EngineMetrics
    readonly policy: SnapshotPolicy
    readonly bad: ReadonlySet<number>
    /** Entries behind the snapshot that the state was built on. */
    readonly behind: number
  }) {
    this.#log = options.log
    this.#state = options.state
    this.#clock = options.clock
    this.#logger = options.logger
    this.#metrics = options.metrics
    this.#policy = options.policy
    this.#bad = new Set(options.bad)
    this.#entries = options.behind
    this.#lastMs = options.clock.monotonicMs()
    this.#waitMs = options.policy.pauseMs
    this.#arm()
  }

  /** Takes note of an entry that was applied. */
  note(raw: RawEntry): void {
    this.#entries++
    this.#bytes += raw.bytes.length
    this.#attachmentBytes += raw.attachmentBytes
    if (this.#due()) this.#start()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    await this.#running
  }

  /** Writes a snapshot of what is applied now, after the one under way if there is one. */
  async snapshot(): Promise<void> {
    const before = this.#running
    const running = before.then(() => this.#make())
    this.#running = running.catch(() => undefined) // the caller has the error
    await running
  }

  async #make(): Promise<void> {
    const target = this.#state.lastEntry
    const { entries, bytes, attachmentBytes } = { entries: this.#entries, bytes: this.#bytes, attachmentBytes: this.#attachmentBytes }
    this.#entries = this.#bytes = this.#attachmentBytes = 0
    this.#lastMs = this.#clock.monotonicMs()
    try {
      await makeSnapshot(this.#log, target, this.#bad, this.#logger)
      await this.#truncate()
      this.#metrics.snapshots.inc({ outcome: 'written' })
      this.#waitMs = this.#policy.pauseMs
      this.#logger.debug({ entry: target, entries }, 'wrote a metadata snapshot')
    } catch (error) {
      this.#metrics.snapshots.inc({ outcome: 'failed' })
      this.#waitMs = Math.min(Math.max(this.#waitMs, 1000) * 2, this.#policy.intervalMs)
      this.#entries += entries
      this.#bytes += bytes
      this.#attachmentBytes += attachmentBytes
      throw error
    }
  }

  /**
   * Entries go once two good snapshots include them, so that a bad newest one is survivable, and once nothing alive rides
   * inside them (L10).
   */
  async #truncate(): Promise<void> {
    const [newest, previous] = await this.#log.snapshots()
    if (previous === undefined || this.#bad.has(newest) || this.#bad.has(previous)) return
    const floor = Math.min(previous + 1, this.#state.rooms.objects.oldestInlineEntry())
    await this.#log.truncate(Math.max(floor, await this.#log.floor()))
  }

  #due(): boolean {
    const sinceMs = this.#clock.monotonicMs() - this.#lastMs
    if (this.#entries === 0 || sinceMs < this.#waitMs) return false
    const { logBytes, entries, attachmentBytes, intervalMs } = this.#policy
    return this.#bytes >= logBytes || this.#entries >= entries || this.#attachmentBytes >= attachmentBytes || sinceMs >= intervalMs
  }

  #start(): void {
    if (this.#started || this.#closed) return
    this.#started = true
    this.snapshot()
      .catch((error: unknown) =>
        this.#logger.warn({ reason: String(error) }, 'a metadata snapshot could not be written: it will be tried again'),
      )
      .finally(() => {
        this.#started = false
      })
  }

  #arm(): void {
    this.#timer = this.#clock.timer(this.#policy.intervalMs, () => {
      if (this.#due()) this.#start()
      if (!this.#closed) this.#arm()
    })
  }
}
