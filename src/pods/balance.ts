import type { Logger } from '../base/log.ts'
import type { Metadata } from '../metadata/port.ts'
import { SHARDS } from '../metadata/state/shards.ts'
import type { Members } from './members.ts'
import { mix, rendezvous } from '../base/rendezvous.ts'

export interface BalanceOptions {
  readonly metadata: Metadata
  readonly members: Members
  readonly logger: Logger
  /** This pod writes the log: it also moves the shards of pods that are lost. */
  readonly isHolder: () => boolean
  readonly lost: (incarnation: number) => boolean
}

/** A pod that comes, or comes back, is given its shards when nothing has changed for so many looks: moving them is felt by their groups. */
const QUIET_LOOKS = 4

/**
 * Keeps coordinator shards with live pods (L19). Each shard has one place among the ready pods (rendezvous hashing), so few move when a pod
 * comes or goes. Who moves what: an owner hands over; the place of a shard takes it from an owner that is gone; the log's writer moves those
 * of a pod that is lost. A move names the epoch that was seen, so two that move the same shard do it once.
 */
export class Balance {
  readonly #options: BalanceOptions
  #running: Promise<void> | null = null
  /** Members as at the last look, and for how many looks they have been the same. */
  #generation = -1
  #looks = 0

  constructor(options: BalanceOptions) {
    this.#options = options
  }

  /** Looks once; resolves when what this pod moves has moved. */
  tick(): Promise<void> {
    this.#running ??= this.#move(false).finally(() => (this.#running = null))
    return this.#running
  }

  /** Hands over every shard of this pod; for one that leaves. */
  async handOver(): Promise<void> {
    await this.#running
    await this.#move(true)
  }

  async #move(leaving: boolean): Promise<void> {
    const { metadata, members, logger, isHolder, lost } = this.#options
    const { state, incarnation } = metadata
    const ready = members.nodes().filter((member) => !(leaving && member.incarnation === incarnation))
    this.#looks = this.#generation === members.generation ? this.#looks + 1 : 0
    this.#generation = members.generation
    const quiet = this.#looks >= QUIET_LOOKS
    if (ready.length === 0) return
    const byNode = new Map(ready.map((member) => [member.nodeId, member.incarnation]))
    const shards: { shard: number; owner: number; epoch: number }[] = []
    for (let shard = 0; shard < SHARDS; shard++) {
      const { owner, epoch } = state.shard(shard)
      const place = byNode.get(rendezvous(mix(shard), byNode.keys()))!
      if (place === owner) continue
      const gone = owner === 0 || state.incarnation(owner)?.live !== true
      const mine = owner === incarnation && (leaving || quiet)
      const silent = isHolder() && lost(owner)
      if (mine || silent || (gone && place === incarnation)) shards.push({ shard, owner: place, epoch })
    }
    if (shards.length === 0) return
    const result = await metadata.propose({ kind: 'moveShards', shards })
    if (result.kind === 'shards')
      logger.info({ shards: result.epochs.filter((epoch) => epoch > 0).length, leaving }, 'coordinator shards moved')
  }
}
