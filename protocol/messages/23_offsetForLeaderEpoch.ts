/**
 * OffsetForLeaderEpoch: where a leader epoch ends, by which consumers find truncation (KIP-320).
 *
 * v2 is the first served: the current leader epoch fences. v3 a replica id (-2 for a reader that may look past the high watermark), v4 flexible.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const offsetForLeaderEpochRequest = message({
  name: 'OffsetForLeaderEpochRequest',
  validVersions: '2-4',
  flexibleVersions: '4+',
  fields: {
    replicaId: { type: 'int32', versions: '3+', default: -2, ignorable: true },
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        topic: { type: 'string', versions: '0+' },
        partitions: {
          type: 'array',
          versions: '0+',
          fields: {
            partition: { type: 'int32', versions: '0+' },
            currentLeaderEpoch: { type: 'int32', versions: '2+', default: -1, ignorable: true },
            leaderEpoch: { type: 'int32', versions: '0+' },
          },
        },
      },
    },
  },
})

export const offsetForLeaderEpochResponse = message({
  name: 'OffsetForLeaderEpochResponse',
  validVersions: '2-4',
  flexibleVersions: '4+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '2+', ignorable: true },
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        topic: { type: 'string', versions: '0+' },
        partitions: {
          type: 'array',
          versions: '0+',
          fields: {
            errorCode: { type: 'int16', versions: '0+' },
            partition: { type: 'int32', versions: '0+' },
            leaderEpoch: { type: 'int32', versions: '1+', default: -1, ignorable: true },
            endOffset: { type: 'int64', versions: '0+', default: -1 },
          },
        },
      },
    },
  },
})

export type OffsetForLeaderEpochRequest = MessageOf<typeof offsetForLeaderEpochRequest>
export type OffsetForLeaderEpochResponse = MessageInput<typeof offsetForLeaderEpochResponse>

export const offsetForLeaderEpoch = api({
  key: 23,
  name: 'OffsetForLeaderEpoch',
  request: offsetForLeaderEpochRequest,
  response: offsetForLeaderEpochResponse,
})
