/**
 * DescribeTopicPartitions (75): topics with their partitions, page by page, in the order of names (KIP-966). Served v0.
 *
 * - No names ask for all topics. At most max.request.partition.size.limit partitions, or fewer if asked for, but one at least; the cursor tells
 *   where the next page begins. An unknown topic takes no room: UNKNOWN_TOPIC_OR_PARTITION, INVALID_TOPIC_EXCEPTION.
 * - A cursor at a topic that is not in the list, or at a negative partition: INVALID_REQUEST for all of it.
 * - Partitions are those that Metadata tells. Nothing is ever out of sync, so there are no further eligible leaders.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { OPERATIONS_NOT_ASKED, TOPIC_OPERATIONS } from './support/authorizedOperations.ts'
import { describePartition } from './support/describePartition.ts'
import { isInternalTopic, topicNameProblem, ZERO_UUID } from './support/topics.ts'

export default serve(75, { min: 0, max: 0 }, { handle, fail })

type Request = RequestOf<75>
type Topic = ResponseOf<75>['topics'][number]

function handle(request: Request, context: RequestContext, parts: ApiParts): ResponseOf<75> {
  const { cursor } = request
  const { state } = parts.metadata
  const all = request.topics.length === 0
  const from = cursor?.topicName ?? ''
  const asked = all ? Array.from(state.topics(), ({ name }) => name) : request.topics.map(({ name }) => name)
  const names = Array.from(new Set(asked))
    .filter((name) => name >= from)
    .toSorted((a, b) => (a < b ? -1 : 1))
  if (cursor !== null && (cursor.partitionIndex < 0 || (!all && !names.includes(from)))) return fail(request, Errors.INVALID_REQUEST)
  const limit = Math.min(parts.brokerConfigs.number('max.request.partition.size.limit'), request.responsePartitionLimit)
  const nodes = parts.nodes(context.connection.listener)
  let left = Math.max(limit, 1)
  const topics: Topic[] = []
  for (const name of names) {
    if (left === 0) return { throttleTimeMs: 0, topics, nextCursor: { topicName: name, partitionIndex: 0 } }
    const topic = state.topicByName(name)
    if (topic === null) {
      const errorCode = topicNameProblem(name) === null ? Errors.UNKNOWN_TOPIC_OR_PARTITION : Errors.INVALID_TOPIC_EXCEPTION
      topics.push(missing(name, errorCode, TOPIC_OPERATIONS))
      continue
    }
    const first = name === from ? cursor!.partitionIndex : 0
    const end = Math.min(topic.partitions, first + left)
    const partitions: Topic['partitions'][number][] = []
    for (let i = first; i < end; i++)
      partitions.push({ ...describePartition(topic, i, nodes, parts), eligibleLeaderReplicas: [], lastKnownElr: [] })
    const about = { topicId: topic.topicId, isInternal: isInternalTopic(name), topicAuthorizedOperations: TOPIC_OPERATIONS }
    topics.push({ errorCode: Errors.NONE, name, partitions, ...about })
    if (end < topic.partitions && first < end) return { throttleTimeMs: 0, topics, nextCursor: { topicName: name, partitionIndex: end } }
    left -= partitions.length
  }
  return { throttleTimeMs: 0, topics, nextCursor: null }
}

function missing(name: string, errorCode: number, topicAuthorizedOperations: number): Topic {
  return { errorCode, name, topicId: ZERO_UUID, isInternal: isInternalTopic(name), partitions: [], topicAuthorizedOperations }
}

function fail(request: Request, error: number): ResponseOf<75> {
  return { throttleTimeMs: 0, topics: request.topics.map(({ name }) => missing(name, error, OPERATIONS_NOT_ASKED)), nextCursor: null }
}
