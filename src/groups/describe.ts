import type { Metadata } from '../metadata/port.ts'
import { Errors } from '../../protocol/errors.ts'
import { consumerGroupState } from './consumer/describe.ts'
import type { Group } from './group.ts'
import { ownedEpoch } from './shards.ts'
import { NO_BYTES, type GroupDescription, type GroupListing } from './types.ts'

/** What DescribeGroups tells. Subscriptions and assignments are shown in Stable only, as they are unsettled before (Kafka). */
export function describeGroup(groupId: string, unavailable: number, group: Group | null): GroupDescription {
  const nothing = { groupId, state: 'Dead', protocolType: '', protocolName: '', members: [] } as const
  if (unavailable !== Errors.NONE) return { error: unavailable, ...nothing }
  if (group === null) return { error: Errors.GROUP_ID_NOT_FOUND, ...nothing }
  const settled = group.state.name === 'Stable'
  return {
    error: Errors.NONE,
    groupId,
    state: group.state.name,
    protocolType: group.protocolType,
    protocolName: settled ? (group.protocolName ?? '') : '',
    members: Array.from(group.members.values(), (member) => ({
      memberId: member.memberId,
      instanceId: member.instanceId,
      clientId: member.clientId,
      clientHost: member.clientHost,
      metadata: settled ? member.metadataOf(group.protocolName) : NO_BYTES,
      assignment: settled ? member.assignment : NO_BYTES,
    })),
  }
}

/** Groups of the shards owned here: those in memory in their live state, the others (empty ones) from the state. */
export function listGroups(metadata: Metadata, live: ReadonlyMap<string, Group>): GroupListing[] {
  const listings: GroupListing[] = Array.from(live.values(), (group) => ({
    groupId: group.groupId,
    protocolType: group.protocolType,
    state: group.state.name,
    type: 'classic',
  }))
  for (const { groupId, protocolType, members } of metadata.state.groups()) {
    if (live.has(groupId) || ownedEpoch(metadata, groupId) === null) continue
    const consumer = metadata.state.consumerGroup(groupId)
    if (consumer !== null) listings.push({ groupId, protocolType, state: consumerGroupState(consumer), type: 'consumer' })
    else listings.push({ type: 'classic', groupId, protocolType, state: members.length > 0 ? 'Stable' : 'Empty' })
  }
  return listings
}
