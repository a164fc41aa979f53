import type { ConsumerGroupState, ConsumerSettings } from './consumer/types.ts'
import { DEFAULT_CONSUMER_SETTINGS } from './consumer/types.ts'

/** Settings of groups, under Kafka's own names; read at each use so that a changed setting counts at once. */
export interface GroupSettings {
  /** group.initial.rebalance.delay.ms: how long a new group waits for more members. */
  readonly initialRebalanceDelayMs: number
  /** group.min.session.timeout.ms */
  readonly sessionTimeoutMinMs: number
  /** group.max.session.timeout.ms */
  readonly sessionTimeoutMaxMs: number
  /** group.max.size */
  readonly membersMax: number
  /** offset.metadata.max.bytes; Kafka counts UTF-16 units, and so do we. */
  readonly offsetMetadataMaxLength: number
  /** offsets.retention.minutes, in ms. */
  readonly offsetsRetentionMs: number
  /** offsets.retention.check.interval.ms */
  readonly offsetsRetentionCheckMs: number
  /** Of consumer groups (KIP-848). */
  readonly consumer: ConsumerSettings
}

/** Kafka's defaults. */
export const DEFAULT_GROUP_SETTINGS: GroupSettings = {
  initialRebalanceDelayMs: 3_000,
  sessionTimeoutMinMs: 6_000,
  sessionTimeoutMaxMs: 1_800_000,
  membersMax: 2_147_483_647,
  offsetMetadataMaxLength: 4_096,
  offsetsRetentionMs: 10_080 * 60_000,
  offsetsRetentionCheckMs: 600_000,
  consumer: DEFAULT_CONSUMER_SETTINGS,
}

export interface JoinRequest {
  readonly groupId: string
  /** '' for a member that has no id yet. */
  readonly memberId: string
  /** group.instance.id of a static member (KIP-345), else null. */
  readonly instanceId: string | null
  readonly clientId: string
  readonly clientHost: string
  readonly sessionTimeoutMs: number
  readonly rebalanceTimeoutMs: number
  readonly protocolType: string
  /** In the member's order of preference; the bytes are opaque and are never re-encoded. */
  readonly protocols: readonly MemberProtocol[]
  /** JoinGroup v4+: a dynamic member without an id is sent away with one first (KIP-394). */
  readonly requireKnownMemberId: boolean
  /** JoinGroup v9+: a static leader that comes back may be told to skip the assignment. */
  readonly supportsSkippingAssignment: boolean
}

export interface MemberProtocol {
  readonly name: string
  readonly metadata: Uint8Array
}

export interface JoinResult {
  /** Kafka error code. */
  readonly error: number
  readonly generation: number
  readonly protocolType: string | null
  readonly protocolName: string | null
  readonly leader: string
  readonly skipAssignment: boolean
  readonly memberId: string
  /** For the leader only. */
  readonly members: readonly { readonly memberId: string; readonly instanceId: string | null; readonly metadata: Uint8Array }[]
}

export interface SyncRequest {
  readonly groupId: string
  readonly generation: number
  readonly memberId: string
  readonly instanceId: string | null
  /** v5+; null is not checked. */
  readonly protocolType: string | null
  readonly protocolName: string | null
  /** From the leader; empty from followers. */
  readonly assignments: readonly { readonly memberId: string; readonly assignment: Uint8Array }[]
}

export interface SyncResult {
  readonly error: number
  readonly protocolType: string | null
  readonly protocolName: string | null
  readonly assignment: Uint8Array
}

export interface HeartbeatRequest {
  readonly groupId: string
  readonly generation: number
  readonly memberId: string
  readonly instanceId: string | null
}

export interface LeavingMember {
  /** '' removes by instance id alone (an administrator's removal). */
  readonly memberId: string
  readonly instanceId: string | null
}

export interface LeaveResult {
  readonly error: number
  readonly members: readonly { readonly memberId: string; readonly instanceId: string | null; readonly error: number }[]
}

export interface CommitRequest {
  readonly groupId: string
  readonly memberId: string
  readonly instanceId: string | null
  /** -1 from simple consumers and administrators. */
  readonly generation: number
  /** retention_time_ms of OffsetCommit v2-4, else -1. */
  readonly retentionMs: number
  /** OffsetCommit v9+ answers GROUP_ID_NOT_FOUND where older versions answer ILLEGAL_GENERATION (KIP-848). */
  readonly groupIdNotFound: boolean
  readonly items: readonly CommitItem[]
}

/** TxnOffsetCommit. */
export interface TransactionCommitRequest extends CommitRequest {
  readonly transaction: {
    readonly transactionalId: string
    readonly producerId: number
    readonly producerEpoch: number
    /** Without AddOffsetsToTxn before (KIP-890). */
    readonly addGroup: boolean
  }
}

export interface CommitItem {
  /** Topic number in the metadata state. */
  readonly topic: number
  readonly partition: number
  readonly offset: number
  readonly leaderEpoch: number
  readonly metadata: string
}

export type StateName = 'Empty' | 'PreparingRebalance' | 'CompletingRebalance' | 'Stable' | 'Dead'

export interface GroupDescription {
  readonly error: number
  readonly groupId: string
  readonly state: StateName
  readonly protocolType: string
  readonly protocolName: string
  readonly members: readonly {
    readonly memberId: string
    readonly instanceId: string | null
    readonly clientId: string
    readonly clientHost: string
    readonly metadata: Uint8Array
    readonly assignment: Uint8Array
  }[]
}

export interface GroupListing {
  readonly groupId: string
  readonly protocolType: string
  readonly state: StateName | ConsumerGroupState
  readonly type: 'classic' | 'consumer'
}

export const NO_BYTES: Uint8Array = new Uint8Array(0)

/** A JoinGroup answer that carries an error and nothing else. */
export function joinError(error: number, memberId: string): JoinResult {
  return { error, generation: -1, protocolType: null, protocolName: null, leader: '', skipAssignment: false, memberId, members: [] }
}

/** A SyncGroup answer that carries an error and nothing else. */
export function syncError(error: number): SyncResult {
  return { error, protocolType: null, protocolName: null, assignment: NO_BYTES }
}
