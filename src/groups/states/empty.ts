import { Errors } from '../../../protocol/errors.ts'
import type { Group } from '../group.ts'
import { joinError, syncError } from '../types.ts'
import type { GroupState } from './state.ts'

/** No members; offsets may be there. The clock of offset retention runs (KIP-211). */
export const empty: GroupState = {
  name: 'Empty',

  enter(group, previous) {
    group.pendingSyncs.clear()
    group.syncTimer?.cancel()
    if (previous === 'PreparingRebalance') void group.put()
  },

  hasRoom: () => true,

  /** The first member came: the rebalance begins, and waits a while for others. */
  membersChanged(group: Group) {
    if (group.members.size > 0) group.transitionTo('PreparingRebalance')
  },

  // An empty group has no members, so the caller has refused these before; the answers say the same.
  rejoin: (_group, member) => Promise.resolve(joinError(Errors.UNKNOWN_MEMBER_ID, member.memberId)),
  replaced: (_group, member) => Promise.resolve(joinError(Errors.UNKNOWN_MEMBER_ID, member.memberId)),
  sync: () => Promise.resolve(syncError(Errors.UNKNOWN_MEMBER_ID)),
  heartbeat: () => Errors.UNKNOWN_MEMBER_ID,
  commit: () => Errors.NONE,
}
