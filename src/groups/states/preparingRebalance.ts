import { Errors } from '../../../protocol/errors.ts'
import type { Group } from '../group.ts'
import { syncError } from '../types.ts'
import type { GroupState } from './state.ts'

/** Members are asked to join again; their JoinGroup requests are parked until all have, or the longest rebalance timeout ends. */
export const preparingRebalance: GroupState = {
  name: 'PreparingRebalance',

  enter(group, previous) {
    group.answerSyncs(syncError(Errors.REBALANCE_IN_PROGRESS))
    group.syncTimer?.cancel()
    group.pendingSyncs.clear()
    group.memberAdded = false
    if (previous === 'Empty') {
      const delayMs = group.context.settings().initialRebalanceDelayMs
      waitForMore(group, delayMs, Math.max(0, group.rebalanceTimeoutMs() - delayMs))
    } else completeOrWait(group)
  },

  hasRoom(group, memberId, membersMax) {
    return group.members.get(memberId)?.awaitingJoin === true || group.awaitingJoins() < membersMax
  },

  rejoin(group, member, request) {
    group.update(member, request)
    const parked = group.park(member)
    this.membersChanged(group)
    return parked
  },

  replaced(group, member, request) {
    return this.rejoin(group, member, request)
  },

  /** The initial delay is never cut short: it exists so that one rebalance serves all who start together. */
  membersChanged(group) {
    if (group.previousState !== 'Empty' && allJoined(group)) complete(group)
  },

  sync: () => Promise.resolve(syncError(Errors.REBALANCE_IN_PROGRESS)),

  /** The answer sends the member to JoinGroup; the beat counts nevertheless. */
  heartbeat(group, member) {
    group.restartSession(member)
    return Errors.REBALANCE_IN_PROGRESS
  },

  /** Still allowed: members commit what they have before they give partitions up. */
  commit(group, member) {
    group.restartSession(member)
    return Errors.NONE
  },
}

function allJoined(group: Group): boolean {
  return group.pendingJoins.size === 0 && group.awaitingJoins() === group.members.size
}

/** The initial delay, extended for every newcomer while the largest rebalance timeout allows. */
function waitForMore(group: Group, delayMs: number, remainingMs: number): void {
  group.joinTimer?.cancel()
  group.joinTimer = group.context.clock.timer(delayMs, () => {
    if (!group.memberAdded || remainingMs === 0) return complete(group)
    group.memberAdded = false
    const nextMs = Math.min(group.context.settings().initialRebalanceDelayMs, remainingMs)
    waitForMore(group, nextMs, Math.max(0, remainingMs - nextMs))
  })
}

function completeOrWait(group: Group): void {
  if (allJoined(group)) return complete(group)
  group.joinTimer?.cancel()
  group.joinTimer = group.context.clock.timer(group.rebalanceTimeoutMs(), () => complete(group))
}

/** Ends the join phase: those who did not come back go, static members excepted, and the next generation begins. */
function complete(group: Group): void {
  group.joinTimer?.cancel()
  group.joinTimer = null
  for (const member of group.members.values()) {
    if (!member.awaitingJoin && member.instanceId === null) group.remove(member)
  }
  if (group.members.size > 0 && !electLeader(group)) {
    // Only static members are left and none of them came: their sessions decide.
    group.joinTimer = group.context.clock.timer(group.rebalanceTimeoutMs(), () => complete(group))
    return
  }
  group.generation++
  group.protocolName = group.nextProtocol()
  group.transitionTo(group.members.size === 0 ? 'Empty' : 'CompletingRebalance')
}

/** A leader that did not rejoin is replaced by the first member that did. */
function electLeader(group: Group): boolean {
  if (group.leader !== null && group.members.get(group.leader)?.awaitingJoin === true) return true
  for (const member of group.members.values()) {
    if (!member.awaitingJoin) continue
    group.leader = member.memberId
    return true
  }
  return false
}
