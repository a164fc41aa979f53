import type { ConsumerMember, MemberPhase } from '../../metadata/commands.ts'
import type { Draft } from './draft.ts'
import { gotIn, isSame, overlaps, select, toSets, union } from './owned.ts'
import type { Owned } from './types.ts'

/** Whether the member subscribes to the topic of that id, which exists. */
export type Subscribed = (topicId: string) => boolean

const STABLE: MemberPhase = 0
const MUST_REVOKE: MemberPhase = 1
const WAITS: MemberPhase = 2

/**
 * The next step of a member towards its target (KIP-848): first it gives up what it shall not have, and stays in its epoch until
 * its heartbeat says that it has; then it goes to the epoch of the targets, with what is free of the rest. A partition is free
 * when no member holds it or still has to give it up: that no partition has two owners rests on this alone.
 * `owned`: what the member says it owns, null when it does not say. Targets may be older than what it
 * subscribes to (KIP-1263). The member itself when there is nothing to do.
 */
export function reconcile(draft: Draft, member: ConsumerMember, owned: Owned | null, subscribed: Subscribed): ConsumerMember {
  const { assignmentEpoch } = draft.head
  if (member.phase === STABLE && member.epoch === assignmentEpoch) return unsubscribe(member, owned, subscribed)
  if (member.phase === MUST_REVOKE && owns(owned, member.revoking)) return unsubscribe(member, owned, subscribed)
  return next(draft, member, owned, subscribed)
}

/** One that does not say what it owns may own it still. */
function owns(owned: Owned | null, partitions: Owned): boolean {
  return owned === null || overlaps(partitions, owned)
}

/** Gives up topics that it no longer subscribes to, before there are other targets. */
function unsubscribe(member: ConsumerMember, owned: Owned | null, subscribed: Subscribed): ConsumerMember {
  const assigned = member.assigned.filter(({ topicId }) => subscribed(topicId))
  if (assigned.length === member.assigned.length) return member
  const left = member.assigned.filter(({ topicId }) => !subscribed(topicId))
  const revoking = union(member.revoking, left)
  return owns(owned, revoking)
    ? moved(member, { epoch: member.epoch, phase: MUST_REVOKE, assigned, revoking })
    : moved(member, { epoch: member.epoch, phase: member.phase, assigned, revoking: member.revoking })
}

function next(draft: Draft, member: ConsumerMember, owned: Owned | null, subscribed: Subscribed): ConsumerMember {
  const wanted = member.target.filter(({ topicId }) => subscribed(topicId))
  const target = toSets(wanted)
  const held = toSets(member.assigned)
  const kept = select(member.assigned, (topicId, partition) => target.get(topicId)?.has(partition) === true)
  const revoking = select(member.assigned, (topicId, partition) => target.get(topicId)?.has(partition) !== true)
  if (revoking.length > 0 && owns(owned, revoking)) {
    return moved(member, { epoch: member.epoch, phase: MUST_REVOKE, assigned: kept, revoking })
  }
  let waits = false
  const added = select(wanted, (topicId, partition) => {
    if (held.get(topicId)?.has(partition) === true) return false
    const holder = draft.holder(topicId, partition)
    // What it has just given up may come back to it.
    if (holder === null || holder === member.memberId) return true
    waits = true
    return false
  })
  const epoch = draft.head.assignmentEpoch
  const assigned = added.length === 0 ? kept : union(kept, gotIn(added, epoch))
  return moved(member, { epoch, phase: waits ? WAITS : STABLE, assigned, revoking: [] })
}

/** The epoch before is remembered for an answer that was lost. */
function moved(member: ConsumerMember, to: Pick<ConsumerMember, 'epoch' | 'phase' | 'assigned' | 'revoking'>): ConsumerMember {
  const unchanged = to.phase === WAITS && member.phase === WAITS && to.epoch === member.epoch && isSame(to.assigned, member.assigned)
  if (unchanged) return member
  return { ...member, ...to, previousEpoch: to.epoch === member.epoch ? member.previousEpoch : member.epoch }
}
