import type { Timer } from '../base/clock.ts'
import type { GroupMember } from '../metadata/commands.ts'
import { NO_BYTES, type JoinRequest, type JoinResult, type MemberProtocol, type SyncResult } from './types.ts'

/** A member of a classic group: its durable part, its session timer, and the answers it is waiting for (memory only, L19). */
export class Member {
  memberId: string
  readonly instanceId: string | null
  clientId: string
  clientHost: string
  rebalanceTimeoutMs: number
  sessionTimeoutMs: number
  protocols: readonly MemberProtocol[]
  assignment: Uint8Array = NO_BYTES
  /** Not yet in any generation: it has no id to send heartbeats with, so it may expire even while it waits in JoinGroup. */
  isNew = false
  session: Timer | null = null
  #join: ((result: JoinResult) => void) | null = null
  #sync: ((result: SyncResult) => void) | null = null

  constructor(from: Omit<GroupMember, 'assignment'>) {
    this.memberId = from.memberId
    this.instanceId = from.instanceId
    this.clientId = from.clientId
    this.clientHost = from.clientHost
    this.rebalanceTimeoutMs = from.rebalanceTimeoutMs
    this.sessionTimeoutMs = from.sessionTimeoutMs
    this.protocols = from.protocols
  }

  /** A member that joins now. Its bytes are copied out of the request's frame, which is let go. */
  static joining(memberId: string, request: JoinRequest): Member {
    const member = new Member({ ...request, memberId, protocols: copied(request.protocols) })
    member.isNew = true
    return member
  }

  static restored(record: GroupMember): Member {
    const member = new Member(record)
    member.assignment = record.assignment
    return member
  }

  get awaitingJoin(): boolean {
    return this.#join !== null
  }

  get awaitingSync(): boolean {
    return this.#sync !== null
  }

  /** Parks a JoinGroup; an older one that was still parked is answered first, for its client has given it up. */
  parkJoin(superseded: JoinResult): Promise<JoinResult> {
    this.answerJoin(superseded)
    return new Promise((resolve) => (this.#join = resolve))
  }

  parkSync(superseded: SyncResult): Promise<SyncResult> {
    this.answerSync(superseded)
    return new Promise((resolve) => (this.#sync = resolve))
  }

  answerJoin(result: JoinResult): void {
    const resolve = this.#join
    this.#join = null
    resolve?.(result)
  }

  answerSync(result: SyncResult): void {
    const resolve = this.#sync
    this.#sync = null
    resolve?.(result)
  }

  /** Takes what a rejoining member says of itself. */
  update(request: JoinRequest): void {
    this.clientId = request.clientId
    this.clientHost = request.clientHost
    this.sessionTimeoutMs = request.sessionTimeoutMs
    this.rebalanceTimeoutMs = request.rebalanceTimeoutMs
    this.protocols = copied(request.protocols)
  }

  /** True when the protocols are the ones we know, name by name and byte by byte, in order. */
  matches(protocols: readonly MemberProtocol[]): boolean {
    if (protocols.length !== this.protocols.length) return false
    return protocols.every(
      (protocol, i) => protocol.name === this.protocols[i].name && Buffer.compare(protocol.metadata, this.protocols[i].metadata) === 0,
    )
  }

  metadataOf(protocolName: string | null): Uint8Array {
    return this.protocols.find((protocol) => protocol.name === protocolName)?.metadata ?? NO_BYTES
  }

  toRecord(assignment: Uint8Array): GroupMember {
    const { memberId, instanceId, clientId, clientHost, rebalanceTimeoutMs, sessionTimeoutMs, protocols } = this
    return { memberId, instanceId, clientId, clientHost, rebalanceTimeoutMs, sessionTimeoutMs, protocols, assignment }
  }
}

function copied(protocols: readonly MemberProtocol[]): MemberProtocol[] {
  return protocols.map(({ name, metadata }) => ({ name, metadata: Uint8Array.from(metadata) }))
}
