import { Errors } from '../../../protocol/errors.ts'
import type { Group } from '../group.ts'
import { NO_BYTES, syncError, type SyncRequest } from '../types.ts'
import type { GroupState } from './state.ts'

/** The generation is out; the leader computes the assignment while everybody's SyncGroup is parked. */
export const completingRebalance: GroupState = {
  name: 'CompletingRebalance',

  enter(group) {
    for (const member of group.members.values()) {
      member.answerJoin(group.joinResult(member))
      member.isNew = false
      group.restartSession(member)
      group.pendingSyncs.add(member.memberId)
    }
    const { generation } = group
    group.syncTimer?.cancel()
    group.syncTimer = group.context.clock.timer(group.rebalanceTimeoutMs(), () => dropSilent(group, generation))
  },

  hasRoom: (group, memberId, membersMax) => group.members.has(memberId) || group.members.size < membersMax,

  /** With unchanged metadata the first answer was lost and is given again; otherwise the rebalance starts over. */
  rejoin(group, member, request) {
    if (member.matches(request.protocols)) {
      group.restartSession(member)
      return Promise.resolve(group.joinResult(member))
    }
    group.update(member, request)
    return rebalance(group, () => group.park(member))
  },

  /** The leader may assign to the old id, so nothing but a new rebalance gives the new one its partitions. */
  replaced(group, member, request) {
    group.update(member, request)
    return rebalance(group, () => group.park(member))
  },

  membersChanged(group) {
    group.transitionTo('PreparingRebalance')
  },

  sync(group, member, request) {
    const parked = member.parkSync(syncError(Errors.REBALANCE_IN_PROGRESS))
    group.pendingSyncs.delete(member.memberId)
    if (member.memberId === group.leader && group.storingGeneration !== group.generation) void storeAssignment(group, request)
    return parked
  },

  /** Heartbeats may start right after the join answer; they count. */
  heartbeat(group, member) {
    group.restartSession(member)
    return Errors.NONE
  },

  commit: () => Errors.REBALANCE_IN_PROGRESS,
}

/** Nobody is told an assignment before it is durable; members that the leader left out get empty bytes. */
async function storeAssignment(group: Group, request: SyncRequest): Promise<void> {
  const { generation } = group
  group.storingGeneration = generation
  const assignments = new Map(request.assignments.map(({ memberId, assignment }) => [memberId, Uint8Array.from(assignment)]))
  const error = await group.put(assignments)
  if (group.storingGeneration === generation) group.storingGeneration = -1
  // Meanwhile somebody may have joined or left, and the next rebalance begun.
  if (group.state !== completingRebalance || group.generation !== generation) return
  if (error !== Errors.NONE) {
    group.answerSyncs(syncError(error))
    group.transitionTo('PreparingRebalance')
    return
  }
  for (const member of group.members.values()) member.assignment = assignments.get(member.memberId) ?? NO_BYTES
  group.transitionTo('Stable')
}

/** Parks first and rebalances then, so that the one who asked counts as joined. */
function rebalance<T>(group: Group, park: () => Promise<T>): Promise<T> {
  const parked = park()
  group.transitionTo('PreparingRebalance')
  return parked
}

/** Members that never sent SyncGroup within the rebalance timeout are dropped, also when the group has become stable. */
function dropSilent(group: Group, generation: number): void {
  if (group.generation !== generation || (group.state.name !== 'CompletingRebalance' && group.state.name !== 'Stable')) return
  const silent = [...group.pendingSyncs].map((memberId) => group.members.get(memberId)).filter((member) => member !== undefined)
  if (silent.length === 0) return
  for (const member of silent) group.remove(member)
  group.transitionTo('PreparingRebalance')
}
