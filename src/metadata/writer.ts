import type { Clock } from '../base/clock.ts'
import { FrazilError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { Applied } from './apply/apply.ts'
import { type ProposalBytes, assembleEntry, encodeCommand } from './codec.ts'
import type { RawEntry } from './entryLog.ts'
import type { Follower } from './follower.ts'
import type { EngineMetrics } from './metrics.ts'
import { Pending, type ProposalQueue } from './queue.ts'
import type { Relay } from './relay.ts'
import type { Incarnation } from './state/pods.ts'
import type { State } from './state/state.ts'
import { isRefusal, type LogTail } from './tail.ts'

/** How long the stream may lag behind the answer that proposals were written, before the log is read instead. */
const STREAM_WAIT_MS = 100
/** Takes the place of a sequence that must not be used again for something else. */
const NOTHING = encodeCommand({ kind: 'enqueueDeletions', items: [] })

export interface WriterOptions {
  readonly state: State
  readonly queue: ProposalQueue
  readonly tail: LogTail
  readonly follower: Follower
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: EngineMetrics
  /** 0 until this process is registered. */
  readonly incarnation: () => number
  /** Why the engine stopped, or null. */
  readonly stopped: () => FrazilError | null
  /** Ends waits when the engine stops. */
  readonly abort: AbortSignal
  /** Runs a step at the log's end after the one under way; an error of it stops the engine. */
  readonly take: (step: () => Promise<void>) => Promise<void>
}

/**
 * Brings proposals into the log, one group at a time: as an entry of ours, or through the pod that writes the log now (L21).
 * A proposal that was forwarded keeps its sequence until the log tells its outcome, so that it applies once whoever wrote it
 * (L1); one that only we tried to write is numbered anew after another writer took the entry's number.
 */
export class Writer {
  readonly #options: WriterOptions
  /** Forwarded proposals by sequence, until they are applied. */
  readonly #flying = new Map<number, Pending>()
  relay: Relay | null = null
  #writing: Promise<void> | null = null
  /** A group that the relay did not take. */
  #held: readonly Pending[] | null = null
  /** The log refused the last group: whether its entry turns up later is open until the number is taken. */
  #refused = false
  /** Sequences up to here may turn up in another pod's entry: what was given up. */
  #burnt = 0

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** Writes until nothing waits. With nothing in flight a proposal leaves at once. */
  start(): void {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null
      if (this.#options.queue.length > 0) this.start()
    })
  }

  /** Resolves when nothing is being written. */
  async idle(): Promise<void> {
    while (this.#writing !== null) await this.#writing
  }

  /** Answers forwarded proposals that an entry holds. */
  settle(raw: RawEntry, { proposals, results }: Applied): void {
    if (this.#flying.size === 0) return
    const own = this.#options.incarnation()
    const last = this.#options.state.rooms.podRows.incarnations.get(own)?.lastSequence ?? 0
    proposals.forEach(({ incarnation, sequence }, i) => {
      const pending = incarnation === own ? this.#flying.get(sequence) : undefined
      // One that was refused for a gap is not applied, and comes again.
      if (pending === undefined || sequence > last) return
      this.#flying.delete(sequence)
      pending.resolve(results[i], raw.number)
    })
  }

  /** Ends everything under way that the log has not answered. */
  fail(error: FrazilError): void {
    for (const pending of this.#flying.values()) pending.reject(error)
    this.#flying.clear()
  }

  async #writeAll(): Promise<void> {
    const { queue, take } = this.#options
    while (queue.length > 0 || this.#held !== null) {
      if (await this.#forward()) continue
      await take(() => this.#writeNext())
    }
  }

  /** True when a group went through the relay, and all of it is answered. */
  async #forward(): Promise<boolean> {
    const { queue, state, follower, clock, abort, take } = this.#options
    const incarnation = this.#options.incarnation()
    if (this.relay === null || this.#refused || this.#held !== null || incarnation === 0 || abort.aborted) return false
    const group = queue.take()
    this.#held = group
    const own = state.rooms.podRows.incarnations.get(incarnation)
    if (own?.live !== true || group.some(({ foreign, attachmentBytes }) => foreign > 0 || attachmentBytes > 0)) return false
    const numbered = this.#number(own, group)
    const firstSequence = own.lastSequence + 1
    const sent = this.relay.forward({ incarnation, firstSequence, proposals: numbered.map(({ bytes }) => bytes) })
    if (sent === null) return false
    this.#held = null
    const { reloads } = follower
    for (const pending of group) {
      pending.frozen = true
      this.#flying.set(pending.sequence, pending)
    }
    const outcome = await sent
    if (outcome.kind === 'written' && !settled(group)) await this.#streamed(outcome.entry, abort, clock)
    if (!settled(group) && !abort.aborted) await take(() => follower.readOn())
    if (follower.reloads !== reloads) this.#unknown(group)
    if (settled(group)) return true
    this.#held = group
    return false
  }

  /** Waits a moment for the stream to bring entry `number`. */
  async #streamed(number: number, abort: AbortSignal, clock: Clock): Promise<void> {
    for (let waitMs = 1; this.#options.state.lastEntry < number && waitMs < STREAM_WAIT_MS && !abort.aborted; waitMs *= 2)
      await clock.sleep(waitMs, abort)
  }

  async #writeNext(): Promise<void> {
    const { queue, logger } = this.#options
    const group = this.#held ?? (queue.length > 0 ? queue.take() : [])
    this.#held = null
    try {
      const stopped = this.#options.stopped()
      if (stopped !== null && stopped.code !== 'CLOSED') throw stopped
      await this.#writeGroup(group)
    } catch (error) {
      const reason = asFrazilError(error)
      const refusal = isRefusal(reason)
      for (const pending of group) {
        if (pending.settled) continue
        if (pending.frozen) {
          this.#flying.delete(pending.sequence)
          this.#burnt = Math.max(this.#burnt, pending.sequence)
        }
        pending.reject(pending.frozen && refusal ? new FrazilError('LOG_UNAVAILABLE', unknownOutcome, reason) : reason)
      }
      if (!refusal) throw reason
      if (!this.#refused) logger.warn({ reason: reason.message }, 'the metadata log takes no entries: proposals fail until it does')
      this.#refused = true
      queue.fail(reason)
    }
  }

  /** Until the group is in the log. */
  async #writeGroup(group: readonly Pending[]): Promise<void> {
    const { state, tail, follower, clock, logger, metrics } = this.#options
    for (;;) {
      const { rooms } = state
      const own = this.#own()
      const waiting = group.filter((pending) => !this.#landed(pending))
      if (waiting.length === 0) return
      const number = rooms.lastEntry + 1
      const pendings = own === null ? waiting : this.#number(own, waiting)
      const attachment = pendings.flatMap((pending) => pending.attachment)
      const attachmentBytes = pendings.reduce((sum, pending) => sum + pending.attachmentBytes, 0)
      const timeMs = Math.max(Math.trunc(clock.wallMs()), rooms.lastTimeMs)
      const head = { number, previousHash: rooms.lastHash, timeMs, writer: own?.incarnation ?? 0, attachmentBytes }
      const bytes = assembleEntry(head, proposalBytes(pendings, own?.incarnation ?? 0))
      const startMs = clock.monotonicMs()
      if (await tail.append(number, bytes, attachment)) {
        metrics.appendSeconds.observe((clock.monotonicMs() - startMs) / 1000)
        metrics.entries.inc()
        metrics.proposals.inc(pendings.length)
        if (this.#refused) logger.info({ entry: number }, 'the metadata log takes entries again')
        this.#refused = false
        const { results } = follower.apply({ number, bytes, attachmentBytes }, true)
        pendings.forEach((pending, i) => {
          if (pending.frozen) this.#flying.delete(pending.sequence)
          pending.resolve(results[i], number)
        })
        return
      }
      metrics.conflicts.inc()
      const { reloads } = follower
      await follower.catchUp(number)
      this.#refused = false
      if (follower.reloads !== reloads) this.#unknown(waiting)
    }
  }

  /** Answered, or of another pod and brought by an entry of somebody else. */
  #landed(pending: Pending): boolean {
    const { lastEntry, podRows } = this.#options.state.rooms
    const last = podRows.incarnations.get(pending.foreign)?.lastSequence ?? 0
    if (pending.foreign > 0 && pending.sequence <= last) pending.resolve({ kind: 'ok' }, lastEntry)
    return pending.settled
  }

  /** This process in the state; null before it is registered. Errors: FENCED. */
  #own(): Incarnation | null {
    const incarnation = this.#options.incarnation()
    if (incarnation === 0) return null
    const own = this.#options.state.rooms.podRows.incarnations.get(incarnation)
    if (own?.live !== true) throw fenced(incarnation)
    return own
  }

  /** Gives sequences to what has none that must stay; what was given up leaves no gap. */
  #number(own: Incarnation, waiting: readonly Pending[]): readonly Pending[] {
    const pendings = [...this.#fillers(own), ...waiting]
    let next = own.lastSequence + 1
    for (const pending of pendings) {
      if (pending.foreign > 0) continue
      if (!pending.frozen) pending.sequence = next
      next = pending.sequence + 1
    }
    return pendings
  }

  #fillers({ lastSequence }: Incarnation): readonly Pending[] {
    const ignore = (): void => {}
    return Array.from({ length: Math.max(0, this.#burnt - lastSequence) }, () => new Pending(NOTHING, {}, ignore, ignore))
  }

  /** After the state was loaded anew: what has been applied meanwhile is known, its answer is not. */
  #unknown(pendings: readonly Pending[]): void {
    const own = this.#options.state.rooms.podRows.incarnations.get(this.#options.incarnation())
    for (const pending of pendings) {
      if (pending.settled || pending.foreign > 0 || pending.sequence === 0 || pending.sequence > (own?.lastSequence ?? 0)) continue
      this.#flying.delete(pending.sequence)
      pending.reject(new FrazilError('LOG_UNAVAILABLE', unknownOutcome))
    }
  }
}

const unknownOutcome = 'the outcome of a proposal is not known: it may have been applied'

export function fenced(incarnation: number): FrazilError {
  return new FrazilError('FENCED', `incarnation ${incarnation} was fenced: another process took over this pod`)
}

export function asFrazilError(error: unknown): FrazilError {
  return error instanceof FrazilError ? error : new FrazilError('LOG_CORRUPT', `the metadata engine failed: ${String(error)}`, error)
}

function settled(pendings: readonly Pending[]): boolean {
  return pendings.every((pending) => pending.settled)
}

/** What stands in the entry; a proposal without an incarnation is a registration. */
function proposalBytes(pendings: readonly Pending[], own: number): readonly ProposalBytes[] {
  let attachmentOffset = 0
  return pendings.map(({ bytes, attachmentBytes, foreign, sequence }): ProposalBytes => {
    const offset = attachmentBytes === 0 ? 0 : attachmentOffset
    attachmentOffset += attachmentBytes
    const incarnation = foreign > 0 ? foreign : own
    return { incarnation, sequence: incarnation === 0 ? 0 : sequence, attachmentOffset: offset, bytes }
  })
}
