import { Errors } from '../../../protocol/errors.ts'
import type { GroupState } from './state.ts'

/** Every member has its assignment. */
export const stable: GroupState = {
  name: 'Stable',

  enter(group) {
    for (const member of group.members.values()) {
      if (!member.awaitingSync) continue
      member.answerSync(group.syncResult(member))
      group.restartSession(member)
    }
  },

  hasRoom: (group, memberId, membersMax) => group.members.has(memberId) || group.members.size < membersMax,

  /**
   * A leader that joins again asks for a rebalance (its view of the topics changed, or it restarted); so does a member
   * whose metadata changed. A follower that repeats itself gets the current generation back.
   */
  rejoin(group, member, request) {
    if (member.memberId !== group.leader && member.matches(request.protocols)) {
      group.restartSession(member)
      return Promise.resolve(group.joinResult(member))
    }
    group.update(member, request)
    const parked = group.park(member)
    group.transitionTo('PreparingRebalance')
    return parked
  },

  /**
   * KIP-345: a static member that was bounced takes its place back without a rebalance, once its new id is stored. The
   * leader is told so by skip_assignment (v9, KIP-814); older versions are told the leader's old id, so that the member
   * takes itself for a follower. When the store's answer is lost, memory keeps the new id: the client asks again and the
   * whole record is written again.
   */
  async replaced(group, member, request, oldLeader) {
    group.update(member, request)
    if (group.nextProtocol() !== group.protocolName) {
      const parked = group.park(member)
      group.transitionTo('PreparingRebalance')
      return parked
    }
    const leads = member.memberId === group.leader
    const result = request.supportsSkippingAssignment
      ? group.joinResult(member, { skipAssignment: leads, withMembers: leads })
      : group.joinResult(member, { leader: oldLeader ?? '', withMembers: false })
    const error = await group.put()
    return error === Errors.NONE ? result : { ...result, error, generation: -1, members: [] }
  },

  membersChanged(group) {
    group.transitionTo('PreparingRebalance')
  },

  sync(group, member) {
    group.pendingSyncs.delete(member.memberId)
    group.restartSession(member)
    return Promise.resolve(group.syncResult(member))
  },

  heartbeat(group, member) {
    group.restartSession(member)
    return Errors.NONE
  },

  commit(group, member) {
    group.restartSession(member)
    return Errors.NONE
  },
}
