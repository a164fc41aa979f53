/**
 * InitProducerId: a producer id and epoch for an idempotent or transactional producer.
 *
 * v2 flexible, v3 the producer may name the id and epoch it had, to go on after an epoch error (KIP-360), v4 PRODUCER_FENCED, v5
 * TRANSACTION_ABORTABLE, v6 two-phase commit (KIP-939): not final in Kafka 4.4, served when asked for but not advertised.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const initProducerIdRequest = message({
  name: 'InitProducerIdRequest',
  validVersions: '0-6',
  flexibleVersions: '2+',
  fields: {
    transactionalId: { type: 'string', versions: '0+', nullable: '0+' },
    transactionTimeoutMs: { type: 'int32', versions: '0+' },
    producerId: { type: 'int64', versions: '3+', default: -1 },
    producerEpoch: { type: 'int16', versions: '3+', default: -1 },
    enable2Pc: { type: 'bool', versions: '6+', default: false },
    keepPreparedTxn: { type: 'bool', versions: '6+', default: false },
  },
})

export const initProducerIdResponse = message({
  name: 'InitProducerIdResponse',
  validVersions: '0-6',
  flexibleVersions: '2+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+', ignorable: true },
    errorCode: { type: 'int16', versions: '0+' },
    producerId: { type: 'int64', versions: '0+', default: -1 },
    producerEpoch: { type: 'int16', versions: '0+' },
    ongoingTxnProducerId: { type: 'int64', versions: '6+', default: -1 },
    ongoingTxnProducerEpoch: { type: 'int16', versions: '6+', default: -1 },
  },
})

export type InitProducerIdRequest = MessageOf<typeof initProducerIdRequest>
export type InitProducerIdResponse = MessageInput<typeof initProducerIdResponse>

export const initProducerId = api({
  key: 22,
  name: 'InitProducerId',
  request: initProducerIdRequest,
  response: initProducerIdResponse,
  latestVersionUnstable: true,
})
