import type { Registry } from 'prom-client'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { OffsetItem } from '../metadata/commands.ts'
import type { Metadata } from '../metadata/port.ts'
import type { ConsumerGroupView } from '../metadata/view.ts'
import { Errors } from '../../protocol/errors.ts'
import { deleteOffsets, deleteUnsubscribed, type DeleteOffsetsResult, type OffsetPlace } from './deleteOffsets.ts'
import { ClassicGroups } from './classicGroups.ts'
import { allowed, mayCommit } from './commits.ts'
import { ConsumerGroups } from './consumer/coordinator.ts'
import { mayFetchOffsets, type CommitVerdict } from './consumer/offsets.ts'
import type { ConsumerSettings } from './consumer/types.ts'
import { describeGroup, listGroups } from './describe.ts'
import type { Group } from './group.ts'
import { findMember, joinGroup } from './join.ts'
import { leaveGroup } from './leave.ts'
import type { Member } from './member.ts'
import { Offsets } from './offsets.ts'
import { shardOf } from '../metadata/state/shards.ts'
import { OwnedShards, ownedEpoch, takeShards } from './shards.ts'
import { writeGroup } from './store.ts'
import { Upkeep } from './upkeep.ts'
import {
  joinError,
  syncError,
  type CommitRequest,
  type GroupDescription,
  type GroupListing,
  type GroupSettings,
  type HeartbeatRequest,
  type JoinRequest,
  type JoinResult,
  type LeaveResult,
  type LeavingMember,
  type SyncRequest,
  type SyncResult,
  type TransactionCommitRequest,
} from './types.ts'

export interface CoordinatorOptions {
  readonly metadata: Metadata
  readonly clock: Clock
  readonly logger: Logger
  readonly registry: Registry
  readonly settings: () => GroupSettings
  /** Of one consumer group, which may have its own; `settings().consumer` when it is not there. */
  readonly consumerSettings?: (groupId: string) => ConsumerSettings
  /** Shards come and go by entries of other pods (pods/); else this process takes all of them at its start. */
  readonly shared?: boolean
  /** Canonical UUID text, unique for ever; member ids end with one. */
  readonly randomUuid: () => string
}

/**
 * Coordinator of groups for the shards that this process owns: classic ones (JoinGroup, SyncGroup, Heartbeat, LeaveGroup), offsets of
 * both kinds, and `consumers`, those of KIP-848. Every method answers Kafka error codes and rejects only on a fault of ours.
 */
export class GroupCoordinator {
  readonly #options: CoordinatorOptions
  readonly #offsets: Offsets
  readonly #groups: ClassicGroups
  /** Groups of the other protocol (KIP-848). */
  readonly consumers: ConsumerGroups
  readonly #upkeep: Upkeep
  #closed = false
  readonly #owned: OwnedShards
  #stopFollowing: () => void = () => {}

  constructor(options: CoordinatorOptions) {
    this.#options = options
    const { metadata, clock, logger, settings } = options
    this.#owned = new OwnedShards(metadata)
    this.#offsets = new Offsets({ metadata, clock, logger, settings })
    this.#groups = new ClassicGroups(options)
    this.consumers = new ConsumerGroups({
      metadata,
      clock,
      logger,
      settings: options.consumerSettings ?? (() => settings().consumer),
      randomUuid: options.randomUuid,
      unavailable: (groupId) => this.#unavailable(groupId),
      classic: this.#groups.side(),
    })
    this.#upkeep = new Upkeep({ metadata, clock, logger, settings, consumers: this.consumers, groups: this.#groups.byId })
  }

  /** Takes the shards and starts the session timers of the members that were there before a restart. */
  async start(): Promise<void> {
    const { metadata, shared } = this.#options
    if (shared !== true) await takeShards(metadata)
    this.#stopFollowing = metadata.onApplied((change) => {
      if (!change.other) return
      this.consumers.touch()
      if (shared === true) this.#followShards()
    })
    this.#followShards()
    this.#upkeep.start()
  }

  /** Answers everything that is parked (clients look for a coordinator again) and stops all timers. */
  close(): void {
    this.#closed = true
    this.#stopFollowing()
    this.#upkeep.stop()
    for (const group of this.#groups.byId.values()) group.die(Errors.NOT_COORDINATOR)
    for (const groupId of this.consumers.groupIds()) this.consumers.drop(groupId, Errors.NOT_COORDINATOR)
  }

  /** JoinGroup; resolves when the member's generation is known, which may take the rebalance timeout. */
  join(request: JoinRequest): Promise<JoinResult> {
    const refuse = (error: number): Promise<JoinResult> => Promise.resolve(joinError(error, request.memberId))
    const unavailable = this.#unavailable(request.groupId, true)
    if (unavailable !== Errors.NONE) return refuse(unavailable)
    const { sessionTimeoutMinMs, sessionTimeoutMaxMs, membersMax } = this.#options.settings()
    if (request.sessionTimeoutMs < sessionTimeoutMinMs || request.sessionTimeoutMs > sessionTimeoutMaxMs)
      return refuse(Errors.INVALID_SESSION_TIMEOUT)
    if (this.consumers.holds(request.groupId)) return this.consumers.classic.join(request)
    const known = this.#groups.find(request.groupId)
    if (known === null && request.memberId !== '') return refuse(Errors.UNKNOWN_MEMBER_ID)
    const group = known ?? this.#groups.live(request.groupId)
    const result = joinGroup(group, request, membersMax, (prefix) => `${prefix}-${this.#options.randomUuid()}`)
    this.#groups.forgetUnused(group)
    return result
  }

  /** SyncGroup; resolves when the assignment is durable. */
  sync(request: SyncRequest): Promise<SyncResult> {
    const refuse = (error: number): Promise<SyncResult> => Promise.resolve(syncError(error))
    const found = this.#member(request)
    if (typeof found === 'number') return refuse(found)
    if (found === null) return Promise.resolve(this.consumers.classic.sync(request))
    const { group, member } = found
    if (request.generation !== group.generation) return refuse(Errors.ILLEGAL_GENERATION)
    const otherType = request.protocolType !== null && request.protocolType !== group.protocolType
    const otherName = request.protocolName !== null && group.protocolName !== null && request.protocolName !== group.protocolName
    if (otherType || otherName) return refuse(Errors.INCONSISTENT_GROUP_PROTOCOL)
    return group.state.sync(group, member, request)
  }

  /** Heartbeat; a Kafka error code. */
  heartbeat(request: HeartbeatRequest): number {
    const found = this.#member(request)
    if (typeof found === 'number') return found
    if (found === null) return this.consumers.classic.heartbeat(request)
    const { group, member } = found
    if (request.generation !== group.generation) return Errors.ILLEGAL_GENERATION
    return group.state.heartbeat(group, member)
  }

  /** LeaveGroup on a classic group. */
  leave(groupId: string, leaving: readonly LeavingMember[]): LeaveResult {
    const unavailable = this.#unavailable(groupId, true)
    if (unavailable !== Errors.NONE) return { error: unavailable, members: [] }
    const group = this.#groups.find(groupId)
    if (group === null) return { error: Errors.NONE, members: leaving.map((member) => ({ ...member, error: Errors.UNKNOWN_MEMBER_ID })) }
    const result = leaveGroup(group, leaving)
    this.#groups.forgetUnused(group)
    return result
  }

  /** One Kafka error code an item. Offset commits of members also count as heartbeats. */
  async commitOffsets(request: CommitRequest): Promise<readonly number[]> {
    const { state } = this.#options.metadata
    return allowed(request, this.#mayCommit(request), state, (part) => this.#offsets.commit(part))
  }

  /** TxnOffsetCommit; one Kafka error code an item. */
  async commitTransactionOffsets(request: TransactionCommitRequest): Promise<readonly number[]> {
    const { state } = this.#options.metadata
    const verdict = request.groupId === '' ? Errors.INVALID_GROUP_ID : this.#mayCommit(request, true)
    return allowed(request, verdict, state, (part) => this.#offsets.commitTransactional(part))
  }

  /** A running transaction holds an offset of this partition (KIP-447). */
  isOffsetPending(groupId: string, topic: number, partition: number): boolean {
    return this.#options.metadata.state.isOffsetPending(groupId, topic, partition)
  }

  /** NONE, or why offsets of the group cannot be read here. Call after a barrier. Members of consumer groups name their epoch. */
  mayFetch(groupId: string, memberId: string | null = null, memberEpoch = -1): number {
    const unavailable = this.#unavailable(groupId)
    if (unavailable !== Errors.NONE) return unavailable
    const consumer = this.consumer(groupId)
    return consumer === null ? Errors.NONE : mayFetchOffsets(consumer, memberId, memberEpoch)
  }

  /** The committed offset, or null. */
  offset(groupId: string, topic: number, partition: number): OffsetItem | null {
    return this.#options.metadata.state.offset(groupId, topic, partition)
  }

  offsets(groupId: string): Iterable<OffsetItem> {
    return this.#options.metadata.state.offsets(groupId)
  }

  describe(groupId: string): GroupDescription {
    return describeGroup(groupId, this.#unavailable(groupId), this.#groups.find(groupId))
  }

  /** The groups of the shards owned here. */
  list(): GroupListing[] {
    return listGroups(this.#options.metadata, this.#groups.byId)
  }

  /** Removes an empty group with its offsets; a Kafka error code. */
  async delete(groupId: string): Promise<number> {
    const unavailable = this.#unavailable(groupId)
    if (unavailable !== Errors.NONE) return unavailable
    if (this.consumers.holds(groupId)) return Errors.NON_EMPTY_GROUP
    const { metadata, logger } = this.#options
    if (this.consumer(groupId) !== null) return writeGroup(metadata, logger, groupId, { kind: 'deleteGroup', groupId })
    const group = this.#groups.find(groupId)
    if (group === null) return Errors.GROUP_ID_NOT_FOUND
    if (group.state.name !== 'Empty') return Errors.NON_EMPTY_GROUP
    const error =
      metadata.state.group(groupId) === null ? Errors.NONE : await writeGroup(metadata, logger, groupId, { kind: 'deleteGroup', groupId })
    if (error === Errors.NONE && group.state.name === 'Empty') group.die(Errors.COORDINATOR_NOT_AVAILABLE)
    return error
  }

  /** OffsetDelete. Call after a barrier. */
  async deleteOffsets(groupId: string, places: readonly OffsetPlace[]): Promise<DeleteOffsetsResult> {
    const { metadata, logger } = this.#options
    const unavailable = this.#unavailable(groupId)
    if (unavailable === Errors.NONE && this.consumer(groupId) !== null)
      return deleteUnsubscribed(metadata, logger, groupId, this.consumers.subscribedTopics(groupId), places)
    const group = unavailable === Errors.NONE ? this.#groups.find(groupId) : null
    if (group === null) return { error: unavailable === Errors.NONE ? Errors.GROUP_ID_NOT_FOUND : unavailable, errors: [] }
    return deleteOffsets(metadata, logger, group, places)
  }

  #mayCommit(request: CommitRequest, isTransactional = false): CommitVerdict {
    const { groupId } = request
    const unavailable = this.#unavailable(groupId)
    if (unavailable !== Errors.NONE) return unavailable
    const consumer = this.consumer(groupId)
    return mayCommit(request, consumer, consumer === null ? this.#groups.find(groupId) : null, isTransactional)
  }

  /** null: the group is a consumer group, with members. */
  #member(request: HeartbeatRequest): { readonly group: Group; readonly member: Member } | number | null {
    const unavailable = this.#unavailable(request.groupId, true)
    if (unavailable !== Errors.NONE) return unavailable
    if (this.consumers.holds(request.groupId)) return null
    const group = this.#groups.find(request.groupId)
    if (group === null) return Errors.UNKNOWN_MEMBER_ID
    const member = findMember(group, request.memberId, request.instanceId)
    return typeof member === 'number' ? member : { group, member }
  }

  /**
   * Why this process cannot speak for the group. A shard that went to another pod takes its live groups with it. Members
   * need a group id; the empty one is good for offsets and descriptions, as old simple consumers use it.
   */
  #unavailable(groupId: string, withMembers = false): number {
    if (withMembers && groupId === '') return Errors.INVALID_GROUP_ID
    if (this.#closed) return Errors.NOT_COORDINATOR
    if (ownedEpoch(this.#options.metadata, groupId) !== null) return Errors.NONE
    this.#groups.byId.get(groupId)?.die(Errors.NOT_COORDINATOR)
    this.consumers.drop(groupId, Errors.NOT_COORDINATOR)
    return Errors.NOT_COORDINATOR
  }

  /** The consumer group of that id, unless a classic one is about to take its place. */
  consumer(groupId: string): ConsumerGroupView | null {
    return this.#groups.byId.has(groupId) ? null : this.consumers.stored(groupId)
  }

  /**
   * Groups of a shard that went are over here, their members look for the coordinator again; those of one that came begin their sessions
   * (L19). A shard that went and came back counts as both.
   */
  #followShards(): void {
    const { lost, gained } = this.#owned.update()
    if (lost.size > 0) {
      for (const group of Array.from(this.#groups.byId.values())) if (lost.has(shardOf(group.groupId))) group.die(Errors.NOT_COORDINATOR)
      for (const groupId of this.consumers.groupIds()) if (lost.has(shardOf(groupId))) this.consumers.drop(groupId, Errors.NOT_COORDINATOR)
    }
    if (gained.size === 0) return
    for (const { groupId, members } of this.#options.metadata.state.groups()) {
      if (!gained.has(shardOf(groupId))) continue
      if (members.length > 0) this.#groups.live(groupId)
      this.consumers.takeOver(groupId)
    }
  }
}
