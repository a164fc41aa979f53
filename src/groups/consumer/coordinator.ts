import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { ConsumerMember } from '../../metadata/commands.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { ConsumerGroupView } from '../../metadata/view.ts'
import { Errors } from '../../../protocol/errors.ts'
import { writeGroup } from '../store.ts'
import type { LeaveResult, LeavingMember } from '../types.ts'
import { Draft } from './draft.ts'
import { LiveGroup, type Task } from './live.ts'
import { enter, leave, removeMember } from './members.ts'
import { isSame } from './owned.ts'
import { reconcile } from './reconcile.ts'
import { patternProblem, Subscriptions, TopicsVersion } from './subscriptions.ts'
import { retarget } from './target.ts'
import { refusal, refusedHeartbeat, type ConsumerHeartbeat, type ConsumerSettings, type HeartbeatResult, type Refusal } from './types.ts'
import { heartbeatProblem } from './validate.ts'

export interface ConsumerGroupsOptions {
  readonly metadata: Metadata
  readonly clock: Clock
  readonly logger: Logger
  readonly settings: (groupId: string) => ConsumerSettings
  readonly randomUuid: () => string
  /** Why this process cannot speak for the group, or NONE. */
  readonly unavailable: (groupId: string) => number
  /** The classic group of that id, as it lives in this process: is somebody in it or coming; and its end, when nobody is. */
  readonly classic: { readonly isBusy: (groupId: string) => boolean; readonly forget: (groupId: string) => void }
}

/**
 * Consumer groups (KIP-848). The stored state is the truth: what waits at a group is applied to a draft of it, targets are computed, members
 * reconciled, the difference is one entry, and answers are given when it is durable. What arrives meanwhile makes the next draft.
 */
export class ConsumerGroups {
  readonly #options: ConsumerGroupsOptions
  readonly #live = new Map<string, LiveGroup>()
  readonly #topics: TopicsVersion

  constructor(options: ConsumerGroupsOptions) {
    this.#options = options
    this.#topics = new TopicsVersion(options.metadata.state)
  }

  /** Something else than appends happened in the log. */
  touch(): void {
    this.#topics.touch()
  }

  /** A consumer group with members, or one that gets its first just now. */
  holds(groupId: string): boolean {
    const stored = this.stored(groupId)
    return (stored !== null && stored.members.size > 0) || this.#live.get(groupId)?.isBusy === true
  }

  stored(groupId: string): ConsumerGroupView | null {
    return this.#options.metadata.state.consumerGroup(groupId)
  }

  /** Existing topics that members of the group subscribe to. */
  subscribedTopics(groupId: string): Set<string> {
    const names = new Set<string>()
    const subscriptions = this.#live.get(groupId)?.subscriptions ?? new Subscriptions(this.#options.metadata.state, this.#topics)
    for (const member of this.stored(groupId)?.members.values() ?? []) for (const name of subscriptions.of(member)) names.add(name)
    return names
  }

  /** The sessions of the members begin (L19): this process has just taken the group over. */
  takeOver(groupId: string): void {
    const stored = this.stored(groupId)
    if (stored === null || stored.members.size === 0) return
    const live = this.#liveGroup(groupId)
    for (const member of stored.members.values()) {
      this.#restartSession(live, member.memberId)
      this.#followRevocation(live, member)
    }
  }

  drop(groupId: string, error: number): void {
    const live = this.#live.get(groupId)
    this.#live.delete(groupId)
    live?.die(error)
  }

  /** Every group that lives here. */
  groupIds(): string[] {
    return [...this.#live.keys()]
  }

  /** ConsumerGroupHeartbeat. */
  async heartbeat(request: ConsumerHeartbeat): Promise<HeartbeatResult> {
    const settings = this.#options.settings(request.groupId)
    const problem = heartbeatProblem(request, settings.assignors)
    if (problem !== null) return refusedHeartbeat(problem)
    const unavailable = this.#options.unavailable(request.groupId)
    if (unavailable !== Errors.NONE) return refusedHeartbeat(refusal(unavailable))
    const groupProblem = this.#groupProblem(request)
    if (groupProblem !== null) return refusedHeartbeat(groupProblem)
    if (request.regex !== null && request.regex !== '') {
      const wrong = patternProblem(request.regex)
      if (wrong !== null) return refusedHeartbeat(refusal(Errors.INVALID_REGULAR_EXPRESSION, wrong))
    }
    // Only v0 may leave the choice of the id to us.
    const memberId = request.memberId === '' ? this.#options.randomUuid() : request.memberId
    return request.epoch < 0 ? this.#leave(request) : this.#beat({ ...request, memberId }, settings)
  }

  /** LeaveGroup: takes members out, by id or instance id. */
  async removeAll(groupId: string, leaving: readonly LeavingMember[]): Promise<LeaveResult> {
    const unavailable = this.#options.unavailable(groupId)
    if (unavailable !== Errors.NONE) return { error: unavailable, members: [] }
    const errors = await this.#remove(groupId, leaving)
    return { error: Errors.NONE, members: leaving.map((member, i) => ({ ...member, error: errors[i] })) }
  }

  #remove(groupId: string, leaving: readonly LeavingMember[]): Promise<number[]> {
    const { clock } = this.#options
    let errors: number[] = []
    return this.#run(groupId, {
      enter: (draft) => {
        errors = leaving.map(({ memberId, instanceId }) => {
          const member = instanceId === null ? draft.member(memberId) : draft.staticMember(instanceId)
          if (member === null) return Errors.UNKNOWN_MEMBER_ID
          if (memberId !== '' && member.memberId !== memberId) return Errors.FENCED_INSTANCE_ID
          removeMember(draft, member, clock.wallMs())
          return Errors.NONE
        })
      },
      finish: () => {},
      result: () => errors,
      failed: (error) => leaving.map(() => error),
    })
  }

  #groupProblem({ groupId, epoch }: ConsumerHeartbeat): Refusal | null {
    const { metadata, classic } = this.#options
    const stored = this.stored(groupId)
    if (stored !== null && !classic.isBusy(groupId)) return null
    if (stored === null && epoch !== 0 && !this.holds(groupId)) {
      return refusal(
        Errors.GROUP_ID_NOT_FOUND,
        metadata.state.group(groupId) === null ? `Group ${groupId} not found.` : notConsumer(groupId),
      )
    }
    const isClassic = classic.isBusy(groupId) || (metadata.state.group(groupId)?.members.length ?? 0) > 0
    return isClassic ? refusal(Errors.GROUP_ID_NOT_FOUND, notConsumer(groupId)) : null
  }

  #leave(request: ConsumerHeartbeat): Promise<HeartbeatResult> {
    let left: ConsumerMember | Refusal
    return this.#run<HeartbeatResult>(request.groupId, {
      enter: (draft) => {
        left = leave(draft, request, this.#options.clock.wallMs())
      },
      finish: () => {},
      result: () => {
        if ('error' in left) return refusedHeartbeat(left)
        const { memberId, epoch } = request
        return { error: Errors.NONE, message: null, memberId, epoch, heartbeatIntervalMs: 0, assignment: null }
      },
      failed: (error) => refusedHeartbeat(refusal(error)),
    })
  }

  #beat(request: ConsumerHeartbeat, settings: ConsumerSettings): Promise<HeartbeatResult> {
    const { memberId, groupId } = request
    const live = this.#liveGroup(groupId)
    // The beat counts when it arrives, not when what it changes is durable.
    if (live.hasSession(memberId)) this.#restartSession(live, memberId)
    let entered: ConsumerMember | Refusal
    let before: ConsumerMember['assigned'] = []
    let after: ConsumerMember
    return this.#run<HeartbeatResult>(groupId, {
      enter: (draft) => {
        before = draft.member(memberId)?.assigned ?? []
        entered = enter(draft, request, settings.membersMax, this.#options.clock.wallMs())
      },
      finish: (draft) => {
        if ('error' in entered) return
        // A later request of the same batch may have taken the member out.
        const member = draft.member(memberId)
        if (member === null) {
          entered = refusal(Errors.UNKNOWN_MEMBER_ID)
          return
        }
        after = reconcile(draft, member, request.owned)
        if (after !== member) draft.set(after)
      },
      result: () => {
        if ('error' in entered) return refusedHeartbeat(entered)
        this.#restartSession(live, memberId)
        const isFull = request.epoch === 0 || (request.rebalanceTimeoutMs !== -1 && request.owned !== null && subscribes(request))
        return {
          error: Errors.NONE,
          message: null,
          memberId,
          epoch: after.epoch,
          heartbeatIntervalMs: settings.heartbeatIntervalMs,
          assignment: isFull || !isSame(before, after.assigned) ? after.assigned : null,
        }
      },
      failed: (error) => refusedHeartbeat(refusal(error)),
    })
  }

  #run<T>(
    groupId: string,
    work: Pick<Task, 'enter' | 'finish'> & { readonly result: () => T; readonly failed: (error: number) => T },
  ): Promise<T> {
    const live = this.#liveGroup(groupId)
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
        await this.#step(live, tasks)
      } catch (error) {
        for (const task of tasks) task.reject(error)
      }
    }
    live.isWorking = false
    if (this.#live.get(live.groupId) === live && (this.stored(live.groupId)?.members.size ?? 0) === 0) this.#live.delete(live.groupId)
  }

  async #step(live: LiveGroup, tasks: readonly Task[]): Promise<void> {
    const { metadata, logger, clock, settings, classic } = this.#options
    const { groupId, subscriptions } = live
    const draft = new Draft(groupId, this.stored(groupId))
    for (const task of tasks) task.enter(draft)
    const version = this.#topics.value
    if (draft.size > 0 && (draft.subscriptionsChanged || version !== live.checkedVersion)) {
      const topicsHash = subscriptions.hash(draft.members())
      if (topicsHash !== draft.head.topicsHash) {
        draft.bump(clock.wallMs())
        draft.changeHead({ topicsHash })
      }
    }
    if (draft.size > 0 && draft.head.epoch > draft.head.assignmentEpoch) {
      retarget(draft, subscriptions, metadata.state, settings(groupId).assignors)
    }
    for (const task of tasks) task.finish(draft)
    const command = draft.command()
    const error = command === null ? Errors.NONE : await writeGroup(metadata, logger, groupId, { kind: 'changeConsumerGroup', ...command })
    if (error === Errors.NONE) {
      live.checkedVersion = version
      classic.forget(groupId)
      for (const memberId of command?.removed ?? []) live.forgetMember(memberId)
      if (!live.isDead) for (const member of command?.members ?? []) this.#followRevocation(live, member)
    } else {
      // The outcome may be unknown: who is in the group all the same, and never comes again, has to go in time.
      for (const memberId of this.stored(groupId)?.members.keys() ?? [])
        if (!live.hasSession(memberId)) this.#restartSession(live, memberId)
    }
    const told = error === Errors.NON_EMPTY_GROUP ? Errors.GROUP_ID_NOT_FOUND : error
    for (const task of tasks) task.done(told)
    if (error === Errors.NOT_COORDINATOR && this.#live.get(groupId) === live) this.drop(groupId, error)
  }

  #liveGroup(groupId: string): LiveGroup {
    let live = this.#live.get(groupId)
    if (live === undefined) {
      const { clock, metadata } = this.#options
      live = new LiveGroup(groupId, clock, new Subscriptions(metadata.state, this.#topics))
      this.#live.set(groupId, live)
    }
    return live
  }

  #restartSession(live: LiveGroup, memberId: string): void {
    if (live.isDead) return
    const { sessionTimeoutMs } = this.#options.settings(live.groupId)
    live.restartSession(memberId, sessionTimeoutMs, () => {
      this.#expire(
        live,
        memberId,
        (_draft) => !live.hasSession(memberId),
        () => this.#restartSession(live, memberId),
      )
    })
  }

  #followRevocation(live: LiveGroup, member: ConsumerMember): void {
    const { memberId } = member
    live.followRevocation(member, (epoch) => {
      const isStuck = (draft: Draft): boolean => draft.member(memberId)?.phase === 1 && draft.member(memberId)?.epoch === epoch
      this.#expire(live, memberId, isStuck, () => this.#followRevocation(live, member))
    })
  }

  /** Takes a member out that ran out of time, unless it was heard of meanwhile; `again` when that could not be written. */
  #expire(live: LiveGroup, memberId: string, isStill: (draft: Draft) => boolean, again: () => void): void {
    const { clock, logger } = this.#options
    if (live.isDead) return
    const removal = this.#run(live.groupId, {
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

function subscribes({ topics, regex }: ConsumerHeartbeat): boolean {
  return topics !== null || regex !== null
}

function notConsumer(groupId: string): string {
  return `Group ${groupId} is not a consumer group.`
}
