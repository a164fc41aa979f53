/**
 * EndTxn: commits or aborts a transaction.
 *
 * v2 PRODUCER_FENCED, v3 flexible, v4 TRANSACTION_ABORTABLE, v5 the epoch rises with every transaction and the answer names the next producer id
 * and epoch (KIP-890).
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const endTxnRequest = message({
  name: 'EndTxnRequest',
  validVersions: '0-5',
  flexibleVersions: '3+',
  fields: {
    transactionalId: { type: 'string', versions: '0+' },
    producerId: { type: 'int64', versions: '0+' },
    producerEpoch: { type: 'int16', versions: '0+' },
    committed: { type: 'bool', versions: '0+' },
  },
})

export const endTxnResponse = message({
  name: 'EndTxnResponse',
  validVersions: '0-5',
  flexibleVersions: '3+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    errorCode: { type: 'int16', versions: '0+' },
    producerId: { type: 'int64', versions: '5+', default: -1, ignorable: true },
    producerEpoch: { type: 'int16', versions: '5+', default: -1, ignorable: true },
  },
})

export type EndTxnRequest = MessageOf<typeof endTxnRequest>
export type EndTxnResponse = MessageInput<typeof endTxnResponse>

export const endTxn = api({ key: 26, name: 'EndTxn', request: endTxnRequest, response: endTxnResponse })
