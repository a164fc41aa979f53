import { Errors } from '../../../protocol/index.ts'
import type { PartitionView, StateView, TopicView } from '../../metadata/view.ts'

export const ZERO_UUID = '00000000-0000-0000-0000-000000000000'
const NAME_MAX_LENGTH = 249
const LEGAL = /^[a-zA-Z0-9._-]+$/
const INTERNAL = new Set(['__consumer_offsets', '__transaction_state', '__share_group_state'])

/** What is wrong with a topic name, in Kafka's words, or null (K: org.apache.kafka.common.internals.Topic.validate). */
export function topicNameProblem(name: string): string | null {
  if (name === '') return 'Topic name is invalid: the empty string is not allowed'
  if (name === '.' || name === '..') return `Topic name is invalid: '${name}' is not allowed`
  if (name.length > NAME_MAX_LENGTH)
    return `Topic name is invalid: the length of '${name}' is longer than the max allowed length ${NAME_MAX_LENGTH}`
  if (!LEGAL.test(name)) {
    return `Topic name is invalid: '${name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'`
  }
  return null
}

/** Names that differ in '.' and '_' alone would share their metrics, and here their table: Kafka forbids both to exist. */
export function collisionKey(name: string): string {
  return name.replaceAll('.', '_')
}

export function isInternalTopic(name: string): boolean {
  return INTERNAL.has(name)
}

/** A topic as a request names it: by name in older versions, by id in newer ones. */
export type TopicReference = { readonly byId: false; readonly name: string } | { readonly byId: true; readonly topicId: string }

/** The topic, or the error code that fits how it was named: 3 for a name, 100 for an id. */
export function findTopic(state: StateView, reference: TopicReference): TopicView | number {
  if (reference.byId) return state.topicById(reference.topicId) ?? Errors.UNKNOWN_TOPIC_ID
  return state.topicByName(reference.name) ?? Errors.UNKNOWN_TOPIC_OR_PARTITION
}

/** How a leader epoch that a client believes in stands to ours; -1 is not checked (KIP-320). */
export function leaderEpochError(partition: PartitionView, currentLeaderEpoch: number): number {
  if (currentLeaderEpoch < 0 || currentLeaderEpoch === partition.leaderEpoch) return Errors.NONE
  return currentLeaderEpoch < partition.leaderEpoch ? Errors.FENCED_LEADER_EPOCH : Errors.UNKNOWN_LEADER_EPOCH
}

/** The epoch in which an offset was written. */
export function epochOfOffset(partition: PartitionView, offset: number): number {
  let epoch = partition.epochs[0]?.epoch ?? partition.leaderEpoch
  for (const each of partition.epochs) if (each.startOffset <= offset) epoch = each.epoch
  return epoch
}

/**
 * Where an epoch ends: the largest epoch at or below `epoch` and the offset where the next one begins, the log end for the
 * current one. (-1, -1) for an epoch we never had (K: LeaderEpochFileCache.endOffsetFor).
 */
export function epochEnd(partition: PartitionView, epoch: number): { readonly epoch: number; readonly endOffset: number } {
  const { epochs, leaderEpoch, endOffset } = partition
  if (epoch < 0 || epoch > leaderEpoch) return { epoch: -1, endOffset: -1 }
  if (epoch === leaderEpoch) return { epoch, endOffset }
  const next = epochs.findIndex((each) => each.epoch > epoch)
  if (next < 0) return { epoch: -1, endOffset: -1 }
  return { epoch: next === 0 ? epoch : epochs[next - 1].epoch, endOffset: epochs[next].startOffset }
}

/** The node that clients are sent to: stable per partition, spread over the live nodes. Any node could serve it. */
export function leaderOf(topicId: string, partition: number, nodeIds: readonly number[]): number {
  let hash = partition
  for (let i = 0; i < topicId.length; i++) hash = Math.imul(hash ^ topicId.charCodeAt(i), 0x01000193) >>> 0
  return nodeIds[hash % nodeIds.length]
}

/** Replicas as clients are shown them: the leader first, then others in turn, as many as there are nodes for. */
export function replicasOf(leader: number, nodeIds: readonly number[], replicationFactor: number): number[] {
  const at = nodeIds.indexOf(leader)
  const count = Math.max(1, Math.min(replicationFactor, nodeIds.length))
  return Array.from({ length: count }, (_, i) => nodeIds[(at + i) % nodeIds.length])
}
