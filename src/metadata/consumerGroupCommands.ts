/** Partitions of one topic, ascending. The topic is named by its id, so that a name that is used again is another topic. */
export interface OwnedPartitions {
  readonly topicId: string
  readonly partitions: readonly number[]
}

/** Where a member stands on its way to its target (KIP-848): 0 stable, 1 must revoke first, 2 waits for what others hold. */
export type MemberPhase = 0 | 1 | 2

/** A member of a consumer group (KIP-848). */
export interface ConsumerMember {
  readonly memberId: string
  /** group.instance.id, or null. */
  readonly instanceId: string | null
  readonly rackId: string | null
  readonly clientId: string
  readonly clientHost: string
  readonly rebalanceTimeoutMs: number
  /** Names it subscribes to, sorted. */
  readonly topics: readonly string[]
  /** RE2 pattern it subscribes to, or null. */
  readonly regex: string | null
  /** Assignor it asks for, or null. */
  readonly assignor: string | null
  /** -2: a static member that left and may come back. */
  readonly epoch: number
  readonly previousEpoch: number
  readonly phase: MemberPhase
  /** What it may use. */
  readonly assigned: readonly OwnedPartitions[]
  /** What it must give up before anything else happens. */
  readonly revoking: readonly OwnedPartitions[]
  /** What it shall have in the end. */
  readonly target: readonly OwnedPartitions[]
}

/** A consumer group without its members. */
export interface ConsumerGroupHead {
  readonly groupId: string
  /** Goes up when a subscription, a member or the topics change. */
  readonly epoch: number
  /** The group epoch that the targets were computed for. */
  readonly assignmentEpoch: number
  /** Of the topics that the targets were computed for. */
  readonly topicsHash: string
  /** The assignor that was used last; '' before. */
  readonly assignor: string
  /** Wall time of the last change of the group epoch (for offset retention). */
  readonly stateTimeMs: number
}

/**
 * Since level 2. One step of a consumer group (KIP-848): the head, members that are new or changed, members that are gone.
 * Makes the group, out of a classic one when that has no members; else NON_EMPTY_GROUP.
 */
export interface ChangeConsumerGroup {
  readonly shardEpoch: number
  readonly head: ConsumerGroupHead
  readonly members: readonly ConsumerMember[]
  readonly removed: readonly string[]
}
