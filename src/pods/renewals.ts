import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Metadata } from '../metadata/port.ts'
import type { Peers } from './peers.ts'
import type { PodTimings } from './port.ts'
import type { LogWriter } from './writer.ts'

/** An incarnation as it was last seen to move. */
interface Seen {
  renewals: number
  /** Our own counter at that time. */
  ownRenewals: number
  atMs: number
}

export interface RenewalsOptions {
  readonly metadata: Metadata
  readonly peers: Peers
  readonly writer: LogWriter
  readonly clock: Clock
  readonly logger: Logger
  readonly timings: PodTimings
}

/**
 * Renews incarnations and fences those that do not (L6, L22, L23). The pod that writes the log renews everyone whose heartbeats it hears, in
 * one entry; a pod that it does not renew does so itself. Silence of another is counted in renewals of ours: they move only while the
 * log takes entries and this process runs, so a log that was away for an hour, or a pod that slept, expires nobody.
 */
export class Renewals {
  readonly #options: RenewalsOptions
  readonly #seen = new Map<number, Seen>()
  #renewedMs: number
  #busy = false

  constructor(options: RenewalsOptions) {
    this.#options = options
    this.#renewedMs = options.clock.monotonicMs()
  }

  /** Called with every heartbeat. */
  tick(): void {
    const { metadata, clock, timings, writer } = this.#options
    this.#look()
    if (this.#busy) return
    const own = this.#seen.get(metadata.incarnation)
    if (own === undefined) return
    const nowMs = clock.monotonicMs()
    const due = writer.isHolder ? this.#renewedMs + timings.renewMs : own.atMs + timings.renewMs * 1.5
    if (nowMs >= due) this.#run(() => this.#renew(), 'incarnations could not be renewed: it is tried again')
    else {
      const silent = this.#silent(nowMs)
      if (silent !== null) this.#run(() => this.#expire(silent), 'a silent incarnation could not be fenced: it is tried again')
    }
  }

  /** Takes note of the counters that moved. */
  #look(): void {
    const { metadata, clock } = this.#options
    const live = new Set<number>()
    const ownRenewals = [...metadata.state.livePods()].find((pod) => pod.incarnation === metadata.incarnation)?.renewals ?? 0
    for (const { incarnation, renewals } of metadata.state.livePods()) {
      live.add(incarnation)
      const seen = this.#seen.get(incarnation)
      if (seen?.renewals === renewals) continue
      // How old our own counter is when we first look is not known: others may have seen it when this process began.
      const isOwnStart = seen === undefined && incarnation === metadata.incarnation
      this.#seen.set(incarnation, { renewals, ownRenewals, atMs: isOwnStart ? this.#renewedMs : clock.monotonicMs() })
    }
    for (const incarnation of this.#seen.keys()) if (!live.has(incarnation)) this.#seen.delete(incarnation)
  }

  #run(task: () => Promise<void>, failure: string): void {
    this.#busy = true
    task()
      .catch((error: unknown) => this.#options.logger.warn({ reason: String(error) }, failure))
      .finally(() => (this.#busy = false))
  }

  async #renew(): Promise<void> {
    const { metadata, peers, writer, clock } = this.#options
    const heard = (incarnation: number): boolean => incarnation === metadata.incarnation || (writer.isHolder && peers.healthy(incarnation))
    const items = [...metadata.state.livePods()]
      .filter((pod) => heard(pod.incarnation))
      .map(({ incarnation, renewals }) => ({ incarnation, renewals }))
    this.#renewedMs = clock.monotonicMs()
    await metadata.propose({ kind: 'renewIncarnations', items })
  }

  /** Who let our last renewals pass without one of its own. */
  #silent(nowMs: number): number | null {
    const { metadata, timings } = this.#options
    const own = this.#seen.get(metadata.incarnation)!
    for (const [incarnation, seen] of this.#seen) {
      if (incarnation === metadata.incarnation) continue
      const passed = own.renewals - seen.ownRenewals
      if (passed >= timings.expireRenewals && nowMs - seen.atMs >= timings.renewMs * (timings.expireRenewals - 0.5)) return incarnation
    }
    return null
  }

  async #expire(incarnation: number): Promise<void> {
    const { metadata, logger } = this.#options
    const renewals = this.#seen.get(incarnation)?.renewals
    await metadata.barrier()
    this.#look()
    if (renewals === undefined || this.#seen.get(incarnation)?.renewals !== renewals) return
    const result = await metadata.propose({ kind: 'fenceIncarnation', incarnation, renewals })
    if (result.kind === 'ok')
      logger.warn({ incarnation, pod: metadata.state.incarnation(incarnation)?.pod }, 'a pod fell silent and was fenced')
  }
}
