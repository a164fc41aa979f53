/**
 * AddPartitionsToTxn: names partitions that a transaction is about to write to.
 *
 * v3 flexible, v4 many transactions at once, and asking whether a partition is in one (`verifyOnly`; brokers use it, and some clients), v5
 * TRANSACTION_ABORTABLE (KIP-890).
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const addPartitionsToTxnRequest = message({
  name: 'AddPartitionsToTxnRequest',
  validVersions: '0-5',
  flexibleVersions: '3+',
  fields: {
    transactions: {
      type: 'array',
      versions: '4+',
      fields: {
        transactionalId: { type: 'string', versions: '4+' },
        producerId: { type: 'int64', versions: '4+' },
        producerEpoch: { type: 'int16', versions: '4+' },
        verifyOnly: { type: 'bool', versions: '4+', default: false },
        topics: {
          type: 'array',
          versions: '4+',
          fields: {
            name: { type: 'string', versions: '0+' },
            partitions: { type: 'array', of: 'int32', versions: '0+' },
          },
        },
      },
    },
    v3AndBelowTransactionalId: { type: 'string', versions: '0-3' },
    v3AndBelowProducerId: { type: 'int64', versions: '0-3' },
    v3AndBelowProducerEpoch: { type: 'int16', versions: '0-3' },
    v3AndBelowTopics: {
      type: 'array',
      versions: '0-3',
      fields: {
        name: { type: 'string', versions: '0+' },
        partitions: { type: 'array', of: 'int32', versions: '0+' },
      },
    },
  },
})

export const addPartitionsToTxnResponse = message({
  name: 'AddPartitionsToTxnResponse',
  validVersions: '0-5',
  flexibleVersions: '3+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    errorCode: { type: 'int16', versions: '4+', ignorable: true },
    resultsByTransaction: {
      type: 'array',
      versions: '4+',
      fields: {
        transactionalId: { type: 'string', versions: '4+' },
        topicResults: {
          type: 'array',
          versions: '4+',
          fields: {
            name: { type: 'string', versions: '0+' },
            resultsByPartition: {
              type: 'array',
              versions: '0+',
              fields: {
                partitionIndex: { type: 'int32', versions: '0+' },
                partitionErrorCode: { type: 'int16', versions: '0+' },
              },
            },
          },
        },
      },
    },
    resultsByTopicV3AndBelow: {
      type: 'array',
      versions: '0-3',
      fields: {
        name: { type: 'string', versions: '0+' },
        resultsByPartition: {
          type: 'array',
          versions: '0+',
          fields: {
            partitionIndex: { type: 'int32', versions: '0+' },
            partitionErrorCode: { type: 'int16', versions: '0+' },
          },
        },
      },
    },
  },
})

export type AddPartitionsToTxnRequest = MessageOf<typeof addPartitionsToTxnRequest>
export type AddPartitionsToTxnResponse = MessageInput<typeof addPartitionsToTxnResponse>

export const addPartitionsToTxn = api({
  key: 24,
  name: 'AddPartitionsToTxn',
  request: addPartitionsToTxnRequest,
  response: addPartitionsToTxnResponse,
})
