/**
 * ListOffsets (2): offsets by time. Served v1–11.
 *
 * - -1 latest: the high watermark, for read_committed the last stable offset; -2 earliest; -3 the record with the largest timestamp,
 *   with that timestamp (v7, KIP-734); -4 earliest local, the earliest here (v8, KIP-405); -5 latest tiered (v9, KIP-1005) and
 *   -6 earliest pending upload (v11, KIP-1023): nothing is tiered, so -1.
 * - A time: the first record at or after it, with its own timestamp; the end of a transaction counts as one, as in Kafka, until it
 *   is converted. At or above what the isolation level lets read, or none: offset and timestamp -1, no error.
 * - A special value of a later version, or any other negative one: UNSUPPORTED_VERSION for the partition.
 * - A partition named twice: answered once, INVALID_REQUEST (K: ReplicaManager.fetchOffset).
 * - Nothing is answered from an old view: the handler waits for the metadata log's end first (L8).
 *
 * v2 isolation level · v4 leader epochs, in both directions · v6 flexible · v10 timeout.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { epochOfOffset } from '../metadata/epochs.ts'
import { leaderEpochError } from './support/topics.ts'
import { storageFailure } from './support/failures.ts'

export default serve(2, { min: 1, max: 11 }, { handle, fail })

type Request = RequestOf<2>
type Asked = Request['topics'][number]['partitions'][number]
type PartitionAnswer = ResponseOf<2>['topics'][number]['partitions'][number]

const READ_COMMITTED = 1
const LATEST = -1
const EARLIEST = -2
const MAX_TIMESTAMP = -3
const EARLIEST_LOCAL = -4
const LATEST_TIERED = -5
const EARLIEST_PENDING_UPLOAD = -6
/** The first version that knows a special timestamp. */
const SINCE: Readonly<Record<number, number>> = {
  [LATEST]: 1,
  [EARLIEST]: 1,
  [MAX_TIMESTAMP]: 7,
  [EARLIEST_LOCAL]: 8,
  [LATEST_TIERED]: 9,
  [EARLIEST_PENDING_UPLOAD]: 11,
}

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<2>> {
  await parts.metadata.barrier()
  const isCommitted = request.isolationLevel === READ_COMMITTED
  const topics = request.topics.map(async ({ name, partitions }) => {
    const first = new Map(partitions.toReversed().map((asked) => [asked.partitionIndex, asked]))
    const repeated = new Set(partitions.filter((asked) => first.get(asked.partitionIndex) !== asked).map((asked) => asked.partitionIndex))
    const answers = Array.from(first.values(), (asked) =>
      repeated.has(asked.partitionIndex) ? errorAnswer(asked, Errors.INVALID_REQUEST) : lookUp(name, asked, isCommitted, context, parts),
    )
    return { name, partitions: await Promise.all(answers) }
  })
  return { throttleTimeMs: 0, topics: await Promise.all(topics) }
}

async function lookUp(
  name: string,
  asked: Asked,
  isCommitted: boolean,
  context: RequestContext,
  parts: ApiParts,
): Promise<PartitionAnswer> {
  const { timestamp, partitionIndex } = asked
  if (timestamp < 0 && !(context.version >= SINCE[timestamp])) return errorAnswer(asked, Errors.UNSUPPORTED_VERSION)
  const topic = parts.metadata.state.topicByName(name)
  const view = topic === null ? null : parts.metadata.state.partition(topic.topic, partitionIndex)
  if (topic === null || view === null) return errorAnswer(asked, Errors.UNKNOWN_TOPIC_OR_PARTITION)
  const fenced = leaderEpochError(view, asked.currentLeaderEpoch)
  if (fenced !== Errors.NONE) return errorAnswer(asked, fenced)
  const found = (offset: number, timestampMs: number, leaderEpoch: number): PartitionAnswer => ({
    partitionIndex,
    errorCode: Errors.NONE,
    timestamp: timestampMs,
    offset,
    ...(context.version >= 4 ? { leaderEpoch } : {}),
  })
  const end = isCommitted ? view.lastStableOffset : view.endOffset
  if (timestamp === LATEST) return found(end, -1, view.leaderEpoch)
  if (timestamp === EARLIEST || timestamp === EARLIEST_LOCAL)
    return found(view.logStartOffset, -1, epochOfOffset(view, view.logStartOffset))
  if (timestamp === LATEST_TIERED || timestamp === EARLIEST_PENDING_UPLOAD) return found(-1, -1, -1)
  try {
    const { log } = parts
    const hit = await (timestamp === MAX_TIMESTAMP
      ? log.offsetOfMaxTimestamp(topic.topic, partitionIndex)
      : log.offsetByTime(topic.topic, partitionIndex, timestamp))
    return hit === null || (isCommitted && hit.offset >= end)
      ? found(-1, -1, -1)
      : found(hit.offset, hit.timestampMs, epochOfOffset(view, hit.offset))
  } catch (failure) {
    const error = storageFailure(failure)
    if (error === Errors.UNKNOWN_SERVER_ERROR) throw failure
    parts.logger.warn({ err: failure, topic: name, partition: partitionIndex }, 'an offset could not be looked up by time')
    return errorAnswer(asked, error)
  }
}

function errorAnswer(asked: Asked, errorCode: number): PartitionAnswer {
  return { partitionIndex: asked.partitionIndex, errorCode, timestamp: -1, offset: -1 }
}

function fail(request: Request, error: number): ResponseOf<2> {
  return {
    topics: request.topics.map((topic) => ({ name: topic.name, partitions: topic.partitions.map((asked) => errorAnswer(asked, error)) })),
  }
}
