import type { Clock, Timer } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { EntryLog, RawEntry } from '../entryLog.ts'
import type { EngineMetrics } from '../metrics.ts'
import type { State } from '../state/state.ts'
import type { TaskRunner } from '../../base/workers.ts'
import { makeSnapshot, snapshotWorker } from './make.ts'
import { SeenEntries } from './seen.ts'

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
  /** How often it is looked whether dead attachments wait for nothing but snapshots, while nothing is produced. */
  readonly quietMs: number
}

/** Dead attachments that are not worth two snapshots. */
const QUIET_BYTES = 1 << 20
const RANK_STEP = 0.25
const RANK_MAX = 4
/** A worker that was idle for this long ends. */
const WORKER_IDLE_MS = 60_000

export const DEFAULT_SNAPSHOT_POLICY: SnapshotPolicy = {
  logBytes: 8 << 20,
  entries: 50_000,
  attachmentBytes: 256 << 20,
  intervalMs: 600_000,
  pauseMs: 5000,
  quietMs: 1000,
}

/** Where each entry is an object of its own, fewer of them make a start slow. */
export const SHARED_SNAPSHOT_POLICY: SnapshotPolicy = { ...DEFAULT_SNAPSHOT_POLICY, entries: 5000 }

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
  readonly #seen: SeenEntries
  #entries = 0
  #bytes = 0
  #attachmentBytes = 0
  /** Attachments of entries between the two newest snapshots: the next snapshot lets them go. */
  #heldBytes = 0
  #lastAttachmentMs: number
  #lastMs: number
  readonly #touch: () => Promise<unknown>
  readonly #startWorker: () => TaskRunner
  #worker: TaskRunner | null = null
  readonly #rank: () => number
  #workerTimer: Timer | null = null
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
    /** Proposes something that changes nothing, so that there is an entry for a snapshot to end with. */
    readonly touch: () => Promise<unknown>
    /** What replays the log and writes snapshots; a thread when left out. */
    readonly worker?: () => TaskRunner
    /** How many pods come before this one: where the log is shared, the first writes the snapshots while it lives. */
    readonly rank: () => number
  }) {
    this.#log = options.log
    this.#state = options.state
    this.#clock = options.clock
    this.#logger = options.logger
    this.#metrics = options.metrics
    this.#policy = options.policy
    this.#bad = new Set(options.bad)
    this.#seen = new SeenEntries(options.log.retentionMs)
    this.#seen.note(options.state.lastEntry, options.clock.monotonicMs())
    this.#entries = options.behind
    this.#touch = options.touch
    this.#startWorker = options.worker ?? snapshotWorker
    this.#rank = options.rank
    // what an earlier process left, as far as it is known
    this.#attachmentBytes = options.log.attachmentMaxBytes > 0 ? options.log.sizeBytes() : 0
    this.#lastMs = options.clock.monotonicMs()
    this.#lastAttachmentMs = this.#lastMs
    this.#waitMs = options.policy.pauseMs
    this.#arm()
  }

  /** Takes note of an entry that was applied. */
  note(raw: RawEntry): void {
    this.#seen.note(raw.number, this.#clock.monotonicMs())
    this.#entries++
    this.#bytes += raw.bytes.length
    this.#attachmentBytes += raw.attachmentBytes
    if (raw.attachmentBytes > 0) this.#lastAttachmentMs = this.#clock.monotonicMs()
    if (this.#due()) this.#start()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    await this.#running
    this.#workerTimer?.cancel()
    await this.#worker?.close()
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
      await this.#withWorker((worker) => makeSnapshot(this.#log, target, this.#bad, this.#logger, worker, this.#clock))
      await this.#truncate()
      this.#heldBytes = attachmentBytes
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

  /** The worker stays for a while: under load the next snapshot follows soon, and starting a thread costs half a second. */
  async #withWorker(body: (worker: TaskRunner) => Promise<void>): Promise<void> {
    this.#workerTimer?.cancel()
    const worker = (this.#worker ??= this.#startWorker())
    try {
      await body(worker)
    } finally {
      this.#workerTimer = this.#clock.timer(WORKER_IDLE_MS, () => {
        this.#worker = null
        void worker.close()
      })
    }
  }

  /**
   * While nothing is produced, attachments whose records are all in the table would stay until something else brings on
   * two snapshots. True when a snapshot, and no live attachment, is what their truncation waits for.
   */
  #wasteful(): boolean {
    const sinceMs = this.#clock.monotonicMs() - Math.max(this.#lastAttachmentMs, this.#lastMs)
    if (sinceMs < this.#policy.quietMs || this.#heldBytes + this.#attachmentBytes < QUIET_BYTES) return false
    return this.#state.rooms.objects.oldestInlineEntry() > this.#state.lastEntry
  }

  /**
   * Entries go once two good snapshots include them, so that a bad newest one is survivable, and once nothing alive rides
   * inside them (L10), while no hold asks for them, and, where other processes write the log too, once they were seen for its retention (L4).
   */
  async #truncate(): Promise<void> {
    const [newest, previous] = await this.#log.snapshots()
    if (this.#state.isHeld(this.#clock.wallMs())) return
    if (previous === undefined || this.#bad.has(newest) || this.#bad.has(previous)) return
    const floor = Math.min(previous + 1, this.#state.rooms.objects.oldestInlineEntry(), this.#seen.floorMax(this.#clock.monotonicMs()))
    await this.#log.truncate(Math.max(floor, await this.#log.floor()))
  }

  #due(): boolean {
    const sinceMs = this.#clock.monotonicMs() - this.#lastMs
    if (this.#entries === 0 || sinceMs < this.#waitMs) return false
    const { logBytes, entries, attachmentBytes, intervalMs } = this.#mine()
    return this.#bytes >= logBytes || this.#entries >= entries || this.#attachmentBytes >= attachmentBytes || sinceMs >= intervalMs
  }

  /** The policy of this pod: each waits somewhat longer than the one before it. */
  #mine(): SnapshotPolicy {
    if (!this.#log.shared) return this.#policy
    const factor = 1 + RANK_STEP * Math.min(this.#rank(), RANK_MAX)
    const { logBytes, entries, intervalMs } = this.#policy
    return { ...this.#policy, logBytes: logBytes * factor, entries: entries * factor, intervalMs: intervalMs * factor }
  }

  /** Another pod's snapshot counts as ours. */
  async #snapshotUnlessThere(): Promise<void> {
    const newest = this.#log.shared ? ((await this.#log.snapshots())[0] ?? 0) : 0
    const behind = this.#state.lastEntry - newest
    if (newest === 0 || this.#bad.has(newest) || behind >= this.#entries) return this.snapshot()
    this.#bytes *= behind / this.#entries
    this.#entries = behind
    this.#lastMs = this.#clock.monotonicMs()
  }

  #start(): void {
    if (this.#started || this.#closed) return
    this.#started = true
    this.#snapshotUnlessThere()
      .catch((error: unknown) =>
        this.#logger.warn({ reason: String(error) }, 'a metadata snapshot could not be written: it will be tried again'),
      )
      .finally(() => {
        this.#started = false
      })
  }

  async #tidy(): Promise<void> {
    try {
      if (this.#entries === 0) await this.#touch()
      this.#start()
    } catch (error) {
      this.#logger.warn({ reason: String(error) }, 'the metadata log could not be tidied: it will be tried again')
    }
  }

  #arm(): void {
    this.#timer = this.#clock.timer(Math.min(this.#policy.intervalMs, this.#policy.quietMs), () => {
      if (this.#due()) this.#start()
      else if (!this.#started && this.#wasteful()) void this.#tidy()
      if (!this.#closed) this.#arm()
    })
  }
}
