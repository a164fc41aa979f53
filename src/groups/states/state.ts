import type { Group } from '../group.ts'
import type { Member } from '../member.ts'
import type { JoinRequest, JoinResult, StateName, SyncRequest, SyncResult } from '../types.ts'

/**
 * What a classic group does in one state. The caller has checked that the member belongs to the group, is not fenced, and
 * (except for joins) names the current generation. States hold nothing: everything is in the Group.
 */
export interface GroupState {
  readonly name: StateName
  /** Runs when the group comes into the state. */
  enter(group: Group, previous: StateName): void
  /** group.max.size (KIP-389): may this member id join now? */
  hasRoom(group: Group, memberId: string, membersMax: number): boolean
  /** A member that is in the group joins again. */
  rejoin(group: Group, member: Member, request: JoinRequest): Promise<JoinResult>
  /** A static member came back without an id and was given a new one (KIP-345). `oldLeader` is the leader's id before. */
  replaced(group: Group, member: Member, request: JoinRequest, oldLeader: string | null): Promise<JoinResult>
  /** A member was added or removed, or a pending one went away. */
  membersChanged(group: Group): void
  sync(group: Group, member: Member, request: SyncRequest): Promise<SyncResult>
  /** Kafka error code of a heartbeat. */
  heartbeat(group: Group, member: Member): number
  /** Kafka error code of an offset commit by a member. */
  commit(group: Group, member: Member): number
}
