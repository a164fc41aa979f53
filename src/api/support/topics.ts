import { Errors } from '../../../protocol/index.ts'
import { hashText, mix, rendezvous } from '../../base/rendezvous.ts'
import type { PartitionView, StateView, TopicView } from '../../metadata/view.ts'
import type { NodeEndpoint } from '../parts.ts'

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

/** A name that may be of no topic, for a message: a request may have a long one and thousands of partitions that are told it each. */
export function shownName(name: string): string {
  return name.length > NAME_MAX_LENGTH ? `${name.slice(0, NAME_MAX_LENGTH)}…` : name
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

type Node = Pick<NodeEndpoint, 'nodeId' | 'rack'>

/**
 * The node that clients are sent to: stable per partition, spread over the live nodes; when one comes or goes only its own partitions move.
 * Any node could serve it.
 */
export function leaderOf(topicId: string, partition: number, nodes: readonly Node[]): number {
  return bestOf(placeOf(topicId, partition), nodes)
}

/**
 * Replicas as clients are shown them: the leader first, then one in each other rack, so that consumers find the one near them (KIP-392,
 * KIP-881), then others while the topic's replication factor asks for more.
 */
export function replicasOf(topicId: string, partition: number, nodes: readonly Node[], replicationFactor: number): number[] {
  const place = placeOf(topicId, partition)
  const replicas: number[] = []
  const racks = new Set<string>()
  const left = [...nodes]
  const take = (from: readonly Node[]): void => {
    const nodeId = bestOf(place, from)
    const [taken] = left.splice(
      left.findIndex((node) => node.nodeId === nodeId),
      1,
    )
    replicas.push(nodeId)
    if (taken.rack !== null) racks.add(taken.rack)
  }
  take(left)
  for (;;) {
    const elsewhere = left.filter((node) => node.rack !== null && !racks.has(node.rack))
    if (elsewhere.length > 0) take(elsewhere)
    else if (replicas.length < replicationFactor && left.length > 0) take(left)
    else return replicas
  }
}

/** The replica in the client's rack when this node is in another one (KIP-392), else -1. The same as replicasOf shows. */
export function nearReplica(topicId: string, partition: number, rack: string, ownNodeId: number, nodes: readonly Node[]): number {
  if (rack === '' || nodes.length < 2 || nodes.find((node) => node.nodeId === ownNodeId)?.rack === rack) return -1
  const near = nodes.filter((node) => node.rack === rack)
  return near.length === 0 ? -1 : bestOf(placeOf(topicId, partition), near)
}

function placeOf(topicId: string, partition: number): number {
  return mix(hashText(topicId) + partition)
}

function bestOf(place: number, nodes: readonly Node[]): number {
  return nodes.length === 1
    ? nodes[0].nodeId
    : rendezvous(
        place,
        nodes.map((node) => node.nodeId),
      )
}
