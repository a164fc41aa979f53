/**
 * DescribeQuorum: voters and observers of the metadata log (KIP-595).
 *
 * v0 is flexible already; v1 times of the last fetches (KIP-836), v2 addresses and directory ids (KIP-853).
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const describeQuorumRequest = message({
  name: 'DescribeQuorumRequest',
  validVersions: '0-2',
  flexibleVersions: '0+',
  fields: {
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        topicName: { type: 'string', versions: '0+' },
        partitions: { type: 'array', versions: '0+', fields: { partitionIndex: { type: 'int32', versions: '0+' } } },
      },
    },
  },
})

export const describeQuorumResponse = message({
  name: 'DescribeQuorumResponse',
  validVersions: '0-2',
  flexibleVersions: '0+',
  fields: {
    errorCode: { type: 'int16', versions: '0+' },
    errorMessage: { type: 'string', versions: '2+', nullable: '2+', ignorable: true },
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        topicName: { type: 'string', versions: '0+' },
        partitions: {
          type: 'array',
          versions: '0+',
          fields: {
            partitionIndex: { type: 'int32', versions: '0+' },
            errorCode: { type: 'int16', versions: '0+' },
            errorMessage: { type: 'string', versions: '2+', nullable: '2+', ignorable: true },
            leaderId: { type: 'int32', versions: '0+' },
            leaderEpoch: { type: 'int32', versions: '0+' },
            highWatermark: { type: 'int64', versions: '0+' },
            currentVoters: {
              type: 'array',
              versions: '0+',
              fields: {
                replicaId: { type: 'int32', versions: '0+' },
                replicaDirectoryId: { type: 'uuid', versions: '2+' },
                logEndOffset: { type: 'int64', versions: '0+' },
                lastFetchTimestamp: { type: 'int64', versions: '1+', default: -1, ignorable: true },
                lastCaughtUpTimestamp: { type: 'int64', versions: '1+', default: -1, ignorable: true },
              },
            },
            observers: {
              type: 'array',
              versions: '0+',
              fields: {
                replicaId: { type: 'int32', versions: '0+' },
                replicaDirectoryId: { type: 'uuid', versions: '2+' },
                logEndOffset: { type: 'int64', versions: '0+' },
                lastFetchTimestamp: { type: 'int64', versions: '1+', default: -1, ignorable: true },
                lastCaughtUpTimestamp: { type: 'int64', versions: '1+', default: -1, ignorable: true },
              },
            },
          },
        },
      },
    },
    nodes: {
      type: 'array',
      versions: '2+',
      fields: {
        nodeId: { type: 'int32', versions: '2+' },
        listeners: {
          type: 'array',
          versions: '2+',
          fields: {
            name: { type: 'string', versions: '2+' },
            host: { type: 'string', versions: '2+' },
            port: { type: 'uint16', versions: '2+' },
          },
        },
      },
    },
  },
})

export type DescribeQuorumRequest = MessageOf<typeof describeQuorumRequest>
export type DescribeQuorumResponse = MessageInput<typeof describeQuorumResponse>

export const describeQuorum = api({ key: 55, name: 'DescribeQuorum', request: describeQuorumRequest, response: describeQuorumResponse })
