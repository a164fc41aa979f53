/**
 * InitProducerId (22): a producer id and epoch. Served v0–5; v6 is not final in Kafka 4.4 and not served.
 *
 * - Without a transactional id: a fresh id, never given before, with epoch 0; also when the producer names the id it had (v3).
 *   Ids are taken from the metadata log in blocks.
 * - With one: what runs is aborted and its producer fenced, and the next epoch given, in one step, where Kafka answers
 *   CONCURRENT_TRANSACTIONS in between. A new producer id once the epochs have run out.
 * - An id and epoch that the producer had (v3) must be the current ones, else PRODUCER_FENCED (before v4 INVALID_PRODUCER_EPOCH).
 * - A timeout of 0 or less, or over transaction.max.timeout.ms: INVALID_TRANSACTION_TIMEOUT.
 * - An empty transactional id, a producer id without an epoch, or the reverse: INVALID_REQUEST.
 *
 * v2 flexible · v3 producer id and epoch (KIP-360) · v4 PRODUCER_FENCED · v5 TRANSACTION_ABORTABLE.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { hasCode } from '../base/errors.ts'
import { fencedFor, proposeTransaction, servesTransactions } from './support/transactions.ts'

export default serve(22, { min: 0, max: 5 }, { handle, fail })

type Request = RequestOf<22>

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<22>> {
  const { transactionalId, producerId, producerEpoch, transactionTimeoutMs: timeoutMs } = request
  if (transactionalId === '') return fail(request, Errors.INVALID_REQUEST)
  if (producerId === -1 ? producerEpoch !== -1 : producerEpoch === -1) return fail(request, Errors.INVALID_REQUEST)
  if (transactionalId === null) return idempotent(request, parts)
  if (!servesTransactions(parts)) return fail(request, Errors.COORDINATOR_NOT_AVAILABLE)
  if (timeoutMs <= 0 || timeoutMs > parts.brokerConfigs.number('transaction.max.timeout.ms'))
    return fail(request, Errors.INVALID_TRANSACTION_TIMEOUT)
  if (producerId < -1 || producerEpoch < -1) return fail(request, fencedFor(Errors.PRODUCER_FENCED, context.version >= 4))
  const result = await proposeTransaction(parts, { kind: 'initTransaction', transactionalId, timeoutMs, producerId, producerEpoch })
  if (result.error !== Errors.NONE) return fail(request, fencedFor(result.error, context.version >= 4))
  return { throttleTimeMs: 0, errorCode: Errors.NONE, producerId: result.producerId, producerEpoch: result.producerEpoch }
}

async function idempotent(request: Request, parts: ApiParts): Promise<ResponseOf<22>> {
  try {
    return { throttleTimeMs: 0, errorCode: Errors.NONE, producerId: await parts.producerIds.next(), producerEpoch: 0 }
  } catch (failure) {
    if (hasCode(failure, 'FENCED') || hasCode(failure, 'CLOSED')) return fail(request, Errors.NOT_COORDINATOR)
    parts.logger.warn({ err: failure }, 'no producer id could be taken from the metadata log')
    return fail(request, Errors.COORDINATOR_NOT_AVAILABLE)
  }
}

function fail(_request: Request, error: number): ResponseOf<22> {
  return { errorCode: error, producerId: -1, producerEpoch: -1 }
}
