import { Errors, type ResponseOf } from '../../../protocol/index.ts'
import type { TopicView } from '../../metadata/view.ts'
import type { ApiParts, NodeEndpoint } from '../parts.ts'
import { replicasOf } from './topics.ts'

/** A partition as Metadata and DescribeTopicPartitions tell it. */
export function describePartition(
  topic: TopicView,
  partitionIndex: number,
  nodes: readonly NodeEndpoint[],
  parts: ApiParts,
): ResponseOf<3>['topics'][number]['partitions'][number] {
  const replicas = replicasOf(topic.topicId, partitionIndex, nodes, parts.brokerConfigs.number('default.replication.factor'))
  return {
    errorCode: Errors.NONE,
    partitionIndex,
    leaderId: replicas[0],
    leaderEpoch: parts.metadata.state.partition(topic.topic, partitionIndex)?.leaderEpoch ?? 0,
    replicaNodes: replicas,
    isrNodes: replicas,
    offlineReplicas: [],
  }
}
