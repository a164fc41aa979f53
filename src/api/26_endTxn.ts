/**
 * EndTxn (26): commits or aborts a transaction. Served v0–5.
 *
 * - One entry decides every partition and the group offsets: once it is answered all of it is seen, or none.
 * - Up to v4 the epoch stays. The same result again: no error; the other one, or nothing running: INVALID_TXN_STATE.
 * - From v5 on (KIP-890) every transaction has its own epoch: the answer names the producer id and epoch of the next one, and a
 *   repeated call is known by the epoch before. An abort of nothing is fine and raises the epoch.
 * - Errors as AddPartitionsToTxn (24): INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED (before v2 INVALID_PRODUCER_EPOCH).
 *
 * v1 unchanged · v2 PRODUCER_FENCED · v3 flexible · v4 TRANSACTION_ABORTABLE · v5 producer id and epoch.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { fencedFor, proposeTransaction, servesTransactions } from './support/transactions.ts'

export default serve(26, { min: 0, max: 5 }, { handle, fail })

type Request = RequestOf<26>

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<26>> {
  const { transactionalId, producerId, producerEpoch, committed } = request
  if (transactionalId === '') return fail(request, Errors.INVALID_REQUEST)
  if (!servesTransactions(parts)) return fail(request, Errors.COORDINATOR_NOT_AVAILABLE)
  if (producerId < 0) return fail(request, Errors.INVALID_PRODUCER_ID_MAPPING)
  if (producerEpoch < 0) return fail(request, fencedFor(Errors.PRODUCER_FENCED, context.version >= 2))
  const own = { transactionalId, producerId, producerEpoch }
  const raisesEpoch = context.version >= 5
  const result = await proposeTransaction(parts, { kind: 'endTransaction', ...own, isCommit: committed, raisesEpoch })
  if (result.error !== Errors.NONE) return fail(request, fencedFor(result.error, context.version >= 2))
  return { throttleTimeMs: 0, errorCode: Errors.NONE, producerId: result.producerId, producerEpoch: result.producerEpoch }
}

function fail(_request: Request, errorCode: number): ResponseOf<26> {
  return { throttleTimeMs: 0, errorCode }
}
