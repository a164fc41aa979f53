import type { Registry } from 'prom-client'
import type { Clock } from '../base/clock.ts'
import { FrazilError, hasCode } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { Applied } from './apply/apply.ts'
import type { Command, Result } from './commands.ts'
import type { EntryLog, RawEntry } from './entryLog.ts'
import { Follower } from './follower.ts'
import { type EngineMetrics, engineMetrics } from './metrics.ts'
import { DEFAULT_POLL_POLICY, type PollPolicy, TailPoller } from './poller.ts'
import type { AppliedChange } from './port.ts'
import { ProposalQueue } from './queue.ts'
import type { Forwarded, Relay, SharedMetadata } from './relay.ts'
import type { State } from './state/state.ts'
import { LogTail } from './tail.ts'
import { asFrazilError, fenced, Writer } from './writer.ts'

export interface EngineOptions {
  readonly log: EntryLog
  readonly clock: Clock
  readonly logger: Logger
  readonly registry: Registry
  /** Called once when the engine cannot go on (FENCED, LOG_CORRUPT, LEVEL_UNKNOWN); the process should end. */
  readonly onStop?: (error: FrazilError) => void
  /** How often the end of a shared log is looked at. */
  readonly poll?: Partial<PollPolicy>
}

/** What the engine knows of the snapshot schedule. */
export interface Snapshots {
  note(raw: RawEntry): void
  snapshot(): Promise<void>
  close(): Promise<void>
}

/** Somebody may renew the incarnation that leaves while it leaves. */
const RETIRE_TRIES = 5

/**
 * The state machine over a log: one entry of ours in flight, everything proposed meanwhile goes into the next one.
 * Everything that touches the log's end (append, catching up) runs one after the other in `#turn`.
 */
export class MetadataEngine implements SharedMetadata {
  readonly state: State
  readonly #log: EntryLog
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #metrics: EngineMetrics
  readonly #tail: LogTail
  readonly #queue: ProposalQueue
  readonly #follower: Follower
  readonly #writer: Writer
  readonly #poller: TailPoller
  readonly #listeners = new Set<(change: AppliedChange) => void>()
  readonly #writtenListeners = new Set<(raw: RawEntry) => void>()
  readonly #onStop: (error: FrazilError) => void
  readonly #abort = new AbortController()
  #snapshots: Snapshots | null = null
  #unwatch: () => void = () => {}
  #incarnation = 0
  #nodeId = -1
  #stopped: FrazilError | null = null
  #retiring = false
  #turn: Promise<void> = Promise.resolve()
  /** Steps at the log's end that run or wait: offered entries wait for them. */
  #steps = 0
  /** A barrier that has not begun to ask the log yet: later callers join it. */
  #nextBarrier: Promise<void> | null = null
  #runningBarrier: Promise<void> = Promise.resolve()

  /** `state` is what the log held when it was opened; openMetadata makes it. */
  constructor(state: State, options: EngineOptions) {
    const { log, logger, clock } = options
    this.state = state
    this.#log = log
    this.#logger = logger
    this.#clock = clock
    this.#metrics = engineMetrics(options.registry, state, log)
    const sleep = (waitMs: number): Promise<void> => this.#sleep(waitMs)
    this.#tail = new LogTail(log, logger, this.#metrics, sleep)
    this.#queue = new ProposalQueue(log.attachmentMaxBytes)
    this.#follower = new Follower({
      state,
      log,
      logger,
      sleep,
      applied: (raw, applied, ours) => this.#applied(raw, applied, ours),
      reloaded: (change) => {
        this.#tell(change)
        this.#checkLive()
      },
    })
    this.#writer = new Writer({
      state,
      queue: this.#queue,
      tail: this.#tail,
      follower: this.#follower,
      clock,
      logger,
      metrics: this.#metrics,
      incarnation: () => this.#incarnation,
      stopped: () => this.#stopped,
      abort: this.#abort.signal,
      take: (step) => this.#take(step),
    })
    this.#poller = new TailPoller(clock, { ...DEFAULT_POLL_POLICY, ...options.poll }, () => this.#look())
    this.#onStop = options.onStop ?? (() => {})
  }

  get incarnation(): number {
    return this.#incarnation
  }

  get nodeId(): number {
    return this.#nodeId
  }

  get attachmentMaxBytes(): number {
    return this.#log.attachmentMaxBytes
  }

  get metrics(): EngineMetrics {
    return this.#metrics
  }

  /** Why the engine stopped, or null. */
  get stopped(): FrazilError | null {
    return this.#stopped
  }

  /** Registers this process (L1); openMetadata does it before anything else is proposed. */
  async register(command: Extract<Command, { kind: 'registerIncarnation' }>): Promise<void> {
    const result = await this.propose(command)
    if (result.kind !== 'incarnation')
      throw new FrazilError('LEVEL_UNKNOWN', result.kind === 'refused' ? result.reason : 'the registration was not answered')
    this.#incarnation = result.incarnation
    this.#nodeId = result.nodeId
    if (!this.#log.shared) return
    this.#unwatch = this.#log.watch(() => this.#poller.wake())
    this.#poller.start()
  }

  propose(command: Command, attachment?: readonly Uint8Array[]): Promise<Result> {
    if (this.#stopped !== null) return Promise.reject(this.#stopped)
    return new Promise((resolve, reject) => {
      this.#queue.push(command, attachment, { resolve, reject })
      this.#writer.start()
    })
  }

  async proposeForwarded({ incarnation, firstSequence, proposals }: Forwarded): Promise<number> {
    if (this.#stopped !== null) throw this.#stopped
    const entries = proposals.map(
      (bytes, i) =>
        new Promise<number>((resolve, reject) => {
          this.#queue.pushForeign(incarnation, firstSequence + i, bytes, { resolve: (_, entry) => resolve(entry), reject })
        }),
    )
    this.#writer.start()
    return Math.max(0, ...(await Promise.all(entries)))
  }

  useRelay(relay: Relay | null): void {
    this.#writer.relay = relay
  }

  onWritten(listener: (raw: RawEntry) => void): () => void {
    this.#writtenListeners.add(listener)
    return () => this.#writtenListeners.delete(listener)
  }

  offer(raw: RawEntry): boolean {
    if (this.#stopped !== null || raw.number <= this.state.lastEntry) return true
    this.#follower.offer(raw)
    if (this.#steps > 0) return true
    this.#takeOffers()
    return this.state.lastEntry >= raw.number
  }

  wake(): void {
    this.#poller.wake()
  }

  streaming(healthy: boolean): void {
    this.#poller.streaming(healthy)
  }

  barrier(): Promise<void> {
    if (this.#stopped !== null) return Promise.reject(this.#stopped)
    this.#nextBarrier ??= this.#runningBarrier.then(() => {
      this.#nextBarrier = null
      const running = this.#passBarrier()
      this.#runningBarrier = running.catch(() => {})
      return running
    })
    return this.#nextBarrier
  }

  onApplied(listener: (change: AppliedChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readAttachment(entry: number, start: number, end: number): Promise<Buffer> {
    return this.#log.readAttachment(entry, start, end)
  }

  async retire(): Promise<void> {
    this.#retiring = true
    for (let tries = 0; tries < RETIRE_TRIES && this.#stopped === null; tries++) {
      const own = this.state.rooms.podRows.incarnations.get(this.#incarnation)!
      await this.propose({ kind: 'fenceIncarnation', incarnation: this.#incarnation, renewals: own.renewals })
    }
  }

  /** `snapshots` hears of every entry applied and is closed before the log. */
  attach(snapshots: Snapshots): void {
    this.#snapshots = snapshots
  }

  /** Writes a snapshot of what is applied now; also done by policy. */
  async snapshot(): Promise<void> {
    await this.#snapshots?.snapshot()
  }

  /** Takes no more proposals, writes what is queued (once: what the log does not take now fails with CLOSED), closes the log. */
  async close(): Promise<void> {
    const closed = new FrazilError('CLOSED', 'the metadata engine is closed')
    this.#stopped ??= closed
    this.#abort.abort()
    this.#poller.close()
    this.#unwatch()
    await this.#writer.idle()
    await this.#turn
    this.#queue.fail(closed)
    this.#writer.fail(closed)
    await this.#snapshots?.close()
    await this.#log.close()
  }

  /** Runs `step` after what is under way at the log's end; an error of it stops the engine. */
  #take(step: () => Promise<void>): Promise<void> {
    this.#steps++
    this.#turn = this.#turn.then(step).then(
      () => this.#endStep(),
      (error: unknown) => {
        this.#steps--
        this.#stop(error)
      },
    )
    return this.#turn
  }

  #endStep(): void {
    // What came meanwhile and leaves a gap is looked up.
    if (--this.#steps === 0 && this.#stopped === null && !this.#takeOffers()) this.#poller.wake()
  }

  /** False when the log has to be asked. */
  #takeOffers(): boolean {
    try {
      return this.#follower.takeOffers()
    } catch (error) {
      this.#stop(error)
      return true
    }
  }

  #stop(error: unknown): void {
    const reason = asFrazilError(error)
    const first = this.#stopped === null || this.#stopped.code === 'CLOSED'
    this.#stopped ??= reason
    this.#queue.fail(reason)
    this.#writer.fail(reason)
    this.#abort.abort()
    this.#poller.close()
    if (!first || reason.code === 'CLOSED') return
    this.#logger.error({ code: reason.code, err: reason }, reason.message)
    this.#onStop(reason)
  }

  /** Applies what others wrote meanwhile; true when there was something. */
  async #look(): Promise<boolean> {
    const before = this.state.lastEntry
    await this.#take(() => (this.#stopped === null ? this.#follower.readOn() : Promise.resolve()))
    return this.state.lastEntry > before
  }

  async #passBarrier(): Promise<void> {
    try {
      const end = await this.#tail.end()
      if (this.state.lastEntry < end) await this.#take(() => this.#follower.catchUp(end))
      if (this.#stopped !== null && this.state.lastEntry < end) throw this.#stopped
    } catch (error) {
      // A log that lost entries, or that nobody can follow: no answer from this state is right any more.
      if (hasCode(error, 'LOG_CORRUPT')) this.#stop(error)
      throw error
    }
  }

  #applied(raw: RawEntry, applied: Applied, ours: boolean): void {
    this.#snapshots?.note(raw)
    if (ours) this.#poller.seen()
    this.#writer.settle(raw, applied)
    this.#tell(applied.change)
    if (ours) for (const listener of this.#writtenListeners) this.#safely(raw.number, () => listener(raw))
    this.#checkLive()
  }

  #tell(change: AppliedChange): void {
    for (const listener of this.#listeners) this.#safely(change.entry, () => listener(change))
  }

  #safely(entry: number, call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#logger.error({ err: error, entry }, 'a listener of applied entries failed')
    }
  }

  #checkLive(): void {
    if (this.#incarnation === 0) return
    if (this.state.rooms.podRows.incarnations.get(this.#incarnation)?.live === true) return
    this.#stop(this.#retiring ? new FrazilError('CLOSED', 'this process has left') : fenced(this.#incarnation))
  }

  async #sleep(waitMs: number): Promise<void> {
    await this.#clock.sleep(waitMs, this.#abort.signal)
    if (this.#stopped !== null) throw this.#stopped
  }
}
