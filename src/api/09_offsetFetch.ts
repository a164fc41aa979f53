/**
 * OffsetFetch (9): a group's committed offsets. Served v1–10.
 *
 * - Never committed: offset -1, leader epoch -1, metadata "", no error; so is every partition of an unknown group or topic
 *   name. Unknown topic id (v10): UNKNOWN_TOPIC_ID.
 * - Null topics (v2): every committed offset of the group.
 * - Nothing is answered from an old view: the handler waits for the metadata log's end first (L8).
 * - require_stable (v7, KIP-447): UNSTABLE_OFFSET_COMMIT for a partition of which a running transaction holds an offset; the client
 *   asks again.
 * - Offsets belong to a topic's id; those of a deleted topic are gone with it, also when its name is used again.
 *
 * v2 top-level error · v5 leader epoch · v6 flexible · v8 many groups, each with its own error · v9 member id and epoch (of KIP-848
 * groups: UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH; classic groups do not check them) · v10 topic ids instead of names.
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
    return {
      throttleTimeMs: 0,
      groups: request.groups.map((group) => fetchGroup(group, group.topics, request.requireStable, context, parts)),
    }
  }
  const topics = request.topics?.map((topic) => ({ ...topic, topicId: ZERO_UUID })) ?? null
  const { errorCode, topics: found } = fetchGroup(
    { groupId: request.groupId, memberId: null, memberEpoch: -1 },
    topics,
    request.requireStable,
    context,
    parts,
  )
  return single(errorCode ?? Errors.NONE, found ?? [])
}

/** Before v8 there is one group, and its answer is the whole answer. */
function single(errorCode: number, topics: readonly TopicAnswer[]): ResponseOf<9> {
  return { throttleTimeMs: 0, topics: topics.map(({ name, partitions }) => ({ name: name!, partitions: partitions! })), errorCode }
}

interface Asker {
  readonly groupId: string
  readonly memberId: string | null
  readonly memberEpoch: number
}

function fetchGroup(
  { groupId, memberId, memberEpoch }: Asker,
  asked: readonly AskedTopic[] | null,
  requireStable: boolean,
  context: RequestContext,
  parts: ApiParts,
): Group {
  const error = parts.groups.mayFetch(groupId, memberId, memberEpoch)
  if (error !== Errors.NONE) return failedGroup(groupId, asked, error, context)
  /** Of a partition with an offset that may become another one at any moment. */
  const errorOf = (topic: number, partition: number): number =>
    requireStable && parts.groups.isOffsetPending(groupId, topic, partition) ? Errors.UNSTABLE_OFFSET_COMMIT : Errors.NONE
  const topics =
    asked === null
      ? everything(groupId, errorOf, context, parts)
      : asked.map((topic) => fetchTopic(groupId, topic, errorOf, context, parts))
  return { groupId, topics, errorCode: Errors.NONE }
}

type ErrorOf = (topic: number, partition: number) => number

function fetchTopic(groupId: string, asked: AskedTopic, errorOf: ErrorOf, context: RequestContext, parts: ApiParts): TopicAnswer {
  const { name, topicId, partitionIndexes } = asked
  const byId = context.version >= 10
  const topic = findTopic(parts.metadata.state, byId ? { byId, topicId } : { byId, name })
  const identity = byId ? { topicId } : { name }
  if (topic === Errors.UNKNOWN_TOPIC_ID)
    return { ...identity, partitions: partitionIndexes.map((partition) => toAnswer(partition, null, topic)) }
  if (typeof topic === 'number') return { ...identity, partitions: partitionIndexes.map((partition) => toAnswer(partition, null)) }
  const partitions = partitionIndexes.map((partition) =>
    toAnswer(partition, parts.groups.offset(groupId, topic.topic, partition), errorOf(topic.topic, partition)),
  )
  return { ...identity, partitions }
}

function everything(groupId: string, errorOf: ErrorOf, context: RequestContext, parts: ApiParts): TopicAnswer[] {
  const byTopic = new Map<number, PartitionAnswer[]>()
  for (const item of parts.groups.offsets(groupId)) {
    const answer = toAnswer(item.partition, item, errorOf(item.topic, item.partition))
    const answers = byTopic.get(item.topic)
    if (answers === undefined) byTopic.set(item.topic, [answer])
    else answers.push(answer)
  }
  const topics: TopicAnswer[] = []
  for (const [number, partitions] of byTopic) {
    const topic = parts.metadata.state.topicByNumber(number)
    if (topic !== null) topics.push({ ...(context.version >= 10 ? { topicId: topic.topicId } : { name: topic.name }), partitions })
  }
  return topics
}

function toAnswer(partitionIndex: number, item: OffsetItem | null, errorCode: number = Errors.NONE): PartitionAnswer {
  const shown = errorCode === Errors.NONE ? item : null
  return {
    partitionIndex,
    committedOffset: shown?.offset ?? -1,
    committedLeaderEpoch: shown?.leaderEpoch ?? -1,
    metadata: shown?.metadata ?? '',
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
