/**
 * DescribeProducers: the producers that a partition remembers, and where their open transactions begin (KIP-664).
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const describeProducersRequest = message({
  name: 'DescribeProducersRequest',
  validVersions: '0',
  flexibleVersions: '0+',
  fields: {
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0+' },
        partitionIndexes: { type: 'array', of: 'int32', versions: '0+' },
      },
    },
  },
})

export const describeProducersResponse = message({
  name: 'DescribeProducersResponse',
  validVersions: '0',
  flexibleVersions: '0+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0+' },
        partitions: {
          type: 'array',
          versions: '0+',
          fields: {
            partitionIndex: { type: 'int32', versions: '0+' },
            errorCode: { type: 'int16', versions: '0+' },
            errorMessage: { type: 'string', versions: '0+', nullable: '0+', default: null },
            activeProducers: {
              type: 'array',
              versions: '0+',
              fields: {
                producerId: { type: 'int64', versions: '0+' },
                producerEpoch: { type: 'int32', versions: '0+' },
                lastSequence: { type: 'int32', versions: '0+', default: -1 },
                lastTimestamp: { type: 'int64', versions: '0+', default: -1 },
                coordinatorEpoch: { type: 'int32', versions: '0+' },
                currentTxnStartOffset: { type: 'int64', versions: '0+', default: -1 },
              },
            },
          },
        },
      },
    },
  },
})

export type DescribeProducersRequest = MessageOf<typeof describeProducersRequest>
export type DescribeProducersResponse = MessageInput<typeof describeProducersResponse>

export const describeProducers = api({
  key: 61,
  name: 'DescribeProducers',
  request: describeProducersRequest,
  response: describeProducersResponse,
})
