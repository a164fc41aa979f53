import type { Registry } from 'prom-client'
import type { Clock } from '../base/clock.ts'
import { FrazilError, hasCode } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import { type Applied, followEntry } from './apply/apply.ts'
import type { Command, Result } from './commands.ts'
import type { EntryLog, RawEntry } from './entryLog.ts'
import { Flight, settleLanded } from './flight.ts'
import { type EngineMetrics, engineMetrics } from './metrics.ts'
import type { AppliedChange } from './port.ts'
import { type Group, ProposalQueue, groupEntry } from './queue.ts'
import { type Forwarded, Offers, type Relay, type SharedMetadata } from './relay.ts'
import { loadRooms } from './snapshot/load.ts'
import type { State } from './state/state.ts'
import { isRefusal, isTransient, LogTail, retryWaits } from './tail.ts'

export interface EngineOptions {
  readonly log: EntryLog
  readonly clock: Clock
  readonly logger: Logger
  readonly registry: Registry
  /** Called once when the engine cannot go on (FENCED, LOG_CORRUPT, LEVEL_UNKNOWN); the process should end. */
  readonly onStop?: (error: FrazilError) => void
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
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #metrics: EngineMetrics
  readonly #tail: LogTail
  readonly #queue: ProposalQueue
  readonly #listeners = new Set<(change: AppliedChange) => void>()
  readonly #onStop: (error: FrazilError) => void
  readonly #abort = new AbortController()
  #snapshots: Snapshots | null = null
  #incarnation = 0
  #nodeId = -1
  #stopped: FrazilError | null = null
  #retiring = false
  /** The log refused the last group. */
  #refused = false
  #writing = false
  #writer: Promise<void> = Promise.resolve()
  #relay: Relay | null = null
  /** Proposals of ours that were forwarded and have not landed. */
  #flight: Flight | null = null
  readonly #offers = new Offers()
  /** An append of ours, or a reload, is under way: offered entries wait. */
  #holding = false
  readonly #writtenListeners = new Set<(raw: RawEntry) => void>()
  #turn: Promise<void> = Promise.resolve()
  /** A barrier that has not begun to ask the log yet: later callers join it. */
  #nextBarrier: Promise<void> | null = null
  #runningBarrier: Promise<void> = Promise.resolve()

  /** `state` is what the log held when it was opened; openMetadata makes it. */
  constructor(state: State, options: EngineOptions) {
    this.state = state
    this.#log = options.log
    this.#clock = options.clock
    this.#logger = options.logger
    this.#metrics = engineMetrics(options.registry, state, options.log)
    this.#tail = new LogTail(options.log, options.logger, this.#metrics, (waitMs) => this.#sleep(waitMs))
    this.#queue = new ProposalQueue(options.log.attachmentMaxBytes)
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
  }

  propose(command: Command, attachment?: readonly Uint8Array[]): Promise<Result> {
    if (this.#stopped !== null) return Promise.reject(this.#stopped)
    return new Promise((resolve, reject) => {
      this.#queue.push(command, attachment, { resolve: (results) => resolve(results[0]), reject })
      this.#wake()
    })
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

  useRelay(relay: Relay): void {
    this.#relay = relay
  }

  onWritten(listener: (raw: RawEntry) => void): () => void {
    this.#writtenListeners.add(listener)
    return () => this.#writtenListeners.delete(listener)
  }

  offer(raw: RawEntry): boolean {
    if (this.#stopped !== null || raw.number <= this.state.lastEntry) return true
    this.#offers.put(raw)
    if (this.#holding) return true
    this.#takeOffers()
    return this.state.lastEntry >= raw.number
  }

  proposeForwarded(forwarded: Forwarded): Promise<number> {
    if (this.#stopped !== null) return Promise.reject(this.#stopped)
    return new Promise((resolve, reject) => {
      this.#queue.pushForwarded(forwarded, { resolve: (_, entry) => resolve(entry), reject })
      this.#wake()
    })
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
    await this.#writer
    await this.#turn
    this.#queue.fail(closed)
    await this.#snapshots?.close()
    await this.#log.close()
  }

  /** Runs `task` after what is under way at the log's end; an error of it stops the engine. */
  #take(task: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(task).catch((error: unknown) => this.#stop(error))
    return this.#turn
  }

  #stop(error: unknown): void {
    const reason = asFrazilError(error)
    const first = this.#stopped === null || this.#stopped.code === 'CLOSED'
    this.#stopped ??= reason
    this.#queue.fail(reason)
    this.#abort.abort()
    if (!first || reason.code === 'CLOSED') return
    this.#logger.error({ code: reason.code, err: reason }, reason.message)
    this.#onStop(reason)
  }

  /** Writes groups, one after the other, until none is left. With nothing in flight a proposal leaves at once. */
  #wake(): void {
    if (this.#writing) return
    this.#writing = true
    this.#writer = Promise.resolve().then(async () => {
      while (this.#queue.length > 0) await this.#writeNext()
      this.#writing = false
    })
  }

  async #writeNext(): Promise<void> {
    const group = this.#queue.take()
    const flight = await this.#forward(group)
    await this.#take(async () => {
      try {
        await this.#writeGroup(group, flight)
      } catch (error) {
        const reason = asFrazilError(error)
        for (const { reject } of group.pendings) reject(reason)
        if (!isRefusal(reason)) throw reason
        if (!this.#refused) this.#logger.warn({ reason: reason.message }, 'the metadata log takes no entries: proposals fail until it does')
        this.#refused = true
        this.#queue.fail(reason)
      } finally {
        this.#flight = null
      }
    })
  }

  /**
   * Hands the group to the pod that writes the log now, and waits for what the log says of it. null when it was not handed over. Whoever
   * gave a group up after a refusal may still see it land, so the next one is numbered by the log, and written here.
   */
  async #forward(group: Group): Promise<Flight | null> {
    const own = this.state.rooms.podRows.incarnations.get(this.#incarnation)
    const plain = group.attachmentBytes === 0 && group.pendings.every((pending) => pending.foreign === null)
    if (this.#relay === null || this.#refused || own === undefined || !plain || this.#stopped !== null) return null
    const proposals = group.pendings.flatMap((pending) => pending.proposals)
    const firstSequence = own.lastSequence + 1
    const sent = this.#relay.forward({ incarnation: this.#incarnation, firstSequence, proposals })
    if (sent === null) return null
    const flight = new Flight(this.#incarnation, firstSequence, proposals.length)
    this.#flight = flight
    const outcome = await sent
    if (flight.results(this.state.rooms) === null && this.#stopped === null) {
      if (outcome.kind === 'written') await this.#take(() => this.#catchUp(outcome.entry))
      else await this.barrier().catch(() => undefined) // the write that follows meets what is wrong
    }
    return flight
  }

  /** Until the group is in the log: its number and sequences change only after another writer took the number. */
  async #writeGroup(given: Group, flight: Flight | null): Promise<void> {
    for (let group = given; ;) {
      const { rooms } = this.state
      group = settleLanded(group, flight, rooms)
      if (group.pendings.length === 0) return
      if (this.#stopped !== null && this.#stopped.code !== 'CLOSED') throw this.#stopped
      const own = rooms.podRows.incarnations.get(this.#incarnation)
      if (own?.live === false) throw this.#fenced()
      const number = rooms.lastEntry + 1
      const head = {
        number,
        previousHash: rooms.lastHash,
        timeMs: Math.max(Math.trunc(this.#clock.wallMs()), rooms.lastTimeMs),
        writer: this.#incarnation,
        attachmentBytes: group.attachmentBytes,
      }
      const bytes = groupEntry(head, group, this.#incarnation, flight?.firstSequence ?? (own?.lastSequence ?? 0) + 1)
      const startMs = this.#clock.monotonicMs()
      this.#holding = true
      const written = await this.#tail.append(number, bytes, group.attachment).finally(() => (this.#holding = false))
      if (written) {
        this.#metrics.appendSeconds.observe((this.#clock.monotonicMs() - startMs) / 1000)
        this.#metrics.entries.inc()
        this.#metrics.proposals.inc(group.pendings.length)
        if (this.#refused) this.#logger.info({ entry: number }, 'the metadata log takes entries again')
        this.#refused = false
        const raw = { number, bytes, attachmentBytes: group.attachmentBytes }
        const { results } = this.#apply(raw)
        let at = 0
        for (const { proposals, resolve } of group.pendings) resolve(results.slice(at, (at += proposals.length)), number)
        for (const listener of this.#writtenListeners) listener(raw)
        this.#takeOffers()
        return
      }
      this.#metrics.conflicts.inc()
      await this.#catchUp(number)
    }
  }

  /** Applies offered entries that are next. */
  #takeOffers(): void {
    for (let raw = this.#offers.take(this.state.lastEntry + 1); raw !== null; raw = this.#offers.take(this.state.lastEntry + 1)) {
      try {
        this.#apply(raw)
      } catch (error) {
        this.#offers.clear()
        if (!hasCode(error, 'LOG_CORRUPT')) return this.#stop(error)
        // The stream proves nothing: the log says what this entry is.
        this.#logger.warn({ entry: raw.number, reason: error.message }, 'a streamed entry does not follow from the state in memory')
        return
      }
    }
  }

  /** Applies what others wrote, at least up to `number`. */
  async #catchUp(number: number): Promise<void> {
    let reloaded = false
    for (const waitMs of retryWaits()) {
      try {
        this.#takeOffers()
        if (this.state.lastEntry < number) {
          // A peer's stream may be faster than the log: what it brought is passed over.
          for await (const raw of this.#log.read(this.state.lastEntry + 1)) if (raw.number > this.state.lastEntry) this.#apply(raw)
        }
        if (this.state.lastEntry >= number) return
      } catch (error) {
        // A chain that does not go on from here, or entries that were truncated meanwhile.
        if ((hasCode(error, 'LOG_CORRUPT') || hasCode(error, 'STORE_NOT_FOUND')) && !reloaded) {
          reloaded = true
          await this.#reload(error)
          continue
        }
        if (!isTransient(error)) throw error
        this.#logger.warn({ entry: number, waitMs }, 'the metadata log cannot be read: trying again')
      }
      await this.#sleep(waitMs)
    }
  }

  /** The log does not follow from this state: drops the state and takes what the log says from the start (L3). */
  async #reload(cause: FrazilError): Promise<void> {
    this.#logger.warn({ reason: cause.message }, 'the metadata log does not follow from the state in memory: loading it anew')
    this.#holding = true
    const { rooms } = await loadRooms(this.#log, this.#logger).finally(() => (this.#holding = false))
    this.state.rooms = rooms
    this.#tell({ entry: rooms.lastEntry, appended: [], other: true })
    this.#checkLive()
  }

  async #passBarrier(): Promise<void> {
    const end = await this.#tail.end()
    if (this.state.lastEntry < end) await this.#take(() => this.#catchUp(end))
    if (this.#stopped !== null && this.state.lastEntry < end) throw this.#stopped
  }

  #apply(raw: RawEntry): Applied {
    const applied = followEntry(this.state.rooms, raw)
    this.#flight?.note(applied)
    this.#snapshots?.note(raw)
    this.#tell(applied.change)
    this.#checkLive()
    return applied
  }

  #tell(change: AppliedChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        this.#logger.error({ err: error, entry: change.entry }, 'a listener of applied entries failed')
      }
    }
  }

  #checkLive(): void {
    if (this.state.rooms.podRows.incarnations.get(this.#incarnation)?.live !== false) return
    this.#stop(this.#retiring ? new FrazilError('CLOSED', 'this process has left') : this.#fenced())
  }

  #fenced(): FrazilError {
    return new FrazilError('FENCED', `incarnation ${this.#incarnation} was fenced: another process took over this pod`)
  }

  async #sleep(waitMs: number): Promise<void> {
    await this.#clock.sleep(waitMs, this.#abort.signal)
    if (this.#stopped !== null) throw this.#stopped
  }
}

function asFrazilError(error: unknown): FrazilError {
  return error instanceof FrazilError ? error : new FrazilError('LOG_CORRUPT', `the metadata engine failed: ${String(error)}`, error)
}
