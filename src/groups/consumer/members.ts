import { Errors } from '../../../protocol/errors.ts'
import type { ConsumerMember } from '../../metadata/commands.ts'
import type { Draft } from './draft.ts'
import { gotIn, isSubset } from './owned.ts'
import { JOIN_EPOCH, LEAVE_STATIC_EPOCH, refusal, type ConsumerHeartbeat, type Refusal } from './types.ts'

/** Joining and being heard: finds or makes the member, checks its epoch, takes what it says of itself. */
export function enter(draft: Draft, request: ConsumerHeartbeat, membersMax: number, nowMs: number): ConsumerMember | Refusal {
  const known = draft.member(request.memberId)
  const isJoining = request.epoch === JOIN_EPOCH
  if (isJoining && known === null && draft.size >= membersMax && !returns(draft, request)) {
    return refusal(Errors.GROUP_MAX_SIZE_REACHED, `The consumer group has reached its maximum capacity of ${membersMax} members.`)
  }
  const found = request.instanceId === null ? (known ?? unknown(request)) : findStatic(draft, request)
  if ('error' in found) return found
  if (!isJoining) {
    const problem = epochProblem(found, request)
    if (problem !== null) return problem
  }
  return update(draft, found, request, nowMs)
}

/** Leaving (-1), or going away for a while as a static member (-2). */
export function leave(draft: Draft, request: ConsumerHeartbeat, nowMs: number): ConsumerMember | Refusal {
  const { memberId, instanceId, groupId } = request
  const found =
    instanceId === null
      ? (draft.member(memberId) ?? unknownMember(memberId, groupId))
      : (staticProblem(draft, request) ?? draft.staticMember(instanceId)!)
  if ('error' in found) return found
  if (request.epoch === LEAVE_STATIC_EPOCH) {
    const away: ConsumerMember = { ...found, epoch: LEAVE_STATIC_EPOCH, phase: 0, revoking: [], assigned: gotIn(found.assigned, 0) }
    draft.set(away)
    return away
  }
  removeMember(draft, found, nowMs)
  return found
}

export function removeMember(draft: Draft, member: ConsumerMember, nowMs: number): void {
  draft.remove(member)
  draft.subscriptionsChanged = true
  draft.hasFenced = true
  draft.bump(nowMs)
  // With nobody left there is nothing that targets could be too soon after.
  if (draft.size === 0) draft.changeHead({ assignmentEpoch: draft.head.epoch, assignedAtMs: 0 })
}

function returns(draft: Draft, { instanceId }: ConsumerHeartbeat): boolean {
  return instanceId !== null && draft.staticMember(instanceId) !== null
}

/** A member that joins is made; another one must be known. */
function unknown(request: ConsumerHeartbeat): ConsumerMember | Refusal {
  return request.epoch === JOIN_EPOCH ? newMember(request) : unknownMember(request.memberId, request.groupId)
}

function unknownMember(memberId: string, groupId: string): Refusal {
  return refusal(Errors.UNKNOWN_MEMBER_ID, `Member ${memberId} is not a member of group ${groupId}.`)
}

function findStatic(draft: Draft, request: ConsumerHeartbeat): ConsumerMember | Refusal {
  const instanceId = request.instanceId!
  const holder = draft.staticMember(instanceId)
  if (request.epoch !== JOIN_EPOCH) return staticProblem(draft, request) ?? holder!
  if (holder === null) return newMember(request)
  if (holder.memberId === request.memberId) return holder
  if (!holder.classic && holder.epoch !== LEAVE_STATIC_EPOCH) {
    return refusal(
      Errors.UNRELEASED_INSTANCE_ID,
      `Static member ${request.memberId} with instance id ${instanceId} cannot join the group because the instance id is` +
        ` owned by member ${holder.memberId}.`,
    )
  }
  return replace(draft, holder, request.memberId)
}

/** A static member comes back under a new id and takes over what it had; its subscription is compared with the one before. */
export function replace(draft: Draft, holder: ConsumerMember, memberId: string): ConsumerMember {
  draft.remove(holder)
  return { ...holder, memberId, epoch: JOIN_EPOCH, previousEpoch: JOIN_EPOCH }
}

export function staticProblem(draft: Draft, { memberId, instanceId }: Pick<ConsumerHeartbeat, 'memberId' | 'instanceId'>): Refusal | null {
  const holder = draft.staticMember(instanceId!)
  if (holder === null) return refusal(Errors.UNKNOWN_MEMBER_ID, `Instance id ${instanceId} is unknown.`)
  if (holder.memberId === memberId) return null
  return refusal(
    Errors.FENCED_INSTANCE_ID,
    `Static member ${memberId} with instance id ${instanceId} was fenced by member ${holder.memberId}.`,
  )
}

/** An older epoch is taken once more when the answer that named the current one was lost, and the member holds nothing else. */
function epochProblem(member: ConsumerMember, { epoch, owned }: ConsumerHeartbeat): Refusal | null {
  if (epoch === member.epoch) return null
  const wasLost = epoch < member.epoch && epoch === member.previousEpoch && owned !== null && isSubset(owned, member.assigned)
  if (wasLost) return null
  const than = epoch > member.epoch ? 'greater' : 'smaller'
  return refusal(
    Errors.FENCED_MEMBER_EPOCH,
    `The consumer group member has a ${than} member epoch (${epoch}) than the one known by the group coordinator` +
      ` (${member.epoch}). The member must abandon all its partitions and rejoin.`,
  )
}

type Newcomer = Pick<ConsumerMember, 'memberId' | 'instanceId' | 'rackId' | 'clientId' | 'clientHost' | 'rebalanceTimeoutMs'>

export function newMember(request: Newcomer): ConsumerMember {
  const { memberId, instanceId, rackId, clientId, clientHost, rebalanceTimeoutMs } = request
  return {
    memberId,
    instanceId,
    rackId,
    clientId,
    clientHost,
    rebalanceTimeoutMs,
    topics: [],
    regex: null,
    assignor: null,
    epoch: JOIN_EPOCH,
    previousEpoch: JOIN_EPOCH,
    phase: 0,
    assigned: [],
    revoking: [],
    target: [],
  }
}

function update(draft: Draft, before: ConsumerMember, request: ConsumerHeartbeat, nowMs: number): ConsumerMember {
  const topics = request.topics === null ? before.topics : [...new Set(request.topics)].sort()
  // The empty pattern takes a pattern back.
  const regex = request.regex === null ? before.regex : request.regex === '' ? null : request.regex
  const after: ConsumerMember = {
    ...before,
    topics,
    regex,
    rackId: request.rackId ?? before.rackId,
    assignor: request.assignor ?? before.assignor,
    rebalanceTimeoutMs: request.rebalanceTimeoutMs === -1 ? before.rebalanceTimeoutMs : request.rebalanceTimeoutMs,
    clientId: request.clientId,
    clientHost: request.clientHost,
    classic: undefined,
  }
  const stored = draft.member(after.memberId)
  if (after.assignor !== before.assignor) draft.assignorsChanged = true
  noteSubscription(draft, before, after, nowMs)
  if (stored === null || !isSameSelf(after, stored)) draft.set(after)
  return after
}

/** A member that is new, or subscribes to something else, makes a new epoch of the group. */
export function noteSubscription(draft: Draft, before: ConsumerMember, after: ConsumerMember, nowMs: number): void {
  const isKnown = draft.member(after.memberId) !== null
  const isNew = !isKnown && before.epoch === JOIN_EPOCH && before.target.length === 0 && before.assigned.length === 0
  if (!isNew && after.regex === before.regex && isSameList(after.topics, before.topics)) return
  draft.subscriptionsChanged = true
  draft.bump(nowMs)
}

function isSameSelf(a: ConsumerMember, b: ConsumerMember): boolean {
  return (
    !a.classic === !b.classic &&
    a.regex === b.regex &&
    isSameList(a.topics, b.topics) &&
    a.rackId === b.rackId &&
    a.assignor === b.assignor &&
    a.rebalanceTimeoutMs === b.rebalanceTimeoutMs &&
    a.clientId === b.clientId &&
    a.clientHost === b.clientHost &&
    a.epoch === b.epoch
  )
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i])
}
