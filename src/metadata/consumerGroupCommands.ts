/** Partitions of one topic, ascending. The topic is named by its id, so that a name that is used again is another topic. */
export interface OwnedPartitions {
  readonly topicId: string
  readonly partitions: readonly number[]
  /** Since level 3, of what a member has: the epoch in which it got each (KIP-1251); not there means the member's epoch. */
  readonly epochs?: readonly number[] | undefined
}

/** What a member of the classic protocol said when it joined. */
export interface ClassicPart {
  readonly sessionTimeoutMs: number
  /** In the member's order of preference; the bytes are opaque. */
  readonly protocols: readonly { readonly name: string; readonly metadata: Uint8Array }[]
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
  /** Since level 3: of a member that speaks the classic protocol; not there for the others. */
  readonly classic?: ClassicPart | null | undefined
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
  /** Since level 3: counts the changes of the group. A change of another one than it was made for is refused. Not there: 0. */
  readonly revision?: number | undefined
  /** Since level 3: wall time at which the targets were computed (KIP-1263); not there: the next may be computed at once. */
  readonly assignedAtMs?: number | undefined
}

/**
 * Since level 2. One step of a consumer group (KIP-848): the head, members that are new or changed, members that are gone.
 * Makes the group, out of a classic one when that has no members or when it `upgrades` (level 3); else NON_EMPTY_GROUP. A head with a revision
 * that does not follow the group's: INVALID_UPDATE_VERSION.
 */
export interface ChangeConsumerGroup {
  readonly shardEpoch: number
  readonly head: ConsumerGroupHead
  readonly members: readonly ConsumerMember[]
  readonly removed: readonly string[]
  /** Since level 3: takes the place of a classic group with members, who are among `members`. */
  readonly upgrades?: boolean | undefined
}
