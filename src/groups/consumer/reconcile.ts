import type { ConsumerMember, MemberPhase } from '../../metadata/commands.ts'
import type { Draft } from './draft.ts'
import { overlaps, select, toSets, union } from './owned.ts'
import type { Owned } from './types.ts'

const STABLE: MemberPhase = 0
const MUST_REVOKE: MemberPhase = 1
const WAITS: MemberPhase = 2

/**
 * The next step of a member towards its target (KIP-848): first it gives up what it shall not have, and stays in its epoch until
 * its heartbeat says that it has; then it goes to the epoch of the targets, with what is free of the rest. A partition is free
 * when no member holds it or still has to give it up: that no partition has two owners rests on this alone.
 * `owned`: what the member says it owns, null when it does not say. The member itself when there is nothing to do.
 */
export function reconcile(draft: Draft, member: ConsumerMember, owned: Owned | null): ConsumerMember {
  const { assignmentEpoch } = draft.head
  if (member.phase === STABLE && member.epoch === assignmentEpoch) return member
  if (member.phase === MUST_REVOKE) {
    if (owns(owned, member.revoking)) return member
    return next(draft, member, member.epoch + 1, owned)
  }
  return next(draft, member, member.epoch, owned)
}

/** One that does not say what it owns may own it still. */
function owns(owned: Owned | null, partitions: Owned): boolean {
  return owned === null || overlaps(partitions, owned)
}

function next(draft: Draft, member: ConsumerMember, epoch: number, owned: Owned | null): ConsumerMember {
  const target = toSets(member.target)
  const held = toSets(member.assigned)
  const kept = select(member.assigned, (topicId, partition) => target.get(topicId)?.has(partition) === true)
  const revoking = select(member.assigned, (topicId, partition) => target.get(topicId)?.has(partition) !== true)
  if (revoking.length > 0 && owns(owned, revoking)) {
    return moved(member, { epoch, phase: MUST_REVOKE, assigned: kept, revoking })
  }
  let waits = false
  const added = select(member.target, (topicId, partition) => {
    if (held.get(topicId)?.has(partition) === true) return false
    const holder = draft.holder(topicId, partition)
    // What it has just given up may come back to it.
    if (holder === null || holder === member.memberId) return true
    waits = true
    return false
  })
  const assigned = added.length === 0 ? kept : union(kept, added)
  return moved(member, { epoch: draft.head.assignmentEpoch, phase: waits ? WAITS : STABLE, assigned, revoking: [] })
}

/** The epoch before is remembered for an answer that was lost. */
function moved(member: ConsumerMember, to: Pick<ConsumerMember, 'epoch' | 'phase' | 'assigned' | 'revoking'>): ConsumerMember {
  const unchanged =
    to.phase === WAITS && member.phase === WAITS && to.epoch === member.epoch && sizes(to.assigned) === sizes(member.assigned)
  if (unchanged) return member
  return { ...member, ...to, previousEpoch: to.epoch === member.epoch ? member.previousEpoch : member.epoch }
}

/** A member that waits only ever gains partitions within an epoch, so the number says whether it did. */
function sizes(owned: Owned): number {
  return owned.reduce((sum, { partitions }) => sum + partitions.length, 0)
}
