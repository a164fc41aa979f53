/**
 * ListTransactions: transactional ids by state and producer id (KIP-664); v1 by duration (KIP-994), v2 by a regular expression.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const listTransactionsRequest = message({
  name: 'ListTransactionsRequest',
  validVersions: '0-2',
  flexibleVersions: '0+',
  fields: {
    stateFilters: { type: 'array', of: 'string', versions: '0+' },
    producerIdFilters: { type: 'array', of: 'int64', versions: '0+' },
    durationFilter: { type: 'int64', versions: '1+', default: -1 },
    transactionalIdPattern: { type: 'string', versions: '2+', nullable: '2+', default: null },
  },
})

export const listTransactionsResponse = message({
  name: 'ListTransactionsResponse',
  validVersions: '0-2',
  flexibleVersions: '0+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    errorCode: { type: 'int16', versions: '0+' },
    unknownStateFilters: { type: 'array', of: 'string', versions: '0+' },
    transactionStates: {
      type: 'array',
      versions: '0+',
      fields: {
        transactionalId: { type: 'string', versions: '0+' },
        producerId: { type: 'int64', versions: '0+' },
        transactionState: { type: 'string', versions: '0+' },
      },
    },
  },
})

export type ListTransactionsRequest = MessageOf<typeof listTransactionsRequest>
export type ListTransactionsResponse = MessageInput<typeof listTransactionsResponse>

export const listTransactions = api({
  key: 66,
  name: 'ListTransactions',
  request: listTransactionsRequest,
  response: listTransactionsResponse,
})
