/**
 * TxnOffsetCommit (28): offsets of a group that become valid when their transaction commits. Served v0–6.
 *
 * - The coordinator of the group checks the member (v3, KIP-447) as for OffsetCommit: UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION,
 *   FENCED_INSTANCE_ID, REBALANCE_IN_PROGRESS; without one, whatever members the group has.
 * - The transaction must be the producer's: INVALID_PRODUCER_ID_MAPPING, INVALID_PRODUCER_EPOCH; and have the group in it, else
 *   TRANSACTION_ABORTABLE (before v4 INVALID_TXN_STATE). From v5 on the commit itself adds the group (KIP-890).
 * - Metadata longer than offset.metadata.max.bytes: OFFSET_METADATA_TOO_LARGE for the partition; unknown topic or partition: 3,
 *   unknown id (v6): 100.
 * - Nothing is seen of the offsets before EndTxn; meanwhile OffsetFetch with require_stable answers UNSTABLE_OFFSET_COMMIT.
 *
 * v1 unchanged · v2 leader epoch · v3 flexible, member · v4 TRANSACTION_ABORTABLE · v5 adds the group · v6 topic ids,
 * GROUP_ID_NOT_FOUND instead of ILLEGAL_GENERATION (KIP-1319).
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { commitItems } from './support/commitItems.ts'
import { servesTransactions } from './support/transactions.ts'

export default serve(28, { min: 0, max: 6 }, { handle, fail })

type Request = RequestOf<28>

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<28>> {
  const { transactionalId, producerId, producerEpoch } = request
  if (transactionalId === '') return fail(request, Errors.INVALID_REQUEST, context)
  if (!servesTransactions(parts)) return fail(request, Errors.COORDINATOR_NOT_AVAILABLE, context)
  if (producerId < 0) return fail(request, Errors.INVALID_PRODUCER_ID_MAPPING, context)
  if (producerEpoch < 0) return fail(request, Errors.INVALID_PRODUCER_EPOCH, context)
  const { items, places } = commitItems(parts.metadata.state, request.topics, context.version >= 6)
  const errors = await parts.groups.commitTransactionOffsets({
    groupId: request.groupId,
    memberId: request.memberId,
    instanceId: request.groupInstanceId,
    generation: request.generationIdOrMemberEpoch,
    retentionMs: -1,
    groupIdNotFound: context.version >= 6,
    items,
    transaction: { transactionalId, producerId, producerEpoch, addGroup: context.version >= 5 },
  })
  return answer(request, context, (t, p) => {
    const place = places[t][p]
    return 'error' in place ? place.error : errorFor(errors[place.at], context.version)
  })
}

/** Codes that an older client does not know, as it knows them. */
function errorFor(error: number, version: number): number {
  if (error === Errors.PRODUCER_FENCED) return Errors.INVALID_PRODUCER_EPOCH
  return error === Errors.TRANSACTION_ABORTABLE && version < 4 ? Errors.INVALID_TXN_STATE : error
}

function answer(request: Request, context: RequestContext, errorAt: (topic: number, partition: number) => number): ResponseOf<28> {
  return {
    throttleTimeMs: 0,
    topics: request.topics.map((topic, t) => ({
      ...(context.version >= 6 ? { topicId: topic.topicId } : { name: topic.name }),
      partitions: topic.partitions.map(({ partitionIndex }, p) => ({ partitionIndex, errorCode: errorAt(t, p) })),
    })),
  }
}

function fail(request: Request, error: number, context: RequestContext): ResponseOf<28> {
  return answer(request, context, () => error)
}
