import type { ConsumerGroupHead, ConsumerMember, OwnedPartitions } from '../consumerGroupCommands.ts'

/** A consumer group (KIP-848). Members are never changed, only replaced. */
export interface ConsumerGroupRow {
  head: ConsumerGroupHead
  readonly members: Map<string, ConsumerMember>
}

/** A plain copy, see copyGroup. */
export function copyHead(head: ConsumerGroupHead): ConsumerGroupHead {
  const { groupId, epoch, assignmentEpoch, topicsHash, assignor, stateTimeMs } = head
  return { groupId, epoch, assignmentEpoch, topicsHash, assignor, stateTimeMs }
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
  }
}

function copyOwned(owned: readonly OwnedPartitions[]): OwnedPartitions[] {
  return owned.map(({ topicId, partitions }) => ({ topicId, partitions: [...partitions] }))
}
