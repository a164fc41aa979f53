/**
 * OffsetCommit (8): stores a group's offsets. Served v2–10.
 *
 * - Answered once the offsets are durable. Offset, leader epoch and metadata text come back from OffsetFetch as they were sent.
 * - Members name their generation and id; generation -1 is for administrators and consumers that assign themselves, and only
 *   while the group is empty (else UNKNOWN_MEMBER_ID). During CompletingRebalance: REBALANCE_IN_PROGRESS.
 * - A commit of a member counts as a heartbeat.
 * - Metadata longer than offset.metadata.max.bytes: OFFSET_METADATA_TOO_LARGE for the partition; unknown topic or partition: 3,
 *   unknown id (v10): 100; a null text is stored as "".
 * - A commit equal to what is stored makes no entry, save once an hour (L20).
 *
 * v2–4 retention time, honoured when given · v5 dropped it · v6 leader epoch · v7 instance id · v8 flexible · v9 member epochs,
 * GROUP_ID_NOT_FOUND instead of ILLEGAL_GENERATION (KIP-848) · v10 topic ids.
 */
import type { RequestOf, ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { commitItems } from './support/commitItems.ts'

export default serve(8, { min: 2, max: 10 }, { handle, fail })

type Request = RequestOf<8>

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<8>> {
  const { items, places } = commitItems(parts.metadata.state, request.topics, context.version >= 10)
  const errors = await parts.groups.commitOffsets({
    groupId: request.groupId,
    memberId: request.memberId,
    instanceId: request.groupInstanceId,
    generation: request.generationIdOrMemberEpoch,
    retentionMs: request.retentionTimeMs,
    groupIdNotFound: context.version >= 9,
    items,
  })
  return answer(request, context, (t, p) => {
    const place = places[t][p]
    return 'error' in place ? place.error : errors[place.at]
  })
}

function answer(request: Request, context: RequestContext, errorAt: (topic: number, partition: number) => number): ResponseOf<8> {
  return {
    throttleTimeMs: 0,
    topics: request.topics.map((topic, t) => ({
      ...(context.version >= 10 ? { topicId: topic.topicId } : { name: topic.name }),
      partitions: topic.partitions.map(({ partitionIndex }, p) => ({ partitionIndex, errorCode: errorAt(t, p) })),
    })),
  }
}

function fail(request: Request, error: number, context: RequestContext): ResponseOf<8> {
  return answer(request, context, () => error)
}
