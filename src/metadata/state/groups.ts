import type { GroupMember, GroupRecord, OffsetItem } from '../commands.ts'
import type { ConsumerGroupRow } from './consumerGroups.ts'

export interface GroupRow {
  /** Of a consumer group: without members, as those are in `consumer`. */
  record: GroupRecord
  /** null for a classic group. */
  consumer: ConsumerGroupRow | null
  /** By topic number, then partition. */
  readonly offsets: Map<number, Map<number, OffsetItem>>
}

/** Groups and committed offsets (L19). */
export class Groups {
  readonly byId = new Map<string, GroupRow>()

  /** The group, made empty when it does not exist (simple consumers). */
  ensure(groupId: string, stateTimeMs: number): GroupRow {
    let row = this.byId.get(groupId)
    if (row === undefined) {
      row = {
        record: { groupId, protocolType: '', protocolName: null, generation: 0, leader: null, members: [], stateTimeMs },
        consumer: null,
        offsets: new Map(),
      }
      this.byId.set(groupId, row)
    }
    return row
  }

  offset(groupId: string, topic: number, partition: number): OffsetItem | null {
    return this.byId.get(groupId)?.offsets.get(topic)?.get(partition) ?? null
  }

  *offsets(groupId: string): Iterable<OffsetItem> {
    for (const partitions of this.byId.get(groupId)?.offsets.values() ?? []) yield* partitions.values()
  }

  setOffset(row: GroupRow, item: OffsetItem): void {
    let partitions = row.offsets.get(item.topic)
    if (partitions === undefined) row.offsets.set(item.topic, (partitions = new Map()))
    partitions.set(item.partition, item)
  }

  removeOffset(row: GroupRow, topic: number, partition: number): void {
    const partitions = row.offsets.get(topic)
    partitions?.delete(partition)
    if (partitions?.size === 0) row.offsets.delete(topic)
  }

  /** Offsets of a deleted topic go with it. */
  removeTopic(topic: number): void {
    for (const row of this.byId.values()) row.offsets.delete(topic)
  }
}

/** A plain copy: what was decoded from an entry must not keep the entry's bytes in memory. */
export function copyGroup(record: GroupRecord): GroupRecord {
  return {
    groupId: record.groupId,
    protocolType: record.protocolType,
    protocolName: record.protocolName,
    generation: record.generation,
    leader: record.leader,
    members: record.members.map(copyMember),
    stateTimeMs: record.stateTimeMs,
  }
}

function copyMember(member: GroupMember): GroupMember {
  return {
    memberId: member.memberId,
    instanceId: member.instanceId,
    clientId: member.clientId,
    clientHost: member.clientHost,
    rebalanceTimeoutMs: member.rebalanceTimeoutMs,
    sessionTimeoutMs: member.sessionTimeoutMs,
    protocols: member.protocols.map(({ name, metadata }) => ({ name, metadata: Uint8Array.from(metadata) })),
    assignment: Uint8Array.from(member.assignment),
  }
}

export function copyOffset(item: OffsetItem): OffsetItem {
  return {
    topic: item.topic,
    partition: item.partition,
    offset: item.offset,
    leaderEpoch: item.leaderEpoch,
    metadata: item.metadata,
    commitTimeMs: item.commitTimeMs,
    expireTimeMs: item.expireTimeMs,
  }
}
