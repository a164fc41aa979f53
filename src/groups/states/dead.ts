import { Errors } from '../../../protocol/errors.ts'
import { joinError, syncError } from '../types.ts'
import type { GroupState } from './state.ts'

/** The group was deleted, or its shard went to another pod, or this process stops. Clients look for the coordinator again. */
export const dead: GroupState = {
  name: 'Dead',

  enter(group) {
    group.joinTimer?.cancel()
    group.syncTimer?.cancel()
    for (const memberId of group.pendingJoins.keys()) group.forgetPendingJoin(memberId)
    for (const member of group.members.values()) {
      member.session?.cancel()
      member.answerJoin(joinError(group.deathError, member.memberId))
      member.answerSync(syncError(group.deathError))
    }
    group.members.clear()
  },

  hasRoom: () => true,
  rejoin: (_group, member) => Promise.resolve(joinError(Errors.COORDINATOR_NOT_AVAILABLE, member.memberId)),
  replaced: (_group, member) => Promise.resolve(joinError(Errors.COORDINATOR_NOT_AVAILABLE, member.memberId)),
  membersChanged() {},
  sync: () => Promise.resolve(syncError(Errors.COORDINATOR_NOT_AVAILABLE)),
  heartbeat: () => Errors.COORDINATOR_NOT_AVAILABLE,
  commit: () => Errors.COORDINATOR_NOT_AVAILABLE,
}
