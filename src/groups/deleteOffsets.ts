import { Errors } from '../../protocol/errors.ts'
import type { Logger } from '../base/log.ts'
import type { Metadata } from '../metadata/port.ts'
import type { Group } from './group.ts'
import { writeGroup } from './store.ts'
import { subscribedTopics } from './embedded.ts'

export interface OffsetPlace {
  readonly topic: number
  readonly partition: number
}

/** The whole request refused, or one Kafka error code an item. */
export interface DeleteOffsetsResult {
  readonly error: number
  readonly errors: readonly number[]
}

const refused = (error: number): DeleteOffsetsResult => ({ error, errors: [] })

/**
 * Removes committed offsets (KIP-496). While a group has members, only those of topics that nobody subscribes to, and only if that can be known:
 * they are consumers (K: ClassicGroup.isSubscribedToTopic). Each removal names the commit it saw; one that comes meanwhile stays, as if it
 * had come afterwards (L6).
 */
export async function deleteOffsets(
  metadata: Metadata,
  logger: Logger,
  group: Group,
  places: readonly OffsetPlace[],
): Promise<DeleteOffsetsResult> {
  if (group.members.size > 0 && group.protocolType !== 'consumer') return refused(Errors.NON_EMPTY_GROUP)
  return deleteUnsubscribed(metadata, logger, group.groupId, subscriptions(group), places)
}

/** As above, with the topics that are subscribed to; null when that cannot be known. */
export async function deleteUnsubscribed(
  metadata: Metadata,
  logger: Logger,
  groupId: string,
  subscribed: ReadonlySet<string> | null,
  places: readonly OffsetPlace[],
): Promise<DeleteOffsetsResult> {
  const { state } = metadata
  const errors = places.map(({ topic }) => {
    const name = state.topicByNumber(topic)?.name
    if (name === undefined) return Errors.UNKNOWN_TOPIC_OR_PARTITION
    return subscribed === null || subscribed.has(name) ? Errors.GROUP_SUBSCRIBED_TO_TOPIC : Errors.NONE
  })
  const items = places.flatMap(({ topic, partition }, i) => {
    const stored = errors[i] === Errors.NONE ? state.offset(groupId, topic, partition) : null
    return stored === null ? [] : [{ topic, partition, commitTimeMs: stored.commitTimeMs }]
  })
  if (items.length === 0) return { error: Errors.NONE, errors }
  const error = await writeGroup(metadata, logger, groupId, { kind: 'expireOffsets', groupId, items })
  return error === Errors.NONE ? { error, errors } : refused(error)
}

/** Topics of all members, of the protocol that was chosen or any they speak; null when it cannot be known. */
function subscriptions(group: Group): ReadonlySet<string> | null {
  const topics = new Set<string>()
  for (const member of group.members.values()) {
    const names = group.protocolName === null ? null : subscribedTopics(member.metadataOf(group.protocolName))
    if (names === null) return null
    for (const name of names) topics.add(name)
  }
  return topics
}
