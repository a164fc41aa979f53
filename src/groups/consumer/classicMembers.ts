import type { ConsumerMember } from '../../metadata/commands.ts'
import type { ConsumerGroupView } from '../../metadata/view.ts'
import { Errors } from '../../../protocol/errors.ts'
import type { Subscription } from '../embedded.ts'
import { supports } from '../protocols.ts'
import type { HeartbeatRequest, JoinRequest, SyncRequest } from '../types.ts'
import type { Draft } from './draft.ts'
import { newMember, noteSubscription, replace, staticProblem } from './members.ts'
import { refusal, type ConsumerSettings, type Refusal } from './types.ts'

/** JoinGroup of a member with that id, made up when the request has none: the member as it becomes, or why not. */
export function joinClassic(
  draft: Draft,
  request: JoinRequest,
  memberId: string,
  subscription: Subscription,
  settings: ConsumerSettings,
  nowMs: number,
): ConsumerMember | Refusal {
  const { instanceId, protocolType, protocols } = request
  if (settings.migrationPolicy === 'disabled') return refusal(Errors.INCONSISTENT_GROUP_PROTOCOL)
  const holder = instanceId === null ? null : draft.staticMember(instanceId)
  if (holder === null && draft.size >= settings.membersMax && draft.member(memberId) === null) return refusal(Errors.GROUP_MAX_SIZE_REACHED)
  const others = draft.members().flatMap(({ classic }) => (classic ? [classic] : []))
  const isSpoken = others.length === 0 ? protocols.length > 0 : supports(others, protocols)
  if (protocolType !== 'consumer' || !isSpoken) return refusal(Errors.INCONSISTENT_GROUP_PROTOCOL)
  if (instanceId === null && request.memberId === '' && request.requireKnownMemberId) return refusal(Errors.MEMBER_ID_REQUIRED)
  const newcomer = { ...request, memberId, rackId: subscription.rackId }
  let before: ConsumerMember
  if (instanceId === null) before = draft.member(memberId) ?? newMember(newcomer)
  else if (request.memberId === '') before = holder === null ? newMember(newcomer) : replace(draft, holder, memberId)
  else {
    const problem = staticProblem(draft, request)
    if (problem !== null) return problem
    before = holder!
  }
  const after: ConsumerMember = {
    ...before,
    rackId: subscription.rackId ?? before.rackId,
    clientId: request.clientId,
    clientHost: request.clientHost,
    rebalanceTimeoutMs: request.rebalanceTimeoutMs,
    topics: [...new Set(subscription.topics)].sort(),
    regex: null,
    // The bytes lie in the request's frame, which is let go.
    classic: {
      sessionTimeoutMs: request.sessionTimeoutMs,
      protocols: protocols.map(({ name, metadata }) => ({ name, metadata: Uint8Array.from(metadata) })),
    },
  }
  noteSubscription(draft, before, after, nowMs)
  draft.set(after)
  return after
}

/** The member of the classic protocol that speaks, in its generation, or a Kafka error code. */
export function speaking({ members }: ConsumerGroupView, request: HeartbeatRequest): ConsumerMember | number {
  const { memberId, instanceId, generation } = request
  const member = instanceId === null ? members.get(memberId) : findStatic(members.values(), instanceId)
  if (member === undefined) return Errors.UNKNOWN_MEMBER_ID
  if (member.memberId !== memberId) return Errors.FENCED_INSTANCE_ID
  if (!member.classic) return Errors.UNKNOWN_MEMBER_ID
  return member.epoch === generation ? member : Errors.ILLEGAL_GENERATION
}

function findStatic(members: Iterable<ConsumerMember>, instanceId: string): ConsumerMember | undefined {
  for (const member of members) if (member.instanceId === instanceId) return member
  return undefined
}

/** What is wrong with a SyncGroup of a member that may speak; REBALANCE_IN_PROGRESS: it has to join again first. */
export function syncProblem({ head }: ConsumerGroupView, member: ConsumerMember, request: SyncRequest): number {
  const otherType = request.protocolType !== null && request.protocolType !== 'consumer'
  const otherName = request.protocolName !== null && request.protocolName !== member.classic!.protocols[0].name
  if (otherType || otherName) return Errors.INCONSISTENT_GROUP_PROTOCOL
  // One that is giving partitions up has joined already, and joins again when it has.
  return head.assignmentEpoch > member.epoch && member.phase !== 1 ? Errors.REBALANCE_IN_PROGRESS : Errors.NONE
}

/**
 * A member of the classic protocol has to join again when there are targets of a later epoch, when it has to say that it gave partitions up,
 * and when all that it waits for is free.
 */
export function mustRejoin({ head, members }: ConsumerGroupView, member: ConsumerMember): boolean {
  if (member.epoch < head.assignmentEpoch || member.phase === 1) return true
  return member.phase === 2 && !waits(members.values(), member)
}

function waits(members: Iterable<ConsumerMember>, { memberId, target }: ConsumerMember): boolean {
  const wanted = new Map(target.map(({ topicId, partitions }) => [topicId, new Set(partitions)]))
  for (const other of members) {
    if (other.memberId === memberId) continue
    for (const { topicId, partitions } of [...other.assigned, ...other.revoking]) {
      const set = wanted.get(topicId)
      if (set !== undefined && partitions.some((partition) => set.has(partition))) return true
    }
  }
  return false
}
