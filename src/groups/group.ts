import type { Clock, Timer } from '../base/clock.ts'
import type { GroupRecord } from '../metadata/commands.ts'
import { Errors } from '../../protocol/errors.ts'
import { Member } from './member.ts'
import { selectProtocol } from './protocols.ts'
import type { GroupState } from './states/state.ts'
import {
  joinError,
  syncError,
  NO_BYTES,
  type GroupSettings,
  type JoinRequest,
  type JoinResult,
  type StateName,
  type SyncResult,
} from './types.ts'

/** What a group needs from outside. */
export interface GroupContext {
  readonly clock: Clock
  readonly settings: () => GroupSettings
  readonly states: Readonly<Record<StateName, GroupState>>
  /** Stores the durable part; a Kafka error code. */
  readonly put: (record: GroupRecord) => Promise<number>
  /** The group is dead and must be forgotten. */
  readonly onDead: (group: Group) => void
}

/**
 * The core of a classic group: members, generation, timers and parked answers. What happens in which state is in states/.
 * Durable are generation, members and assignments, written when the leader's assignment arrives, when the last member
 * goes, and when a static member gets a new id (L19); the rest starts afresh in a new process.
 */
export class Group {
  readonly groupId: string
  readonly context: GroupContext
  /** In order of joining. */
  readonly members = new Map<string, Member>()
  /** Instance id to member id (KIP-345). */
  readonly statics = new Map<string, string>()
  /** Member ids that were given out and have not joined yet (KIP-394), with the timer that forgets them. */
  readonly pendingJoins = new Map<string, Timer>()
  /** Members of this generation that have not sent SyncGroup yet. */
  readonly pendingSyncs = new Set<string>()
  generation = 0
  protocolType = ''
  protocolName: string | null = null
  leader: string | null = null
  /** Someone joined since the initial delay was last (re)started. */
  memberAdded = false
  /** The generation whose assignment is being stored, or -1. */
  storingGeneration = -1
  joinTimer: Timer | null = null
  syncTimer: Timer | null = null
  #state: GroupState
  #previous: StateName = 'Empty'
  #stateTimeMs = -1
  #putsInFlight = 0
  #putFailed = false
  #deathError: number = Errors.COORDINATOR_NOT_AVAILABLE

  constructor(groupId: string, context: GroupContext, record: GroupRecord | null) {
    this.groupId = groupId
    this.context = context
    this.#state = context.states.Empty
    if (record !== null) this.#restore(record)
  }

  /** After a restart or takeover the members of a stable group go on without a rebalance; their session timers start afresh. */
  #restore(record: GroupRecord): void {
    this.generation = record.generation
    this.protocolType = record.protocolType
    this.protocolName = record.protocolName
    this.leader = record.leader
    this.#stateTimeMs = record.stateTimeMs
    for (const stored of record.members) {
      const member = Member.restored(stored)
      this.members.set(member.memberId, member)
      if (member.instanceId !== null) this.statics.set(member.instanceId, member.memberId)
      this.restartSession(member)
    }
    if (this.members.size > 0) this.#state = this.context.states.Stable
  }

  get state(): GroupState {
    return this.#state
  }

  get previousState(): StateName {
    return this.#previous
  }

  get deathError(): number {
    return this.#deathError
  }

  transitionTo(name: StateName): void {
    const previous = this.#state.name
    this.#state = this.context.states[name]
    this.#previous = previous
    if (name === 'Empty' || name === 'Stable') this.#stateTimeMs = this.context.clock.wallMs()
    this.#state.enter(this, previous)
  }

  /** Ends the group in this process; everything parked is answered with the error. */
  die(error: number): void {
    this.#deathError = error
    this.transitionTo('Dead')
    this.context.onDead(this)
  }

  /** Adds a member that was not in the group; the first one leads until the rebalance says otherwise. */
  add(member: Member, protocolType: string): void {
    if (this.members.size === 0) this.protocolType = protocolType
    this.members.set(member.memberId, member)
    if (member.instanceId !== null) this.statics.set(member.instanceId, member.memberId)
    this.leader ??= member.memberId
    this.forgetPendingJoin(member.memberId)
  }

  /** Removes a member and answers what it had parked. The caller tells the state. */
  remove(member: Member): void {
    member.session?.cancel()
    this.members.delete(member.memberId)
    if (member.instanceId !== null && this.statics.get(member.instanceId) === member.memberId) this.statics.delete(member.instanceId)
    this.pendingSyncs.delete(member.memberId)
    if (this.leader === member.memberId) this.leader = this.members.keys().next().value ?? null
    member.answerJoin(joinError(Errors.UNKNOWN_MEMBER_ID, member.memberId))
    member.answerSync(syncError(Errors.UNKNOWN_MEMBER_ID))
  }

  /** Gives a static member a new id; whoever still waits under the old one is fenced (KIP-345). */
  renameStatic(member: Member, memberId: string): void {
    const old = member.memberId
    member.answerJoin(joinError(Errors.FENCED_INSTANCE_ID, old))
    member.answerSync(syncError(Errors.FENCED_INSTANCE_ID))
    this.members.delete(old)
    this.pendingSyncs.delete(old)
    member.memberId = memberId
    this.members.set(memberId, member)
    this.statics.set(member.instanceId!, memberId)
    if (this.leader === old) this.leader = memberId
  }

  /** Parks the JoinGroup of a member until the rebalance completes. */
  park(member: Member): Promise<JoinResult> {
    return member.parkJoin(joinError(Errors.REBALANCE_IN_PROGRESS, member.memberId))
  }

  addPendingJoin(memberId: string, sessionTimeoutMs: number): void {
    const timer = this.context.clock.timer(sessionTimeoutMs, () => {
      this.forgetPendingJoin(memberId)
      this.pendingJoinGone()
    })
    this.pendingJoins.set(memberId, timer)
  }

  /** True when the id was pending. */
  forgetPendingJoin(memberId: string): boolean {
    this.pendingJoins.get(memberId)?.cancel()
    return this.pendingJoins.delete(memberId)
  }

  /** A rebalance may have waited for this id alone. */
  pendingJoinGone(): void {
    if (this.#state.name === 'PreparingRebalance') this.#state.membersChanged(this)
  }

  restartSession(member: Member, timeoutMs = member.sessionTimeoutMs): void {
    member.session?.cancel()
    member.session = this.context.clock.timer(timeoutMs, () => this.#expire(member))
  }

  /** Members that wait for an answer of ours are alive by definition, except new ones (see NEW_MEMBER_JOIN_TIMEOUT_MS). */
  #expire(member: Member): void {
    if (this.members.get(member.memberId) !== member) return
    if (!member.isNew && (member.awaitingJoin || member.awaitingSync)) return
    this.remove(member)
    this.#state.membersChanged(this)
  }

  /** The longest rebalance timeout of the members, 0 without any. */
  rebalanceTimeoutMs(): number {
    let longest = 0
    for (const member of this.members.values()) longest = Math.max(longest, member.rebalanceTimeoutMs)
    return longest
  }

  awaitingJoins(): number {
    let count = 0
    for (const member of this.members.values()) if (member.awaitingJoin) count++
    return count
  }

  answerSyncs(result: SyncResult): void {
    for (const member of this.members.values()) {
      if (!member.awaitingSync) continue
      member.answerSync(result)
      this.restartSession(member)
    }
  }

  /** What a member of the current generation is told; only the leader gets the list. */
  joinResult(
    member: Member,
    options: { readonly leader?: string; readonly skipAssignment?: boolean; readonly withMembers?: boolean } = {},
  ): JoinResult {
    const withMembers = options.withMembers ?? member.memberId === this.leader
    return {
      error: Errors.NONE,
      generation: this.generation,
      protocolType: this.protocolType,
      protocolName: this.protocolName,
      leader: options.leader ?? this.leader ?? '',
      skipAssignment: options.skipAssignment ?? false,
      memberId: member.memberId,
      members: withMembers
        ? Array.from(this.members.values(), (each) => ({
            memberId: each.memberId,
            instanceId: each.instanceId,
            metadata: each.metadataOf(this.protocolName),
          }))
        : [],
    }
  }

  syncResult(member: Member): SyncResult {
    return { error: Errors.NONE, protocolType: this.protocolType, protocolName: this.protocolName, assignment: member.assignment }
  }

  nextProtocol(): string | null {
    return selectProtocol(this.members.values())
  }

  /**
   * Stores the group, with these assignments or the ones the members have. A lost shard ends the group here.
   * Answers a Kafka error code.
   */
  async put(assignments?: ReadonlyMap<string, Uint8Array>): Promise<number> {
    this.#putsInFlight++
    const error = await this.context.put(this.record(assignments))
    this.#putsInFlight--
    this.#putFailed = error !== Errors.NONE
    if (error === Errors.NOT_COORDINATOR && this.#state.name !== 'Dead') this.die(error)
    return error
  }

  /** The group as it is stored, with these assignments or the ones the members have. */
  record(assignments?: ReadonlyMap<string, Uint8Array>): GroupRecord {
    const members = Array.from(this.members.values(), (member) =>
      member.toRecord(assignments === undefined ? member.assignment : (assignments.get(member.memberId) ?? NO_BYTES)),
    )
    const { groupId, protocolType, protocolName, generation, leader } = this
    return { groupId, protocolType, protocolName, generation, leader, members, stateTimeMs: this.context.clock.wallMs() }
  }

  /** Nobody is in the group and nothing is on its way. */
  get idle(): boolean {
    return this.#state.name === 'Empty' && this.members.size === 0 && this.pendingJoins.size === 0 && this.#putsInFlight === 0
  }

  /** The record in the state may be older than this object, which must then not be forgotten. */
  get unsaved(): boolean {
    return this.#putFailed
  }

  /** Wall time at which the group became empty or stable, -1 when it never did. */
  get stateTimeMs(): number {
    return this.#stateTimeMs
  }

  /** Copies what a member says of itself now. */
  update(member: Member, request: JoinRequest): void {
    member.update(request)
    if (this.members.size === 1) this.protocolType = request.protocolType
  }
}
