/**
 * DescribeTransactions: state of transactional ids (KIP-664).
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const describeTransactionsRequest = message({
  name: 'DescribeTransactionsRequest',
  validVersions: '0',
  flexibleVersions: '0+',
  fields: {
    transactionalIds: { type: 'array', of: 'string', versions: '0+' },
  },
})

export const describeTransactionsResponse = message({
  name: 'DescribeTransactionsResponse',
  validVersions: '0',
  flexibleVersions: '0+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    transactionStates: {
      type: 'array',
      versions: '0+',
      fields: {
        errorCode: { type: 'int16', versions: '0+' },
        transactionalId: { type: 'string', versions: '0+' },
        transactionState: { type: 'string', versions: '0+' },
        transactionTimeoutMs: { type: 'int32', versions: '0+' },
        transactionStartTimeMs: { type: 'int64', versions: '0+' },
        producerId: { type: 'int64', versions: '0+' },
        producerEpoch: { type: 'int16', versions: '0+' },
        topics: {
          type: 'array',
          versions: '0+',
          fields: {
            topic: { type: 'string', versions: '0+' },
            partitions: { type: 'array', of: 'int32', versions: '0+' },
          },
        },
      },
    },
  },
})

export type DescribeTransactionsRequest = MessageOf<typeof describeTransactionsRequest>
export type DescribeTransactionsResponse = MessageInput<typeof describeTransactionsResponse>

export const describeTransactions = api({
  key: 65,
  name: 'DescribeTransactions',
  request: describeTransactionsRequest,
  response: describeTransactionsResponse,
})
