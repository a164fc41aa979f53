import { Errors } from '../../protocol/errors.ts'
import type { Group } from './group.ts'
import { findMember } from './join.ts'
import type { LeaveResult, LeavingMember } from './types.ts'

/** LeaveGroup: each member by itself, then one word to the state, so that a batch costs one rebalance (KIP-345). */
export function leaveGroup(group: Group, leaving: readonly LeavingMember[]): LeaveResult {
  let left = false
  const members = leaving.map(({ memberId, instanceId }) => {
    const error = leaveOne(group, memberId, instanceId)
    left ||= error === Errors.NONE
    return { memberId, instanceId, error }
  })
  if (left && group.state.name !== 'Empty') group.state.membersChanged(group)
  return { error: Errors.NONE, members }
}

function leaveOne(group: Group, memberId: string, instanceId: string | null): number {
  if (memberId !== '' && group.forgetPendingJoin(memberId)) return Errors.NONE
  // An administrator removes a static member by its instance id alone.
  const id = memberId === '' && instanceId !== null ? group.statics.get(instanceId) : memberId
  const member = id === undefined ? Errors.UNKNOWN_MEMBER_ID : findMember(group, id, instanceId)
  if (typeof member === 'number') return member
  group.remove(member)
  return Errors.NONE
}
