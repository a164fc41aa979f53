import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { ConsumerMember } from '../../metadata/commands.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { ConsumerGroupView } from '../../metadata/view.ts'
import { Errors } from '../../../protocol/errors.ts'
import type { LeaveResult, LeavingMember } from '../types.ts'
import { ClassicRequests } from './classicRequests.ts'
import type { Draft } from './draft.ts'
import { enter, leave, removeMember } from './members.ts'
import { upgraded, upgradeProblem } from './migration.ts'
import { isSame } from './owned.ts'
import { reconcile } from './reconcile.ts'
import { patternProblem, Subscriptions, TopicsVersion } from './subscriptions.ts'
import { MIGRATION_LEVEL, Turns, type ClassicSide } from './turns.ts'
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
  readonly classic: ClassicSide
}

/** Consumer groups (KIP-848). The stored state is the truth; requests take their turn at a draft of it (turns.ts). */
export class ConsumerGroups {
  readonly #options: ConsumerGroupsOptions
  readonly #turns: Turns
  readonly #topics: TopicsVersion
  /** JoinGroup, SyncGroup and Heartbeat of members that still speak the classic protocol. */
  readonly classic: ClassicRequests

  constructor(options: ConsumerGroupsOptions) {
    this.#options = options
    this.#topics = new TopicsVersion(options.metadata.state)
    this.#turns = new Turns({ ...options, topics: this.#topics })
    this.classic = new ClassicRequests({ ...options, turns: this.#turns })
  }

  /** Something else than appends happened in the log. */
  touch(): void {
    this.#topics.touch()
  }

  /** A consumer group with members, or one that gets its first just now. */
  holds(groupId: string): boolean {
    const stored = this.stored(groupId)
    return (stored !== null && stored.members.size > 0) || this.#turns.get(groupId)?.isBusy === true
  }

  stored(groupId: string): ConsumerGroupView | null {
    return this.#turns.stored(groupId)
  }

  /** Existing topics that members of the group subscribe to. */
  subscribedTopics(groupId: string): Set<string> {
    const names = new Set<string>()
    const subscriptions = this.#turns.get(groupId)?.subscriptions ?? new Subscriptions(this.#options.metadata.state, this.#topics)
    for (const member of this.stored(groupId)?.members.values() ?? []) for (const name of subscriptions.of(member)) names.add(name)
    return names
  }

  /** The sessions of the members begin (L19): this process has just taken the group over. */
  takeOver(groupId: string): void {
    const stored = this.stored(groupId)
    if (stored === null || stored.members.size === 0) return
    const live = this.#turns.liveGroup(groupId)
    for (const member of stored.members.values()) {
      this.#turns.restartSession(live, member.memberId)
      this.#turns.followRevocation(live, member)
    }
  }

  drop(groupId: string, error: number): void {
    this.#turns.drop(groupId, error)
  }

  /** Every group that lives here. */
  groupIds(): string[] {
    return this.#turns.groupIds()
  }

  /** ConsumerGroupHeartbeat. */
  async heartbeat(request: ConsumerHeartbeat): Promise<HeartbeatResult> {
    const settings = this.#options.settings(request.groupId)
    const problem = heartbeatProblem(request, settings.assignors)
    if (problem !== null) return refusedHeartbeat(problem)
    const unavailable = this.#options.unavailable(request.groupId)
    if (unavailable !== Errors.NONE) return refusedHeartbeat(refusal(unavailable))
    const groupProblem = this.#groupProblem(request, settings)
    if (groupProblem !== null) return refusedHeartbeat(groupProblem)
    if (request.regex !== null && request.regex !== '') {
      const wrong = patternProblem(request.regex)
      if (wrong !== null) return refusedHeartbeat(refusal(Errors.INVALID_REGULAR_EXPRESSION, wrong))
    }
    // Only v0 may leave the choice of the id to us.
    const memberId = request.memberId === '' ? this.#options.randomUuid() : request.memberId
    return request.epoch < 0 ? this.#leave(request) : this.#beat({ ...request, memberId }, settings)
  }

  /** LeaveGroup: takes members of either protocol out, by id or instance id. */
  async removeAll(groupId: string, leaving: readonly LeavingMember[]): Promise<LeaveResult> {
    const unavailable = this.#options.unavailable(groupId)
    if (unavailable !== Errors.NONE) return { error: unavailable, members: [] }
    const errors = await this.#remove(groupId, leaving)
    return { error: Errors.NONE, members: leaving.map((member, i) => ({ ...member, error: errors[i] })) }
  }

  #remove(groupId: string, leaving: readonly LeavingMember[]): Promise<number[]> {
    const { clock } = this.#options
    let errors: number[] = []
    return this.#turns.run(groupId, {
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

  /** A classic group with members is upgraded by the first that joins with this protocol, if it may be. */
  #groupProblem({ groupId, epoch }: ConsumerHeartbeat, settings: ConsumerSettings): Refusal | null {
    const { metadata, classic } = this.#options
    const { state } = metadata
    const stored = this.stored(groupId)
    if (stored !== null && !classic.isBusy(groupId)) return null
    if (stored === null && epoch !== 0 && !this.holds(groupId)) {
      const isThere = state.group(groupId) !== null || classic.isBusy(groupId)
      return refusal(Errors.GROUP_ID_NOT_FOUND, isThere ? notConsumer(groupId) : `Consumer group ${groupId} not found.`)
    }
    const record = classic.record(groupId)
    if (record === null || (record.members.length === 0 && !classic.isBusy(groupId))) return null
    if (epoch !== 0 || state.level < MIGRATION_LEVEL) return refusal(Errors.GROUP_ID_NOT_FOUND, notConsumer(groupId))
    if (record.members.length === 0) return null
    const problem = upgradeProblem(groupId, record.protocolType, record.members.length, settings)
    if (problem !== null) return problem
    const view = upgraded(record, state)
    return 'error' in view ? view : null
  }

  #leave(request: ConsumerHeartbeat): Promise<HeartbeatResult> {
    let left: ConsumerMember | Refusal
    return this.#turns.run<HeartbeatResult>(request.groupId, {
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
    const live = this.#turns.liveGroup(groupId)
    // The beat counts when it arrives, not when what it changes is durable.
    if (live.hasSession(memberId)) this.#turns.restartSession(live, memberId)
    let entered: ConsumerMember | Refusal
    let before: ConsumerMember['assigned'] = []
    let after: ConsumerMember
    return this.#turns.run<HeartbeatResult>(groupId, {
      enter: (draft) => {
        before = draft.member(memberId)?.assigned ?? []
        entered = enter(draft, request, settings.membersMax, this.#options.clock.wallMs())
      },
      finish: (draft: Draft) => {
        if ('error' in entered) return
        // A later request of the same batch may have taken the member out.
        const member = draft.member(memberId)
        if (member === null) {
          entered = refusal(Errors.UNKNOWN_MEMBER_ID)
          return
        }
        after = reconcile(draft, member, request.owned, (topicId) => live.subscriptions.includes(member, topicId))
        if (after !== member) draft.set(after)
      },
      result: () => {
        if ('error' in entered) return refusedHeartbeat(entered)
        this.#turns.restartSession(live, memberId)
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
}

function subscribes({ topics, regex }: ConsumerHeartbeat): boolean {
  return topics !== null || regex !== null
}

function notConsumer(groupId: string): string {
  return `Group ${groupId} is not a consumer group.`
}
