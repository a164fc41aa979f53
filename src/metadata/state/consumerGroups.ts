import type { ClassicPart, ConsumerGroupHead, ConsumerMember, OwnedPartitions } from '../consumerGroupCommands.ts'

/** A consumer group (KIP-848). Members are never changed, only replaced. */
export interface ConsumerGroupRow {
  head: ConsumerGroupHead
  readonly members: Map<string, ConsumerMember>
}

/** A plain copy, see copyGroup. */
export function copyHead(head: ConsumerGroupHead): ConsumerGroupHead {
  const { groupId, epoch, assignmentEpoch, topicsHash, assignor, stateTimeMs, revision, assignedAtMs } = head
  // What came with level 3 is left out while it has nothing: the state's hash must not change.
  const later = { revision: revision || undefined, assignedAtMs: assignedAtMs || undefined }
  return { groupId, epoch, assignmentEpoch, topicsHash, assignor, stateTimeMs, ...later }
}

export function copyConsumerMember(member: ConsumerMember): ConsumerMember {
  return {
    memberId: member.memberId,
    instanceId: member.instanceId,
    rackId: member.rackId,
    clientId: member.clientId,
    clientHost: member.clientHost,
    rebalanceTimeoutMs: member.rebalanceTimeoutMs,
    topics: [...member.topics],
    regex: member.regex,
    assignor: member.assignor,
    epoch: member.epoch,
    previousEpoch: member.previousEpoch,
    phase: member.phase,
    assigned: copyOwned(member.assigned),
    revoking: copyOwned(member.revoking),
    target: copyOwned(member.target),
    classic: member.classic ? copyClassic(member.classic) : undefined,
  }
}

function copyClassic({ sessionTimeoutMs, protocols }: ClassicPart): ClassicPart {
  return { sessionTimeoutMs, protocols: protocols.map(({ name, metadata }) => ({ name, metadata: Uint8Array.from(metadata) })) }
}

function copyOwned(owned: readonly OwnedPartitions[]): OwnedPartitions[] {
  return owned.map(({ topicId, partitions, epochs }) => {
    const kept = epochs !== undefined && epochs.length === partitions.length && epochs.length > 0 ? [...epochs] : undefined
    return { topicId, partitions: [...partitions], epochs: kept }
  })
}
