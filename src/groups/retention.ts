import type { Logger } from '../base/log.ts'
import type { GroupRecord, OffsetItem } from '../metadata/commands.ts'
import type { Metadata } from '../metadata/port.ts'
import { Errors } from '../../protocol/errors.ts'
import type { ConsumerGroups } from './consumer/coordinator.ts'
import type { Group } from './group.ts'
import { ownedEpoch } from './shards.ts'
import { writeGroup } from './store.ts'
import { subscribedTopics } from './embedded.ts'

export interface RetentionRequest {
  readonly metadata: Metadata
  readonly logger: Logger
  readonly nowMs: number
  readonly retentionMs: number
  /** The group as it lives in this process, or null. */
  readonly live: (groupId: string) => Group | null
  readonly consumers: ConsumerGroups
}

/**
 * One pass of offset retention (KIP-211): offsets of the groups owned here that are past their time go, and groups that
 * are empty and have none left with them. Each removal names the commit time it saw and is refused when that moved (L6).
 */
export async function expireOffsets(request: RetentionRequest): Promise<void> {
  const { metadata, logger, live, consumers } = request
  for (const record of Array.from(metadata.state.groups())) {
    if (ownedEpoch(metadata, record.groupId) === null) continue
    const group = live(record.groupId)
    const empty = record.members.length === 0 && (group === null || group.idle) && !consumers.holds(record.groupId)
    const offsets = [...metadata.state.offsets(record.groupId)]
    const expired = expiredOffsets(request, record, empty, offsets)
    const { groupId } = record
    if (expired.length > 0) {
      const items = expired.map(({ topic, partition, commitTimeMs }) => ({ topic, partition, commitTimeMs }))
      const error = await writeGroup(metadata, logger, groupId, { kind: 'expireOffsets', groupId, items })
      if (error !== Errors.NONE) continue
    }
    if (
      empty &&
      expired.length === offsets.length &&
      (live(groupId)?.idle ?? true) &&
      isEmptyNow(metadata, groupId) &&
      !consumers.holds(groupId)
    ) {
      const error = await writeGroup(metadata, logger, groupId, { kind: 'deleteGroup', groupId })
      if (error === Errors.NONE && live(groupId)?.idle === true) live(groupId)!.die(Errors.COORDINATOR_NOT_AVAILABLE)
    }
  }
}

/** A commit may have come while the expiry was written. */
function isEmptyNow(metadata: Metadata, groupId: string): boolean {
  const record = metadata.state.group(groupId)
  if (record === null || record.members.length > 0) return false
  for (const _ of metadata.state.offsets(groupId)) return false
  return !metadata.state.hasPendingOffsets(groupId)
}

/**
 * Since when an offset counts as unused: for a group of members, since it became empty (or the last commit, when that is
 * later); for a simple consumer, since the last commit; in a group that lives, since the last commit for topics that
 * nobody subscribes to any more, and never for the others.
 */
function expiredOffsets(request: RetentionRequest, record: GroupRecord, empty: boolean, offsets: readonly OffsetItem[]): OffsetItem[] {
  const { metadata, nowMs, retentionMs } = request
  const simple = record.protocolType === ''
  const subscribed = empty || simple ? null : subscriptions(request, record)
  if (!empty && !simple && subscribed === null) return []
  return offsets.filter((item) => {
    // a running transaction holds another one (K: pending transactional offsets are never expired)
    if (metadata.state.isOffsetPending(record.groupId, item.topic, item.partition)) return false
    if (subscribed !== null && subscribed.has(metadata.state.topicByNumber(item.topic)?.name ?? '')) return false
    if (item.expireTimeMs >= 0) return nowMs >= item.expireTimeMs
    const sinceMs = empty && !simple ? Math.max(record.stateTimeMs, item.commitTimeMs) : item.commitTimeMs
    return nowMs - sinceMs >= retentionMs
  })
}

/** Topics that the members of a consumer group subscribe to, or null when that cannot be known. */
function subscriptions({ consumers }: RetentionRequest, record: GroupRecord): Set<string> | null {
  if (consumers.stored(record.groupId) !== null) return consumers.subscribedTopics(record.groupId)
  if (record.protocolType !== 'consumer' || record.protocolName === null) return null
  const topics = new Set<string>()
  for (const member of record.members) {
    const metadata = member.protocols.find((protocol) => protocol.name === record.protocolName)?.metadata
    const names = metadata === undefined ? null : subscribedTopics(metadata)
    if (names === null) return null
    for (const name of names) topics.add(name)
  }
  return topics
}
