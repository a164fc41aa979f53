export interface GroupMember {
  readonly memberId: string
  readonly instanceId: string | null
  readonly clientId: string
  readonly clientHost: string
  readonly rebalanceTimeoutMs: number
  readonly sessionTimeoutMs: number
  readonly protocols: readonly { readonly name: string; readonly metadata: Uint8Array }[]
  readonly assignment: Uint8Array
}

/** The whole durable state of a classic group (L19); refused with NOT_COORDINATOR when the shard's epoch moved. */
export interface PutGroup {
  readonly shardEpoch: number
  readonly group: GroupRecord
  /** Since level 3: takes the place of a consumer group with members, whose next revision this would be; 0 or not there: of none. */
  readonly downgrades?: number | undefined
}

export interface GroupRecord {
  readonly groupId: string
  readonly protocolType: string
  readonly protocolName: string | null
  readonly generation: number
  readonly leader: string | null
  readonly members: readonly GroupMember[]
  /** Wall time of the last change of state (for offset retention). */
  readonly stateTimeMs: number
}

/** Removes a group with its offsets. */
export interface DeleteGroup {
  readonly shardEpoch: number
  readonly groupId: string
}

export interface OffsetItem {
  readonly topic: number
  readonly partition: number
  readonly offset: number
  readonly leaderEpoch: number
  readonly metadata: string
  readonly commitTimeMs: number
  /** Explicit retention of old request versions, else -1. */
  readonly expireTimeMs: number
}

/** Creates the group when it does not exist (simple consumers). Items of topics that are gone are dropped. */
export interface CommitOffsets {
  readonly shardEpoch: number
  readonly groupId: string
  readonly items: readonly OffsetItem[]
}

/** Each is removed only if its commit time is still the one named (L6). */
export interface ExpireOffsets {
  readonly shardEpoch: number
  readonly groupId: string
  readonly items: readonly { readonly topic: number; readonly partition: number; readonly commitTimeMs: number }[]
}
