import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { ConsumerMember, GroupRecord } from '../../metadata/commands.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { ConsumerGroupView } from '../../metadata/view.ts'
import { Errors } from '../../../protocol/errors.ts'
import { writeGroup } from '../store.ts'
import { Draft } from './draft.ts'
import { LiveGroup, type Task, type WaitKind } from './live.ts'
import { removeMember } from './members.ts'
import { downgraded, upgraded } from './migration.ts'
import { Subscriptions, type TopicsVersion } from './subscriptions.ts'
import { mayRetarget, preferred, retarget } from './target.ts'
import { mayDowngrade, type ConsumerSettings } from './types.ts'

/** The classic group of an id, as it lives in this process. */
export interface ClassicSide {
  /** Is somebody in it, or coming? */
  readonly isBusy: (groupId: string) => boolean
  /** What it is now; null when there is none. */
  readonly record: (groupId: string) => GroupRecord | null
  /** Ends the group here: its members are sent to JoinGroup. */
  readonly supersede: (groupId: string) => void
  /** A group was stored that was a consumer group: it lives, and is rebalanced if so. */
  readonly adopt: (groupId: string, rebalance: boolean) => void
  /** Ends one that nobody is in. */
  readonly forget: (groupId: string) => void
}

export interface TurnsOptions {
  readonly metadata: Metadata
  readonly clock: Clock
  readonly logger: Logger
  readonly settings: (groupId: string) => ConsumerSettings
  readonly classic: ClassicSide
  readonly topics: TopicsVersion
}

/** Revisions of groups, members of the classic protocol and epochs of partitions are stored from this level on. */
export const MIGRATION_LEVEL = 3

/** How often a turn is done again whose group was changed by an entry that was taken for lost. */
const ATTEMPTS_MAX = 3

/**
 * Turns at groups: what waits at a group is applied to a draft of what is stored, targets are computed, members reconciled, the difference is
 * one entry, and answers are given when it is durable. What arrives meanwhile makes the next draft. Beside it, the timers of members.
 */
export class Turns {
  readonly #options: TurnsOptions
  readonly #live = new Map<string, LiveGroup>()

  constructor(options: TurnsOptions) {
    this.#options = options
  }

  stored(groupId: string): ConsumerGroupView | null {
    return this.#options.metadata.state.consumerGroup(groupId)
  }

  get(groupId: string): LiveGroup | undefined {
    return this.#live.get(groupId)
  }

  /** Every group that lives here. */
  groupIds(): string[] {
    return [...this.#live.keys()]
  }

  drop(groupId: string, error: number): void {
    const live = this.#live.get(groupId)
    this.#live.delete(groupId)
    live?.die(error)
  }

  liveGroup(groupId: string): LiveGroup {
    let live = this.#live.get(groupId)
    if (live === undefined) {
      const { clock, metadata, topics } = this.#options
      live = new LiveGroup(groupId, clock, new Subscriptions(metadata.state, topics))
      this.#live.set(groupId, live)
    }
    return live
  }

  run<T>(
    groupId: string,
    work: Pick<Task, 'enter' | 'finish'> & { readonly result: () => T; readonly failed: (error: number) => T },
  ): Promise<T> {
    const live = this.liveGroup(groupId)
    return new Promise<T>((resolve, reject) => {
      const done = (error: number): void => resolve(error === Errors.NONE ? work.result() : work.failed(error))
      live.queue.push({ enter: work.enter, finish: work.finish, done, reject })
      if (!live.isWorking) void this.#work(live)
    })
  }

  async #work(live: LiveGroup): Promise<void> {
    live.isWorking = true
    while (live.queue.length > 0) {
      const tasks = live.queue.splice(0)
      try {
        await this.#turn(live, tasks)
      } catch (error) {
        for (const task of tasks) task.reject(error)
      }
    }
    live.isWorking = false
    if (this.#live.get(live.groupId) === live && (this.stored(live.groupId)?.members.size ?? 0) === 0) this.#live.delete(live.groupId)
  }

  async #turn(live: LiveGroup, tasks: readonly Task[]): Promise<void> {
    const { groupId } = live
    let error: number = Errors.INVALID_UPDATE_VERSION
    for (let attempt = 0; attempt < ATTEMPTS_MAX && error === Errors.INVALID_UPDATE_VERSION; attempt++)
      error = await this.#step(live, tasks)
    if (error !== Errors.NONE) {
      // The outcome may be unknown: who is in the group all the same, and never comes again, has to go in time.
      for (const member of this.stored(groupId)?.members.values() ?? [])
        if (!live.hasSession(member.memberId)) this.restartSession(live, member.memberId)
    }
    const told = TOLD.get(error) ?? error
    for (const task of tasks) task.done(told)
    if (error === Errors.NOT_COORDINATOR && this.#live.get(groupId) === live) this.drop(groupId, error)
  }

  /** One draft, from what is stored to what is durable; a Kafka error code. */
  async #step(live: LiveGroup, tasks: readonly Task[]): Promise<number> {
    const { metadata, clock, settings } = this.#options
    const { groupId, subscriptions } = live
    const limits = settings(groupId)
    const draft = this.#draft(live)
    if (draft === null) return Errors.GROUP_ID_NOT_FOUND
    for (const task of tasks) task.enter(draft)
    const nowMs = clock.wallMs()
    const version = this.#options.topics.value
    if (draft.size > 0 && (draft.subscriptionsChanged || version !== live.checkedVersion)) {
      const topicsHash = subscriptions.hash(draft.members())
      if (topicsHash !== draft.head.topicsHash) {
        draft.bump(nowMs)
        draft.changeHead({ topicsHash })
      }
    }
    if (draft.assignorsChanged && draft.head.assignor !== '' && preferred(draft.members(), limits.assignors) !== draft.head.assignor)
      draft.bump(nowMs)
    const isDowngrade = draft.turnsClassic && mayDowngrade(limits) && draft.size <= limits.classicMembersMax
    if (!isDowngrade && draft.size > 0 && draft.head.epoch > draft.head.assignmentEpoch) {
      if (mayRetarget(draft, limits.assignmentIntervalMs, nowMs)) retarget(draft, subscriptions, metadata.state, limits.assignors, nowMs)
    }
    for (const task of tasks) task.finish(draft)
    return isDowngrade ? this.#downgrade(live, draft) : this.#store(live, draft, version)
  }

  /** Of what is stored, or of the classic group that is to be upgraded: null when it cannot be. */
  #draft({ groupId, subscriptions }: LiveGroup): Draft | null {
    const { metadata, logger, classic } = this.#options
    const stored = this.stored(groupId)
    const isOurs = stored !== null && (stored.members.size > 0 || !classic.isBusy(groupId))
    if (isOurs || metadata.state.level < MIGRATION_LEVEL) return new Draft(groupId, stored)
    const record = classic.record(groupId)
    if (record === null || record.members.length === 0) return new Draft(groupId, stored)
    const view = upgraded(record, metadata.state, stored?.head.revision)
    if ('error' in view) return null
    classic.supersede(groupId)
    logger.info({ group: groupId, members: record.members.length }, 'a classic group becomes a consumer group')
    const topicsHash = subscriptions.hash([...view.members.values()])
    return new Draft(groupId, { ...view, head: { ...view.head, topicsHash } }, true)
  }

  async #store(live: LiveGroup, draft: Draft, version: number): Promise<number> {
    const { metadata, logger, classic } = this.#options
    const { groupId } = live
    const command = draft.command(metadata.state.level >= MIGRATION_LEVEL)
    if (command !== null) {
      const error = await writeGroup(metadata, logger, groupId, { kind: 'changeConsumerGroup', ...command })
      if (error !== Errors.NONE) return error
    }
    live.checkedVersion = version
    classic.forget(groupId)
    for (const memberId of command?.removed ?? []) live.forgetMember(memberId)
    if (live.isDead) return Errors.NONE
    for (const member of command?.members ?? []) {
      this.followRevocation(live, member)
      if (command!.upgrades === true && !live.hasSession(member.memberId)) this.restartSession(live, member.memberId)
    }
    return Errors.NONE
  }

  /** Stores the group as a classic one; what arrived meanwhile is asked to come again. */
  async #downgrade(live: LiveGroup, draft: Draft): Promise<number> {
    const { metadata, logger, clock, classic } = this.#options
    const { groupId } = live
    const rebalance = draft.hasFenced || draft.head.epoch > draft.head.assignmentEpoch
    const group = downgraded(draft, metadata.state, clock.wallMs())
    const error = await writeGroup(metadata, logger, groupId, { kind: 'putGroup', group, downgrades: draft.nextRevision })
    if (error !== Errors.NONE || live.isDead) return error
    this.drop(groupId, Errors.COORDINATOR_LOAD_IN_PROGRESS)
    classic.adopt(groupId, rebalance)
    logger.info({ group: groupId, rebalance }, 'the last member of the consumer protocol left: the group is a classic one')
    return error
  }

  /** A member that is not heard of for its session timeout goes. */
  restartSession(live: LiveGroup, memberId: string): void {
    if (live.isDead) return
    const timeoutMs =
      this.stored(live.groupId)?.members.get(memberId)?.classic?.sessionTimeoutMs ?? this.#options.settings(live.groupId).sessionTimeoutMs
    live.restartSession(memberId, timeoutMs, () => {
      this.#expire(
        live,
        memberId,
        (_draft) => !live.hasSession(memberId),
        () => this.restartSession(live, memberId),
      )
    })
  }

  followRevocation(live: LiveGroup, member: ConsumerMember): void {
    const { memberId } = member
    live.followRevocation(member, (epoch) => {
      const isStuck = (draft: Draft): boolean => draft.member(memberId)?.phase === 1 && draft.member(memberId)?.epoch === epoch
      this.#expire(live, memberId, isStuck, () => this.followRevocation(live, member))
    })
  }

  /** A member of the classic protocol that does not join or sync within its rebalance timeout goes. */
  awaitMember(live: LiveGroup, kind: WaitKind, { memberId, rebalanceTimeoutMs }: ConsumerMember): void {
    if (live.isDead) return
    live.await(kind, memberId, rebalanceTimeoutMs, () => {
      const again = (): void => this.awaitMember(live, kind, { memberId, rebalanceTimeoutMs } as ConsumerMember)
      this.#expire(live, memberId, (_draft) => true, again)
    })
  }

  /** Takes a member out that ran out of time, unless it was heard of meanwhile; `again` when that could not be written. */
  #expire(live: LiveGroup, memberId: string, isStill: (draft: Draft) => boolean, again: () => void): void {
    const { clock, logger } = this.#options
    if (live.isDead) return
    const removal = this.run(live.groupId, {
      enter: (draft) => {
        const member = draft.member(memberId)
        if (member !== null && isStill(draft)) removeMember(draft, member, clock.wallMs())
      },
      finish: () => {},
      result: () => {},
      failed: () => void (live.isDead || again()),
    })
    removal.catch((error: unknown) =>
      logger.error({ err: error, group: live.groupId }, 'a member of a consumer group could not be removed'),
    )
  }
}

/** NON_EMPTY_GROUP: a classic group is in the way. */
const TOLD: ReadonlyMap<number, number> = new Map([
  [Errors.NON_EMPTY_GROUP, Errors.GROUP_ID_NOT_FOUND],
  [Errors.INVALID_UPDATE_VERSION, Errors.COORDINATOR_NOT_AVAILABLE],
])
