import type { Clock, Timer } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import type { Forwarded, ForwardOutcome, Relay } from '../metadata/relay.ts'
import { LOG_LEASE, type Metadata } from '../metadata/port.ts'
import type { Members } from './members.ts'
import type { Peers } from './peers.ts'
import type { PodTimings } from './port.ts'

const UNKNOWN: ForwardOutcome = { kind: 'unknown' }
/** Between two pods that try to take the lease; one after the other, in the order that all agree on. */
const STEP_MS = 150

export interface LogWriterOptions {
  readonly metadata: Metadata
  readonly members: Members
  readonly peers: Peers
  readonly clock: Clock
  readonly logger: Logger
  readonly random: Random
  readonly timings: PodTimings
}

/**
 * Who writes the log (L21): a convention that keeps pods from racing for the next entry. It is taken from a holder that is gone, leaves, or
 * whose link is silent; slow entries are not silence. Whoever cannot reach the holder writes the next entry itself.
 */
export class LogWriter implements Relay {
  readonly #options: LogWriterOptions
  #takeover: Timer | null = null
  #taking = false

  constructor(options: LogWriterOptions) {
    this.#options = options
  }

  /** The incarnation that writes; 0 for none that lives. */
  get holder(): number {
    const { state } = this.#options.metadata
    const { owner } = state.lease(LOG_LEASE)
    return owner !== 0 && state.incarnation(owner)?.live === true ? owner : 0
  }

  get isHolder(): boolean {
    return this.holder === this.#options.metadata.incarnation
  }

  forward({ incarnation, firstSequence, proposals }: Forwarded): Promise<ForwardOutcome> | null {
    const { holder } = this
    if (holder === 0 || this.isHolder) return null
    const sent = this.#options.peers.call(holder, this.#options.timings.forwardMs, (id) => {
      return { type: 'forward', id, incarnation, firstSequence, proposals }
    })
    if (sent === null) return null
    return sent.then((answer) => (answer?.type === 'forwarded' && answer.entry > 0 ? { kind: 'written', entry: answer.entry } : UNKNOWN))
  }

  /** Looks whether the lease should move; called with every heartbeat and change. */
  tick(): void {
    const { metadata, members, peers, clock, random } = this.#options
    const { holder } = this
    const silent = holder === 0 || peers.suspected(holder) || !members.ready(holder)
    const rank = members.rank(metadata.incarnation)
    if (!silent || rank < 0 || this.#taking) {
      if (!silent) this.#cancel()
      return
    }
    this.#takeover ??= clock.timer(rank === 0 ? 0 : rank * STEP_MS + random() * STEP_MS, () => {
      this.#takeover = null
      void this.#take()
    })
  }

  close(): void {
    this.#cancel()
    this.#taking = true
  }

  /** Gives the lease to the pod that comes next; for one that leaves. */
  async handOver(): Promise<void> {
    const { metadata, members } = this.#options
    this.close()
    const next = members.nodes().find((member) => member.incarnation !== metadata.incarnation)
    if (!this.isHolder || next === undefined) return
    const { term } = metadata.state.lease(LOG_LEASE)
    await metadata.propose({ kind: 'moveLease', name: LOG_LEASE, owner: next.incarnation, term })
  }

  #cancel(): void {
    this.#takeover?.cancel()
    this.#takeover = null
  }

  async #take(): Promise<void> {
    const { metadata, members, peers, logger } = this.#options
    const { holder } = this
    if (holder !== 0 && !peers.suspected(holder) && members.ready(holder)) return
    this.#taking = true
    try {
      const { term } = metadata.state.lease(LOG_LEASE)
      const result = await metadata.propose({ kind: 'moveLease', name: LOG_LEASE, owner: metadata.incarnation, term })
      if (result.kind === 'lease') logger.info({ term: result.term, before: holder }, 'this pod writes the metadata log now')
    } catch (error) {
      logger.warn({ reason: String(error) }, 'the log lease could not be taken: it is tried again')
    } finally {
      this.#taking = false
    }
  }
}
