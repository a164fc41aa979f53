/**
 * DescribeQuorum (55): who keeps the metadata log (KIP-595). Served v0–2.
 *
 * - The log has one writer at a time, the pod with the log's lease; the store keeps what is written, so that a majority of one decides: it is the
 *   leader and the only voter, in the term of its lease. The other pods follow the log: observers, whose position it is not told (-1).
 * - Any other topic or partition, or several: UNKNOWN_TOPIC_OR_PARTITION, as Kafka answers.
 *
 * v0 is flexible · v1 times of fetches (KIP-836) · v2 directory ids, which there are none of, and addresses (KIP-853).
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { LOG_LEASE } from '../metadata/port.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'

export default serve(55, { min: 0, max: 2 }, { handle, fail: (_request, errorCode) => ({ errorCode, topics: [], nodes: [] }) })

type Partition = ResponseOf<55>['topics'][number]['partitions'][number]

const TOPIC = '__cluster_metadata'

async function handle(request: RequestOf<55>, context: RequestContext, parts: ApiParts): Promise<ResponseOf<55>> {
  const [first, ...others] = request.topics
  const isKnown =
    first?.topicName === TOPIC && others.length === 0 && first.partitions.length === 1 && first.partitions[0].partitionIndex === 0
  if (!isKnown) {
    const topics = request.topics.map(({ topicName, partitions }) => ({ topicName, partitions: partitions.map(unknown) }))
    return { errorCode: Errors.NONE, errorMessage: '', topics, nodes: [] }
  }
  await parts.metadata.barrier()
  const { state, nodeId } = parts.metadata
  const { owner, term } = state.lease(LOG_LEASE)
  const leaderId = Array.from(state.livePods()).find((pod) => pod.incarnation === owner)?.nodeId ?? nodeId
  const endpoints = parts.nodes(context.connection.listener)
  const replica = (replicaId: number, logEndOffset: number, timeMs: number) => ({
    replicaId,
    logEndOffset,
    lastFetchTimestamp: timeMs,
    lastCaughtUpTimestamp: timeMs,
  })
  const partition: Partition = {
    partitionIndex: 0,
    errorCode: Errors.NONE,
    errorMessage: '',
    leaderId,
    leaderEpoch: term,
    highWatermark: state.lastEntry,
    currentVoters: [replica(leaderId, state.lastEntry, parts.clock.wallMs())],
    observers: endpoints.filter((node) => node.nodeId !== leaderId).map((node) => replica(node.nodeId, -1, -1)),
  }
  const nodes = endpoints
    .filter((node) => context.version >= 2 && node.nodeId === leaderId)
    .map(({ host, port }) => ({ nodeId: leaderId, listeners: [{ name: context.connection.listener, host, port }] }))
  return { errorCode: Errors.NONE, errorMessage: '', topics: [{ topicName: TOPIC, partitions: [partition] }], nodes }
}

function unknown({ partitionIndex }: { readonly partitionIndex: number }): Partition {
  return {
    partitionIndex,
    errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION,
    errorMessage: 'This server does not host this topic-partition.',
    leaderId: 0,
    leaderEpoch: 0,
    highWatermark: 0,
    currentVoters: [],
    observers: [],
  }
}
