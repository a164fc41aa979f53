/**
 * ListOffsets: the offset for a timestamp, or a special one (-1 latest, -2 earliest, -3 max timestamp, -4 and -5 for tiered storage, -6).
 *
 * v2 isolation level: read committed gives the last stable offset for latest. v4 leader epochs both ways, v6 flexible, v7 max timestamp
 * (KIP-734), v8 local start (KIP-405), v9 last tiered (KIP-1005), v10 a timeout for remote look-ups (KIP-1075), v11 earliest pending upload.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const listOffsetsRequest = message({
  name: 'ListOffsetsRequest',
  validVersions: '1-11',
  flexibleVersions: '6+',
  fields: {
    replicaId: { type: 'int32', versions: '0+' },
    isolationLevel: { type: 'int8', versions: '2+' },
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
            currentLeaderEpoch: { type: 'int32', versions: '4+', default: -1, ignorable: true },
            timestamp: { type: 'int64', versions: '0+' },
          },
        },
      },
    },
    timeoutMs: { type: 'int32', versions: '10+', ignorable: true },
  },
})

export const listOffsetsResponse = message({
  name: 'ListOffsetsResponse',
  validVersions: '1-11',
  flexibleVersions: '6+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '2+', ignorable: true },
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
            timestamp: { type: 'int64', versions: '1+', default: -1 },
            offset: { type: 'int64', versions: '1+', default: -1 },
            leaderEpoch: { type: 'int32', versions: '4+', default: -1 },
          },
        },
      },
    },
  },
})

export type ListOffsetsRequest = MessageOf<typeof listOffsetsRequest>
export type ListOffsetsResponse = MessageInput<typeof listOffsetsResponse>

export const listOffsets = api({ key: 2, name: 'ListOffsets', request: listOffsetsRequest, response: listOffsetsResponse })
