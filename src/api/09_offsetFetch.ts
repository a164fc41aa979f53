/**
 * OffsetFetch (9): a group's committed offsets. Served v1–10.
 *
 * - Never committed: offset -1, leader epoch -1, metadata "", no error; so is every partition of an unknown group or topic
 *   name. Unknown topic id (v10): UNKNOWN_TOPIC_ID.
 * - Null topics (v2): every committed offset of the group.
 * - Nothing is answered from an old view: the handler waits for the metadata log's end first (L8).
 * - require_stable (v7) asks to wait out pending transactional commits: there are none.
 * - Offsets belong to a topic's id; those of a deleted topic are gone with it, also when its name is used again.
 *
 * v2 top-level error · v5 leader epoch · v6 flexible · v8 many groups, each with its own error · v9 member id and epoch (of KIP-848
 * groups; classic groups do not check them) · v10 topic ids instead of names.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import type { OffsetItem } from '../metadata/commands.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { findTopic, ZERO_UUID } from './support/topics.ts'

export default serve(9, { min: 1, max: 10 }, { handle, fail })

type Request = RequestOf<9>
type AskedTopic = { readonly name: string; readonly topicId: string; readonly partitionIndexes: readonly number[] }
type Group = NonNullable<ResponseOf<9>['groups']>[number]
type TopicAnswer = NonNullable<Group['topics']>[number]
type PartitionAnswer = NonNullable<TopicAnswer['partitions']>[number]

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<9>> {
  await parts.metadata.barrier()
  if (context.version >= 8) {
    return { throttleTimeMs: 0, groups: request.groups.map((group) => fetchGroup(group.groupId, group.topics, context, parts)) }
  }
  const topics = request.topics?.map((topic) => ({ ...topic, topicId: ZERO_UUID })) ?? null
  const { errorCode, topics: found } = fetchGroup(request.groupId, topics, context, parts)
  return single(errorCode ?? Errors.NONE, found ?? [])
}

/** Before v8 there is one group, and its answer is the whole answer. */
function single(errorCode: number, topics: readonly TopicAnswer[]): ResponseOf<9> {
  return { throttleTimeMs: 0, topics: topics.map(({ name, partitions }) => ({ name: name!, partitions: partitions! })), errorCode }
}

function fetchGroup(groupId: string, asked: readonly AskedTopic[] | null, context: RequestContext, parts: ApiParts): Group {
  const error = parts.groups.mayFetch(groupId)
  if (error !== Errors.NONE) return failedGroup(groupId, asked, error, context)
  const topics = asked === null ? everything(groupId, context, parts) : asked.map((topic) => fetchTopic(groupId, topic, context, parts))
  return { groupId, topics, errorCode: Errors.NONE }
}

function fetchTopic(groupId: string, asked: AskedTopic, context: RequestContext, parts: ApiParts): TopicAnswer {
  const { name, topicId, partitionIndexes } = asked
  const byId = context.version >= 10
  const topic = findTopic(parts.metadata.state, byId ? { byId, topicId } : { byId, name })
  const identity = byId ? { topicId } : { name }
  if (topic === Errors.UNKNOWN_TOPIC_ID)
    return { ...identity, partitions: partitionIndexes.map((partition) => toAnswer(partition, null, topic)) }
  const offsetOf = (partition: number): OffsetItem | null =>
    typeof topic === 'number' ? null : parts.groups.offset(groupId, topic.topic, partition)
  return { ...identity, partitions: partitionIndexes.map((partition) => toAnswer(partition, offsetOf(partition))) }
}

function everything(groupId: string, context: RequestContext, parts: ApiParts): TopicAnswer[] {
  const byTopic = new Map<number, PartitionAnswer[]>()
  for (const item of parts.groups.offsets(groupId)) {
    const answers = byTopic.get(item.topic)
    if (answers === undefined) byTopic.set(item.topic, [toAnswer(item.partition, item)])
    else answers.push(toAnswer(item.partition, item))
  }
  const topics: TopicAnswer[] = []
  for (const [number, partitions] of byTopic) {
    const topic = parts.metadata.state.topicByNumber(number)
    if (topic !== null) topics.push({ ...(context.version >= 10 ? { topicId: topic.topicId } : { name: topic.name }), partitions })
  }
  return topics
}

function toAnswer(partitionIndex: number, item: OffsetItem | null, errorCode: number = Errors.NONE): PartitionAnswer {
  return {
    partitionIndex,
    committedOffset: item?.offset ?? -1,
    committedLeaderEpoch: item?.leaderEpoch ?? -1,
    metadata: item?.metadata ?? '',
    errorCode,
  }
}

/** From v2 on the group's own error says it all; v1 has only those of partitions. */
function failedGroup(groupId: string, asked: readonly AskedTopic[] | null, error: number, context: RequestContext): Group {
  if (context.version >= 2) return { groupId, topics: [], errorCode: error }
  const topics = (asked ?? []).map(({ name, partitionIndexes }) => ({
    name,
    partitions: partitionIndexes.map((partition) => toAnswer(partition, null, error)),
  }))
  return { groupId, topics, errorCode: error }
}

function fail(request: Request, error: number, context: RequestContext): ResponseOf<9> {
  if (context.version >= 8) return { groups: request.groups.map((group) => failedGroup(group.groupId, null, error, context)) }
  const asked = request.topics?.map((topic) => ({ ...topic, topicId: ZERO_UUID })) ?? null
  return single(error, failedGroup(request.groupId, asked, error, context).topics ?? [])
}
