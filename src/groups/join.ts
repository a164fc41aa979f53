import { Errors } from '../../protocol/errors.ts'
import type { Group } from './group.ts'
import { Member } from './member.ts'
import { supports } from './protocols.ts'
import { joinError, type JoinRequest, type JoinResult } from './types.ts'

/**
 * A newcomer has no id to send heartbeats with, and a parked JoinGroup hides a closed connection; so it is dropped after
 * this time. A client that is still there asks again (Kafka: NEW_MEMBER_JOIN_TIMEOUT_MS).
 */
export const NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000

/** JoinGroup on a group that exists; `newMemberId` makes a unique id. Resolves when the rebalance completes. */
export function joinGroup(
  group: Group,
  request: JoinRequest,
  membersMax: number,
  newMemberId: (prefix: string) => string,
): Promise<JoinResult> {
  if (!group.state.hasRoom(group, request.memberId, membersMax)) {
    const known = group.members.get(request.memberId)
    if (known !== undefined) {
      group.remove(known)
      group.state.membersChanged(group)
    }
    return refuse(Errors.GROUP_MAX_SIZE_REACHED, '')
  }
  if (!acceptsProtocols(group, request)) return refuse(Errors.INCONSISTENT_GROUP_PROTOCOL, request.memberId)
  if (request.memberId === '') return joinNew(group, request, newMemberId)
  return joinKnown(group, request)
}

function refuse(error: number, memberId: string): Promise<JoinResult> {
  return Promise.resolve(joinError(error, memberId))
}

/** The type must be the group's and one protocol common to all; an empty group takes any non-empty type and list. */
function acceptsProtocols(group: Group, request: JoinRequest): boolean {
  if (group.members.size === 0) return request.protocolType !== '' && request.protocols.length > 0
  return request.protocolType === group.protocolType && supports(group.members.values(), request.protocols)
}

function joinNew(group: Group, request: JoinRequest, newMemberId: (prefix: string) => string): Promise<JoinResult> {
  const { instanceId } = request
  if (instanceId !== null) {
    const memberId = newMemberId(instanceId)
    const holder = group.statics.get(instanceId)
    if (holder === undefined) return addMember(group, memberId, request)
    const member = group.members.get(holder)!
    const oldLeader = group.leader
    group.renameStatic(member, memberId)
    group.restartSession(member, request.sessionTimeoutMs)
    return group.state.replaced(group, member, request, oldLeader)
  }
  const memberId = newMemberId(request.clientId)
  if (!request.requireKnownMemberId) return addMember(group, memberId, request)
  group.addPendingJoin(memberId, request.sessionTimeoutMs)
  return refuse(Errors.MEMBER_ID_REQUIRED, memberId)
}

function joinKnown(group: Group, request: JoinRequest): Promise<JoinResult> {
  const { memberId, instanceId } = request
  if (group.pendingJoins.has(memberId)) {
    // Static members never go through a pending id.
    return instanceId === null ? addMember(group, memberId, request) : refuse(Errors.UNKNOWN_MEMBER_ID, memberId)
  }
  const member = findMember(group, memberId, instanceId)
  if (typeof member === 'number') return refuse(member, memberId)
  return group.state.rejoin(group, member, request)
}

function addMember(group: Group, memberId: string, request: JoinRequest): Promise<JoinResult> {
  const member = Member.joining(memberId, request)
  group.add(member, request.protocolType)
  group.memberAdded = true
  group.restartSession(member, NEW_MEMBER_JOIN_TIMEOUT_MS)
  const parked = group.park(member)
  group.state.membersChanged(group)
  return parked
}

/** The member with this id, or a Kafka error code: FENCED_INSTANCE_ID when another one holds its instance id (KIP-345). */
export function findMember(group: Group, memberId: string, instanceId: string | null): Member | number {
  if (instanceId !== null) {
    const holder = group.statics.get(instanceId)
    if (holder === undefined) return Errors.UNKNOWN_MEMBER_ID
    if (holder !== memberId) return Errors.FENCED_INSTANCE_ID
  }
  return group.members.get(memberId) ?? Errors.UNKNOWN_MEMBER_ID
}
