/**
 * Metadata (3): nodes, topics, partitions and who leads them. Served v0–13.
 *
 * - All topics: an empty array in v0, null from v1 on, where an empty array asks for none.
 * - Unknown names are created when the client allows it (v4; older versions always do) and auto.create.topics.enable is on.
 *   The answer waits for the finished topic, where Kafka answers an error first. Otherwise UNKNOWN_TOPIC_OR_PARTITION.
 *   A name that cannot be: INVALID_TOPIC_EXCEPTION.
 * - v12 asks by id with a null name; an unknown id: UNKNOWN_TOPIC_ID, with a null name. v10–11 that try: INVALID_REQUEST.
 * - Any node serves any partition, so the leader is a stable choice among the nodes that are ready (rendezvous hashing) and the epoch
 *   is the partition's own, which only a restore raises (L9): clients accept every update.
 * - Replicas and in-sync replicas are the leader, a node in each other rack, and as many more as the default replication factor asks.
 *
 * v1 controller, racks, internal topics · v2 cluster id · v5 offline replicas · v7 leader epochs · v8–10 authorized operations of
 * the cluster · v8 of topics · v9 flexible · v10 topic ids in the answer · v13 a top-level error.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import type { TopicView } from '../metadata/view.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts, NodeEndpoint } from './parts.ts'
import { CLUSTER_OPERATIONS, OPERATIONS_NOT_ASKED, TOPIC_OPERATIONS } from './support/authorizedOperations.ts'
import { collisionKeys, createTopic, newTopicProblem } from './support/createTopic.ts'
import { describePartition } from './support/describePartition.ts'
import { isInternalTopic, topicNameProblem, ZERO_UUID } from './support/topics.ts'

export default serve(3, { min: 0, max: 13 }, { handle, fail })

type Request = RequestOf<3>
type TopicAnswer = ResponseOf<3>['topics'][number]

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<3>> {
  const { version } = context
  const { state } = parts.metadata
  const asked = request.topics
  if (version < 12 && asked?.some((topic) => topic.name === null || topic.topicId !== ZERO_UUID))
    return fail(request, Errors.INVALID_REQUEST, context)
  const nodes = parts.nodes(context.connection.listener)
  const describe = (topic: TopicView): TopicAnswer => describeTopic(topic, request, nodes, parts)
  const all = asked === null || (version === 0 && asked.length === 0)
  return {
    throttleTimeMs: 0,
    brokers: nodes,
    clusterId: state.clusterId,
    controllerId: nodes[0].nodeId,
    topics: all ? Array.from(state.topics(), describe) : await askedTopics(request, describe, parts),
    ...(request.includeClusterAuthorizedOperations ? { clusterAuthorizedOperations: CLUSTER_OPERATIONS } : {}),
  }
}

async function askedTopics(request: Request, describe: (topic: TopicView) => TopicAnswer, parts: ApiParts): Promise<TopicAnswer[]> {
  const asked = request.topics ?? []
  const { state } = parts.metadata
  const ids = [...new Set(asked.filter((topic) => topic.topicId !== ZERO_UUID).map((topic) => topic.topicId))]
  if (ids.length > 0) {
    return ids.map((topicId) => {
      const topic = state.topicById(topicId)
      return topic === null ? missing(null, Errors.UNKNOWN_TOPIC_ID, topicId) : describe(topic)
    })
  }
  const names = [...new Set(asked.map((topic) => topic.name!))]
  const create = request.allowAutoTopicCreation && parts.brokerConfigs.boolean('auto.create.topics.enable')
  const unknown = names.filter((name) => state.topicByName(name) === null)
  const errors = create ? await createMissing(unknown, parts) : new Map<string, number>()
  return names.map((name) => {
    const topic = state.topicByName(name)
    if (topic !== null) return describe(topic)
    const error = topicNameProblem(name) === null ? (errors.get(name) ?? Errors.UNKNOWN_TOPIC_OR_PARTITION) : Errors.INVALID_TOPIC_EXCEPTION
    return missing(name, error)
  })
}

/** Makes the topics; the code to answer for those that could not be made. */
async function createMissing(names: readonly string[], parts: ApiParts): Promise<Map<string, number>> {
  const errors = new Map<string, number>()
  const taken = collisionKeys(parts, names)
  const partitions = parts.brokerConfigs.number('num.partitions')
  await Promise.all(
    names.map(async (name) => {
      const problem = newTopicProblem(name, parts, taken)
      const created = problem ?? (await createTopic(name, partitions, {}, parts))
      // What cannot be stored now may be later: clients ask again after LEADER_NOT_AVAILABLE.
      if (created.error === Errors.INVALID_TOPIC_EXCEPTION) errors.set(name, created.error)
      else if (created.topic === null && created.error !== Errors.TOPIC_ALREADY_EXISTS) errors.set(name, Errors.LEADER_NOT_AVAILABLE)
    }),
  )
  return errors
}

function describeTopic(topic: TopicView, request: Request, nodes: readonly NodeEndpoint[], parts: ApiParts): TopicAnswer {
  return {
    errorCode: Errors.NONE,
    name: topic.name,
    topicId: topic.topicId,
    isInternal: isInternalTopic(topic.name),
    partitions: Array.from({ length: topic.partitions }, (_, partition) => describePartition(topic, partition, nodes, parts)),
    topicAuthorizedOperations: request.includeTopicAuthorizedOperations ? TOPIC_OPERATIONS : OPERATIONS_NOT_ASKED,
  }
}

function missing(name: string | null, errorCode: number, topicId = ZERO_UUID): TopicAnswer {
  return { errorCode, name, topicId, isInternal: name !== null && isInternalTopic(name), partitions: [] }
}

/** The code stands at every topic that was asked for, and at the top from v13 on. */
function fail(request: Request, error: number, context: RequestContext): ResponseOf<3> {
  const named = (name: string | null): string | null => (context.version < 12 ? (name ?? '') : name)
  const topics = (request.topics ?? []).map(({ name, topicId }) => missing(named(name), error, topicId))
  return { brokers: [], topics, errorCode: error }
}
