/**
 * AddOffsetsToTxn (25): names a group whose offsets a transaction is about to commit. Served v0–4.
 *
 * - Errors as AddPartitionsToTxn (24): INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED (before v2 INVALID_PRODUCER_EPOCH); an empty
 *   transactional id: INVALID_REQUEST.
 *
 * v1 unchanged · v2 PRODUCER_FENCED · v3 flexible · v4 TRANSACTION_ABORTABLE.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { fencedFor, proposeTransaction, servesTransactions } from './support/transactions.ts'

export default serve(25, { min: 0, max: 4 }, { handle, fail })

type Request = RequestOf<25>

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<25>> {
  const { transactionalId, producerId, producerEpoch, groupId } = request
  if (transactionalId === '') return fail(request, Errors.INVALID_REQUEST)
  if (groupId === '') return fail(request, Errors.INVALID_GROUP_ID)
  if (!servesTransactions(parts)) return fail(request, Errors.COORDINATOR_NOT_AVAILABLE)
  if (producerId < 0) return fail(request, Errors.INVALID_PRODUCER_ID_MAPPING)
  if (producerEpoch < 0) return fail(request, fencedFor(Errors.PRODUCER_FENCED, context.version >= 2))
  const own = { transactionalId, producerId, producerEpoch }
  const { error } = await proposeTransaction(parts, { kind: 'addToTransaction', ...own, partitions: [], groupId })
  return fail(request, fencedFor(error, context.version >= 2))
}

function fail(_request: Request, errorCode: number): ResponseOf<25> {
  return { throttleTimeMs: 0, errorCode }
}
