/**
 * Fetch (1): reads record batches, waiting for min_bytes up to max_wait_ms. Served v4–18.
 *
 * - Partitions are served in request order under max_bytes (never more than fetch.max.bytes) and partition_max_bytes; the
 *   first that has data gives at least one whole batch (KIP-74). The log room does this; batches are sent as they lie there.
 * - Topics are named by name up to v12 and by id from v13 on, and answered exactly as the request named them (hazard B11).
 * - A partition in error has -1 in every offset (hazard B16), and the answer is not delayed.
 * - current_leader_epoch older than ours: FENCED_LEADER_EPOCH, newer: UNKNOWN_LEADER_EPOCH (KIP-320). With the former, v16
 *   names the leader and its address (KIP-951).
 * - last_fetched_epoch (v12) that ended before the fetch offset: diverging_epoch and no records (KIP-595).
 * - read_committed ends at the last stable offset, which every answer names; the aborted list (null for read_uncommitted, empty for
 *   partitions that do not exist) is sorted by first offset. Records of aborted transactions are served, and the marker with them.
 * - Sessions (KIP-227, support/fetchSessions.ts): a request that goes on in one names what changed, and is told what is new. They live in
 *   this node's memory; elsewhere or after a restart it is FETCH_SESSION_ID_NOT_FOUND, upon which clients send a full request.
 *
 * v5 log start offset · v7 sessions · v9 current leader epoch · v11 preferred replica (a node in the client's rack) · v12 flexible, diverging epoch ·
 * v13 topic ids · v15 replica state · v16 node endpoints · v17 directory id, v18 high watermark (both of replicas, ignored).
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import type { FetchPartition, FetchedPartition } from '../log/port.ts'
import type { PartitionView, TopicView } from '../metadata/view.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { epochEnd, findTopic, leaderEpochError, leaderOf, nearReplica } from './support/topics.ts'

export default serve(1, { min: 4, max: 18 }, { handle, fail })

type Request = RequestOf<1>
type Topic = Request['topics'][number]
type Partition = Topic['partitions'][number]
type PartitionAnswer = ResponseOf<1>['responses'][number]['partitions'][number]

const READ_COMMITTED = 1
const NO_RECORDS: readonly Uint8Array[] = []

/** What is known of a partition before the log is asked: its answer, or its place in the log's request. */
type Outcome = { readonly answer: PartitionAnswer } | { readonly at: number }

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<1>> {
  const { fetchSessions } = parts
  const { error, topics, session, begins } = fetchSessions.begin(request, context.version)
  if (error !== Errors.NONE) return { throttleTimeMs: 0, errorCode: error, sessionId: 0, responses: [] }
  const committed = request.isolationLevel === READ_COMMITTED
  const wanted: FetchPartition[] = []
  const outcomes = topics.map((topic) => prepareTopic(topic, request, context, wanted, parts))
  const inError = outcomes.some((topic) => topic.some((outcome) => 'answer' in outcome))
  const maxBytes = Math.min(request.maxBytes, parts.brokerConfigs.number('fetch.max.bytes'))
  // the session may change while this one waits
  const turn = session?.turn()
  const fetched = await parts.log.fetch({
    partitions: wanted,
    minBytes: Math.min(request.minBytes, maxBytes),
    maxBytes,
    maxWaitMs: inError ? 0 : Math.max(0, request.maxWaitMs),
    signal: context.connection.signal,
  })
  const answerOf = (t: number, p: number): PartitionAnswer => {
    const outcome = outcomes[t][p]
    return 'answer' in outcome ? outcome.answer : toAnswer(topics[t].partitions[p].partition, fetched[outcome.at], committed)
  }
  if (turn !== undefined) {
    if (turn.isOver()) return { throttleTimeMs: 0, errorCode: Errors.INVALID_FETCH_SESSION_EPOCH, sessionId: turn.sessionId, responses: [] }
    const news = turn.news(answerOf)
    const responses = news.map(({ topic, topicId, partitions }) =>
      context.version >= 13 ? { topicId, partitions } : { topic, partitions },
    )
    return answered(turn.sessionId, responses, context, parts)
  }
  const all = topics.map((topic, t) => ({ ...identity(topic, context), partitions: topic.partitions.map((_, p) => answerOf(t, p)) }))
  const sessionId = begins ? fetchSessions.create(topics, all, context.version) : 0
  return answered(sessionId, all.some(isEmpty) ? all.filter((topic) => !isEmpty(topic)) : all, context, parts)
}

/** A topic without partitions is not answered. */
const isEmpty = (topic: { readonly partitions: readonly unknown[] }): boolean => topic.partitions.length === 0

function answered(sessionId: number, responses: ResponseOf<1>['responses'], context: RequestContext, parts: ApiParts): ResponseOf<1> {
  return { throttleTimeMs: 0, errorCode: Errors.NONE, sessionId, responses, nodeEndpoints: leaderHints(responses, context, parts) }
}

function identity(
  topic: { readonly topic: string; readonly topicId: string },
  context: RequestContext,
): { readonly topic: string } | { readonly topicId: string } {
  return context.version >= 13 ? { topicId: topic.topicId } : { topic: topic.topic }
}

function prepareTopic(topic: Topic, request: Request, context: RequestContext, wanted: FetchPartition[], parts: ApiParts): Outcome[] {
  const isCommitted = request.isolationLevel === READ_COMMITTED
  const { state } = parts.metadata
  const found = findTopic(state, context.version >= 13 ? { byId: true, topicId: topic.topicId } : { byId: false, name: topic.topic })
  return topic.partitions.map((asked): Outcome => {
    const unknown = (error: number): Outcome => ({ answer: { ...errorAnswer(asked.partition, error), abortedTransactions: [] } })
    if (typeof found === 'number') return unknown(found)
    const view = state.partition(found.topic, asked.partition)
    if (view === null) return unknown(Errors.UNKNOWN_TOPIC_OR_PARTITION)
    const answer = epochAnswer(asked, found, view, context, parts) ?? elsewhere(asked, found, view, request.rackId, context, parts)
    if (answer !== null) return { answer }
    const { partition, fetchOffset, partitionMaxBytes: maxBytes } = asked
    wanted.push({ topic: found.topic, partition, fetchOffset, maxBytes, isCommitted })
    return { at: wanted.length - 1 }
  })
}

/** The answer to a request whose idea of the leader epoch does not fit ours, else null. */
function epochAnswer(
  asked: Partition,
  topic: TopicView,
  view: PartitionView,
  context: RequestContext,
  parts: ApiParts,
): PartitionAnswer | null {
  const error = leaderEpochError(view, asked.currentLeaderEpoch)
  if (error === Errors.FENCED_LEADER_EPOCH && context.version >= 16) {
    const nodes = parts.nodes(context.connection.listener)
    const currentLeader = { leaderId: leaderOf(topic.topicId, asked.partition, nodes), leaderEpoch: view.leaderEpoch }
    return { ...errorAnswer(asked.partition, error), currentLeader }
  }
  if (error !== Errors.NONE) return errorAnswer(asked.partition, error)
  if (asked.lastFetchedEpoch < 0) return null
  const end = epochEnd(view, asked.lastFetchedEpoch)
  if (end.epoch < 0) return errorAnswer(asked.partition, Errors.OFFSET_OUT_OF_RANGE)
  if (end.epoch === asked.lastFetchedEpoch && end.endOffset >= asked.fetchOffset) return null
  const { endOffset, lastStableOffset, logStartOffset } = view
  return {
    partitionIndex: asked.partition,
    errorCode: Errors.NONE,
    highWatermark: endOffset,
    lastStableOffset,
    logStartOffset,
    divergingEpoch: end,
    abortedTransactions: null,
    records: NO_RECORDS,
  }
}

/** The answer that sends a client to another node: this one leaves, or there is one in the client's rack (KIP-392). Else null. */
function elsewhere(
  asked: Partition,
  topic: TopicView,
  view: PartitionView,
  rackId: string,
  context: RequestContext,
  parts: ApiParts,
): PartitionAnswer | null {
  const { version } = context
  const leaving = parts.leaving?.() === true
  if (!leaving && (rackId === '' || version < 11)) return null
  const nodes = parts.nodes(context.connection.listener)
  if (leaving) {
    const answer = errorAnswer(asked.partition, Errors.NOT_LEADER_OR_FOLLOWER)
    if (version < 12) return answer
    return { ...answer, currentLeader: { leaderId: leaderOf(topic.topicId, asked.partition, nodes), leaderEpoch: view.leaderEpoch } }
  }
  const near = nearReplica(topic.topicId, asked.partition, rackId, parts.metadata.nodeId, nodes)
  if (near < 0) return null
  const { endOffset, lastStableOffset, logStartOffset } = view
  return {
    partitionIndex: asked.partition,
    errorCode: Errors.NONE,
    highWatermark: endOffset,
    lastStableOffset,
    logStartOffset,
    preferredReadReplica: near,
    abortedTransactions: null,
    records: NO_RECORDS,
  }
}

function toAnswer(partitionIndex: number, fetched: FetchedPartition, committed: boolean): PartitionAnswer {
  const { error, highWatermark, lastStableOffset, logStartOffset, abortedTransactions, records } = fetched
  if (error !== Errors.NONE) return errorAnswer(partitionIndex, error)
  return {
    partitionIndex,
    errorCode: Errors.NONE,
    highWatermark,
    lastStableOffset,
    logStartOffset,
    abortedTransactions: committed ? abortedTransactions : null,
    records,
  }
}

function errorAnswer(partitionIndex: number, errorCode: number): PartitionAnswer {
  return {
    partitionIndex,
    errorCode,
    highWatermark: -1,
    lastStableOffset: -1,
    logStartOffset: -1,
    abortedTransactions: null,
    records: NO_RECORDS,
  }
}

/** Addresses of the leaders that answers point to. */
function leaderHints(responses: ResponseOf<1>['responses'], context: RequestContext, parts: ApiParts): ResponseOf<1>['nodeEndpoints'] {
  const hinted = new Set<number>()
  for (const topic of responses) {
    for (const { currentLeader } of topic.partitions) if (currentLeader?.leaderId !== undefined) hinted.add(currentLeader.leaderId)
  }
  return hinted.size === 0 ? [] : parts.nodes(context.connection.listener).filter((node) => hinted.has(node.nodeId))
}

/** A top-level code exists from v7 on; before, every partition carries it. */
function fail(request: Request, error: number, context: RequestContext): ResponseOf<1> {
  if (context.version >= 7) return { errorCode: error, sessionId: 0, responses: [] }
  const responses = request.topics.map((topic) => ({
    ...identity(topic, context),
    partitions: topic.partitions.map(({ partition }) => errorAnswer(partition, error)),
  }))
  return { responses }
}
