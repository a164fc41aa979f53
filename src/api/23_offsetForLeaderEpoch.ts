/**
 * OffsetForLeaderEpoch (23): where a leader epoch ends. Served v2–4.
 *
 * - The current epoch ends at the log end; an older one where the next begins; one we never had: -1 and -1. Epochs change only
 *   when a restore opens a timeline (L9), so consumers never find truncation and never loop while they validate (hazard B7).
 * - current_leader_epoch older than ours: FENCED_LEADER_EPOCH, newer: UNKNOWN_LEADER_EPOCH.
 *
 * v3 replica id · v4 flexible.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { epochEnd, leaderEpochError } from './support/topics.ts'

export default serve(23, { min: 2, max: 4 }, { handle, fail })

type Request = RequestOf<23>
type Asked = Request['topics'][number]['partitions'][number]
type PartitionAnswer = ResponseOf<23>['topics'][number]['partitions'][number]

async function handle(request: Request, _context: RequestContext, parts: ApiParts): Promise<ResponseOf<23>> {
  await parts.metadata.barrier()
  return {
    throttleTimeMs: 0,
    topics: request.topics.map(({ topic, partitions }) => ({ topic, partitions: partitions.map((asked) => lookUp(topic, asked, parts)) })),
  }
}

function lookUp(name: string, asked: Asked, parts: ApiParts): PartitionAnswer {
  const { state } = parts.metadata
  const topic = state.topicByName(name)
  const view = topic === null ? null : state.partition(topic.topic, asked.partition)
  if (view === null) return errorAnswer(asked, Errors.UNKNOWN_TOPIC_OR_PARTITION)
  const error = leaderEpochError(view, asked.currentLeaderEpoch)
  if (error !== Errors.NONE) return errorAnswer(asked, error)
  const { epoch, endOffset } = epochEnd(view, asked.leaderEpoch)
  return { errorCode: Errors.NONE, partition: asked.partition, leaderEpoch: epoch, endOffset }
}

function errorAnswer(asked: Asked, errorCode: number): PartitionAnswer {
  return { errorCode, partition: asked.partition, leaderEpoch: -1, endOffset: -1 }
}

function fail(request: Request, error: number): ResponseOf<23> {
  return {
    topics: request.topics.map(({ topic, partitions }) => ({ topic, partitions: partitions.map((asked) => errorAnswer(asked, error)) })),
  }
}
