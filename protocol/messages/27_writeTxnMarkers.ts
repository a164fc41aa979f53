/**
 * WriteTxnMarkers: ends transactions on partitions, behind the coordinator: what the abort tool sends (KIP-664).
 *
 * v1 flexible, v2 the transaction version of a marker.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const writeTxnMarkersRequest = message({
  name: 'WriteTxnMarkersRequest',
  validVersions: '1-2',
  flexibleVersions: '1+',
  fields: {
    markers: {
      type: 'array',
      versions: '0+',
      fields: {
        producerId: { type: 'int64', versions: '0+' },
        producerEpoch: { type: 'int16', versions: '0+' },
        transactionResult: { type: 'bool', versions: '0+' },
        topics: {
          type: 'array',
          versions: '0+',
          fields: {
            name: { type: 'string', versions: '0+' },
            partitionIndexes: { type: 'array', of: 'int32', versions: '0+' },
          },
        },
        coordinatorEpoch: { type: 'int32', versions: '0+' },
        transactionVersion: { type: 'int8', versions: '2+', default: 0, ignorable: true },
      },
    },
  },
})

export const writeTxnMarkersResponse = message({
  name: 'WriteTxnMarkersResponse',
  validVersions: '1-2',
  flexibleVersions: '1+',
  fields: {
    markers: {
      type: 'array',
      versions: '0+',
      fields: {
        producerId: { type: 'int64', versions: '0+' },
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
              },
            },
          },
        },
      },
    },
  },
})

export type WriteTxnMarkersRequest = MessageOf<typeof writeTxnMarkersRequest>
export type WriteTxnMarkersResponse = MessageInput<typeof writeTxnMarkersResponse>

export const writeTxnMarkers = api({ key: 27, name: 'WriteTxnMarkers', request: writeTxnMarkersRequest, response: writeTxnMarkersResponse })
