import type { OwnedPartitions } from '../../metadata/commands.ts'

export type Owned = readonly OwnedPartitions[]

/** Which groups with members may go to the other protocol: to this one (upgrade), to the classic one (downgrade). */
export type MigrationPolicy = 'disabled' | 'upgrade' | 'downgrade' | 'bidirectional'

/** Settings of consumer groups, under Kafka's own names. */
export interface ConsumerSettings {
  /** group.consumer.session.timeout.ms */
  readonly sessionTimeoutMs: number
  /** group.consumer.heartbeat.interval.ms */
  readonly heartbeatIntervalMs: number
  /** group.consumer.assignment.interval.ms: how soon after targets the next may be computed (KIP-1263). */
  readonly assignmentIntervalMs: number
  /** group.consumer.migration.policy */
  readonly migrationPolicy: MigrationPolicy
  /** group.consumer.max.size */
  readonly membersMax: number
  /** group.max.size, which a group that goes back to the classic protocol must keep. */
  readonly classicMembersMax: number
  /** group.consumer.assignors; the first is the default. */
  readonly assignors: readonly string[]
}

export function mayUpgrade({ migrationPolicy }: ConsumerSettings): boolean {
  return migrationPolicy === 'upgrade' || migrationPolicy === 'bidirectional'
}

export function mayDowngrade({ migrationPolicy }: ConsumerSettings): boolean {
  return migrationPolicy === 'downgrade' || migrationPolicy === 'bidirectional'
}

/** Kafka's defaults. */
export const DEFAULT_CONSUMER_SETTINGS: ConsumerSettings = {
  sessionTimeoutMs: 45_000,
  heartbeatIntervalMs: 5_000,
  assignmentIntervalMs: 1_000,
  migrationPolicy: 'bidirectional',
  membersMax: 2_147_483_647,
  classicMembersMax: 2_147_483_647,
  assignors: ['uniform', 'range'],
}

/** Epochs with a meaning of their own in a heartbeat. */
export const JOIN_EPOCH = 0
export const LEAVE_EPOCH = -1
/** A static member leaves and will come back. */
export const LEAVE_STATIC_EPOCH = -2

/** A heartbeat; null, and -1 for the timeout, mean unchanged. */
export interface ConsumerHeartbeat {
  readonly version: number
  readonly groupId: string
  readonly memberId: string
  readonly epoch: number
  readonly instanceId: string | null
  readonly rackId: string | null
  readonly rebalanceTimeoutMs: number
  readonly topics: readonly string[] | null
  readonly regex: string | null
  readonly assignor: string | null
  readonly owned: Owned | null
  readonly clientId: string
  readonly clientHost: string
}

/** A Kafka error code with a sentence for the client. */
export interface Refusal {
  readonly error: number
  readonly message: string | null
}

export interface HeartbeatResult extends Refusal {
  readonly memberId: string | null
  readonly epoch: number
  readonly heartbeatIntervalMs: number
  /** null when it did not change. */
  readonly assignment: Owned | null
}

export function refusal(error: number, message: string | null = null): Refusal {
  return { error, message }
}

export function refusedHeartbeat({ error, message }: Refusal): HeartbeatResult {
  return { error, message, memberId: null, epoch: 0, heartbeatIntervalMs: 0, assignment: null }
}

export type ConsumerGroupState = 'Empty' | 'Assigning' | 'Reconciling' | 'Stable'
