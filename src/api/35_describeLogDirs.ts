/**
 * DescribeLogDirs (35): the size of partitions by log directory (KIP-113). Served v1–5.
 *
 * - There is one directory, the store that all pods share. A node tells of the partitions that Metadata names it a replica of, so that sums
 *   over nodes and replicas come out as in Kafka.
 * - The size is that of the produced batches between log start and end, whether they are in the WAL or in table files.
 * - Null asks for all; topics and partitions that do not exist, or are not here, are left out.
 * - Bytes of the volume (v4, KIP-827): those of a folder's disk; -1, unknown, for a bucket, and as in Kafka when nothing was asked for.
 * - No replica is behind or about to move, no directory is cordoned.
 *
 * v2 flexible · v3 a top-level error · v4 bytes of the volume · v5 cordoned directories (KIP-1066).
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import type { TopicView } from '../metadata/view.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { replicasOf } from './support/topics.ts'

export default serve(35, { min: 1, max: 5 }, { handle, fail })

type Topic = ResponseOf<35>['results'][number]['topics'][number]

async function handle(request: RequestOf<35>, context: RequestContext, parts: ApiParts): Promise<ResponseOf<35>> {
  const { state, nodeId } = parts.metadata
  const nodes = parts.nodes(context.connection.listener)
  const replicationFactor = parts.brokerConfigs.number('default.replication.factor')
  const describe = (topic: TopicView, wanted: Iterable<number>): Topic => ({
    name: topic.name,
    partitions: Array.from(new Set(wanted)).flatMap((partitionIndex) => {
      const partition = state.partition(topic.topic, partitionIndex)
      const isHere = partition !== null && replicasOf(topic.topicId, partitionIndex, nodes, replicationFactor).includes(nodeId)
      return isHere ? [{ partitionIndex, partitionSize: partition.sizeBytes, offsetLag: 0, isFutureKey: false }] : []
    }),
  })
  const all = (topic: TopicView): Topic => describe(topic, Array(topic.partitions).keys())
  const asked = request.topics?.map(({ topic, partitions }) => ({ topic: state.topicByName(topic), partitions }))
  const described =
    asked?.map(({ topic, partitions }) => (topic === null ? null : describe(topic, partitions))) ?? Array.from(state.topics(), all)
  const topics = described.filter((topic) => topic !== null && topic.partitions.length > 0) as Topic[]
  const volume = topics.length === 0 ? null : await parts.logDir.volume()
  const result = { errorCode: Errors.NONE, logDir: parts.logDir.path, topics, isCordoned: false }
  return {
    throttleTimeMs: 0,
    errorCode: Errors.NONE,
    results: [{ ...result, totalBytes: volume?.totalBytes ?? -1, usableBytes: volume?.usableBytes ?? -1 }],
  }
}

function fail(_request: RequestOf<35>, errorCode: number): ResponseOf<35> {
  return { throttleTimeMs: 0, errorCode, results: [] }
}
