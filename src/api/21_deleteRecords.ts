/**
 * DeleteRecords (21): moves the log start of partitions up. Served v0–2.
 *
 * - Offset -1 is the high watermark; below -1 or above the high watermark: OFFSET_OUT_OF_RANGE; below the log start: nothing
 *   happens. The answer is the new log start.
 * - A topic that is only compacted: POLICY_VIOLATION.
 * - Rows that were converted already stay in the table for SQL (T20).
 *
 * v1 unchanged · v2 flexible.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import type { TopicView } from '../metadata/view.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { adminFailure } from './support/failures.ts'

export default serve(21, { min: 0, max: 2 }, { handle, fail })

type Request = RequestOf<21>
type PartitionAnswer = ResponseOf<21>['topics'][number]['partitions'][number]
type Trim = { readonly topic: number; readonly partition: number; readonly logStartOffset: number }

async function handle(request: Request, _context: RequestContext, parts: ApiParts): Promise<ResponseOf<21>> {
  await parts.metadata.barrier()
  const trims: Trim[] = []
  const plans = request.topics.map((topic) =>
    topic.partitions.map(({ partitionIndex, offset }) => plan(topic.name, partitionIndex, offset, trims, parts)),
  )
  const starts = await trim(trims, parts)
  const topics = request.topics.map((topic, t) => ({
    name: topic.name,
    partitions: topic.partitions.map(({ partitionIndex }, p): PartitionAnswer => {
      const place = plans[t][p]
      if ('error' in place) return errorAnswer(partitionIndex, place.error)
      if (typeof starts === 'number') return errorAnswer(partitionIndex, starts)
      const lowWatermark = starts[place.at]
      // The partition went away meanwhile, or its end was not where we saw it.
      return lowWatermark < 0
        ? errorAnswer(partitionIndex, Errors.OFFSET_OUT_OF_RANGE)
        : { partitionIndex, lowWatermark, errorCode: Errors.NONE }
    }),
  }))
  return { throttleTimeMs: 0, topics }
}

function plan(
  name: string,
  partition: number,
  offset: number,
  trims: Trim[],
  parts: ApiParts,
): { readonly error: number } | { readonly at: number } {
  const topic: TopicView | null = parts.metadata.state.topicByName(name)
  const view = topic === null ? null : parts.metadata.state.partition(topic.topic, partition)
  if (topic === null || view === null) return { error: Errors.UNKNOWN_TOPIC_OR_PARTITION }
  const { cleanupPolicy } = parts.topicSettings(topic)
  if (cleanupPolicy.has('compact') && !cleanupPolicy.has('delete')) return { error: Errors.POLICY_VIOLATION }
  const logStartOffset = offset === -1 ? view.endOffset : offset
  if (logStartOffset < 0 || logStartOffset > view.endOffset) return { error: Errors.OFFSET_OUT_OF_RANGE }
  return { at: trims.push({ topic: topic.topic, partition, logStartOffset }) - 1 }
}

/** The new log starts, or a Kafka error code for all. */
async function trim(trims: readonly Trim[], parts: ApiParts): Promise<readonly number[] | number> {
  if (trims.length === 0) return []
  try {
    const result = await parts.metadata.propose({ kind: 'trimPartitions', trims })
    if (result.kind === 'trimmed') return result.logStartOffsets
    return result.kind === 'refused' ? result.error : Errors.UNKNOWN_SERVER_ERROR
  } catch (failure) {
    const error = adminFailure(failure)
    if (error === Errors.UNKNOWN_SERVER_ERROR) throw failure
    parts.logger.warn({ err: failure }, 'records could not be deleted')
    return error === Errors.NOT_CONTROLLER ? Errors.NOT_LEADER_OR_FOLLOWER : error
  }
}

function errorAnswer(partitionIndex: number, errorCode: number): PartitionAnswer {
  return { partitionIndex, lowWatermark: -1, errorCode }
}

function fail(request: Request, error: number): ResponseOf<21> {
  return {
    throttleTimeMs: 0,
    topics: request.topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map((each) => errorAnswer(each.partitionIndex, error)),
    })),
  }
}
