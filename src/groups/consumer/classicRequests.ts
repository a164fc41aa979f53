import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { ConsumerMember } from '../../metadata/commands.ts'
import type { Metadata } from '../../metadata/port.ts'
import { Errors } from '../../../protocol/errors.ts'
import { encodeAssignment, parseSubscription } from '../embedded.ts'
import {
  joinError,
  syncError,
  type HeartbeatRequest,
  type JoinRequest,
  type JoinResult,
  type SyncRequest,
  type SyncResult,
} from '../types.ts'
import { joinClassic, mustRejoin, speaking, syncProblem } from './classicMembers.ts'
import { byId, byName } from './migration.ts'
import { reconcile } from './reconcile.ts'
import { MIGRATION_LEVEL, type Turns } from './turns.ts'
import { refusal, type ConsumerSettings, type Refusal } from './types.ts'

export interface ClassicRequestsOptions {
  readonly metadata: Metadata
  readonly clock: Clock
  readonly logger: Logger
  readonly settings: (groupId: string) => ConsumerSettings
  readonly randomUuid: () => string
  readonly turns: Turns
}

/**
 * Members of consumer groups that speak the classic protocol (KIP-848, migration). A join is answered at once: the generation is the member's
 * epoch, nobody leads, SyncGroup brings what the broker assigned. REBALANCE_IN_PROGRESS sends a member to its next step.
 * The caller has seen to it that the group is a consumer group here and now.
 */
export class ClassicRequests {
  readonly #options: ClassicRequestsOptions

  constructor(options: ClassicRequestsOptions) {
    this.#options = options
  }

  /** JoinGroup. */
  join(request: JoinRequest): Promise<JoinResult> {
    const { metadata, clock, settings, randomUuid, turns } = this.#options
    const { groupId } = request
    const refuse = (error: number, memberId = request.memberId): JoinResult => joinError(error, memberId)
    if (metadata.state.level < MIGRATION_LEVEL) return Promise.resolve(refuse(Errors.INCONSISTENT_GROUP_PROTOCOL))
    const subscription = request.protocols.length === 0 ? null : parseSubscription(request.protocols[0].metadata)
    if (subscription === null) return Promise.resolve(refuse(Errors.INCONSISTENT_GROUP_PROTOCOL))
    const memberId = request.memberId === '' ? randomUuid() : request.memberId
    const live = turns.liveGroup(groupId)
    let entered: ConsumerMember | Refusal
    let after: ConsumerMember
    return turns.run<JoinResult>(groupId, {
      enter: (draft) => {
        // The group ended before this had its turn: a classic one takes its place.
        if (draft.size === 0) entered = refusal(Errors.COORDINATOR_LOAD_IN_PROGRESS)
        else entered = joinClassic(draft, request, memberId, subscription, settings(groupId), clock.wallMs())
      },
      finish: (draft) => {
        if ('error' in entered) return
        const member = draft.member(memberId)
        if (member === null) {
          entered = refusal(Errors.UNKNOWN_MEMBER_ID)
          return
        }
        const owned = byId(subscription.owned, metadata.state)
        after = reconcile(draft, member, owned, (topicId) => live.subscriptions.includes(member, topicId))
        if (after !== member) draft.set(after)
      },
      result: () => {
        if ('error' in entered) return refuse(entered.error, entered.error === Errors.MEMBER_ID_REQUIRED ? memberId : request.memberId)
        live.came('join', memberId)
        turns.restartSession(live, memberId)
        live.came('sync', memberId)
        turns.awaitMember(live, 'sync', after)
        const protocolName = request.protocols[0].name
        return { ...joinError(Errors.NONE, memberId), generation: after.epoch, protocolType: 'consumer', protocolName }
      },
      failed: (error) => refuse(error),
    })
  }

  /** SyncGroup. */
  sync(request: SyncRequest): SyncResult {
    const { metadata, turns } = this.#options
    const group = turns.stored(request.groupId)
    // The first of the consumer protocol is joining; the group is not stored yet.
    if (group === null) return syncError(Errors.REBALANCE_IN_PROGRESS)
    const member = speaking(group, request)
    if (typeof member === 'number') return syncError(member)
    const live = turns.liveGroup(request.groupId)
    const problem = syncProblem(group, member, request)
    if (problem === Errors.REBALANCE_IN_PROGRESS) turns.awaitMember(live, 'join', member)
    if (problem !== Errors.NONE) return syncError(problem)
    live.came('sync', member.memberId)
    turns.restartSession(live, member.memberId)
    const assignment = encodeAssignment(byName(member.assigned, metadata.state), member.classic!.protocols[0].metadata)
    return { error: Errors.NONE, protocolType: request.protocolType, protocolName: request.protocolName, assignment }
  }

  /** Heartbeat; a Kafka error code. */
  heartbeat(request: HeartbeatRequest): number {
    const { turns } = this.#options
    const group = turns.stored(request.groupId)
    if (group === null) return Errors.REBALANCE_IN_PROGRESS
    const member = speaking(group, request)
    if (typeof member === 'number') return member
    const live = turns.liveGroup(request.groupId)
    turns.restartSession(live, member.memberId)
    // Targets that came too soon after others are due by now; nobody else may be there to ask for them.
    if (group.head.epoch > group.head.assignmentEpoch) this.#retarget(request.groupId)
    if (!mustRejoin(group, member)) return Errors.NONE
    turns.awaitMember(live, 'join', member)
    return Errors.REBALANCE_IN_PROGRESS
  }

  #retarget(groupId: string): void {
    const { turns, logger } = this.#options
    if (turns.get(groupId)?.isBusy === true) return
    const turn = turns.run(groupId, { enter: () => {}, finish: () => {}, result: () => {}, failed: () => {} })
    turn.catch((error: unknown) => logger.error({ err: error, group: groupId }, 'targets of a consumer group could not be computed'))
  }
}
