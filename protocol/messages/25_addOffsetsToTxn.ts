/**
 * AddOffsetsToTxn: names a consumer group whose offsets a transaction is about to commit.
 *
 * v2 PRODUCER_FENCED, v3 flexible, v4 TRANSACTION_ABORTABLE.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const addOffsetsToTxnRequest = message({
  name: 'AddOffsetsToTxnRequest',
  validVersions: '0-4',
  flexibleVersions: '3+',
  fields: {
    transactionalId: { type: 'string', versions: '0+' },
    producerId: { type: 'int64', versions: '0+' },
    producerEpoch: { type: 'int16', versions: '0+' },
    groupId: { type: 'string', versions: '0+' },
  },
})

export const addOffsetsToTxnResponse = message({
  name: 'AddOffsetsToTxnResponse',
  validVersions: '0-4',
  flexibleVersions: '3+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    errorCode: { type: 'int16', versions: '0+' },
  },
})

export type AddOffsetsToTxnRequest = MessageOf<typeof addOffsetsToTxnRequest>
export type AddOffsetsToTxnResponse = MessageInput<typeof addOffsetsToTxnResponse>

export const addOffsetsToTxn = api({ key: 25, name: 'AddOffsetsToTxn', request: addOffsetsToTxnRequest, response: addOffsetsToTxnResponse })
