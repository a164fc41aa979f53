/**
 * InitProducerId (22): a producer id for an idempotent producer. Served v0–5; v6 is not final in Kafka 4.4 and not served.
 *
 * - Without a transactional id: a fresh id, never given before, with epoch 0; also when the producer names the id it had (v3).
 * - A transactional id: transactions are not served, TRANSACTIONAL_ID_AUTHORIZATION_FAILED (see 10_findCoordinator.ts); an empty
 *   one: INVALID_REQUEST.
 * - A producer id without an epoch, or the reverse: INVALID_REQUEST.
 * - Ids are taken from the metadata log in blocks.
 *
 * v2 flexible · v3 producer id and epoch (KIP-360) · v4 PRODUCER_FENCED · v5 TRANSACTION_ABORTABLE.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { hasCode } from '../base/errors.ts'

export default serve(22, { min: 0, max: 5 }, { handle, fail })

type Request = RequestOf<22>

async function handle(request: Request, _context: RequestContext, parts: ApiParts): Promise<ResponseOf<22>> {
  const { transactionalId, producerId, producerEpoch } = request
  if (transactionalId === '') return fail(request, Errors.INVALID_REQUEST)
  if (producerId === -1 ? producerEpoch !== -1 : producerEpoch === -1) return fail(request, Errors.INVALID_REQUEST)
  if (transactionalId !== null) return fail(request, Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
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
