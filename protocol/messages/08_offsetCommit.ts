/**
 * OffsetCommit: stores the offsets of a consumer group.
 *
 * v2-4 carry a retention time, later versions leave it to the broker. v6 leader epoch, v7 static members, v8 flexible, v9 usable by KIP-848
 * members (the generation is then the member epoch; STALE_MEMBER_EPOCH), v10 topic ids instead of names. Generation -1 with an empty member id
 * is a commit from outside the group protocol.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const offsetCommitRequest = message({
  name: 'OffsetCommitRequest',
  validVersions: '2-10',
  flexibleVersions: '8+',
  fields: {
    groupId: { type: 'string', versions: '0+' },
    generationIdOrMemberEpoch: { type: 'int32', versions: '1+', default: -1, ignorable: true },
    memberId: { type: 'string', versions: '1+', ignorable: true },
    groupInstanceId: { type: 'string', versions: '7+', nullable: '7+', default: null },
    retentionTimeMs: { type: 'int64', versions: '2-4', default: -1, ignorable: true },
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0-9', ignorable: true },
        topicId: { type: 'uuid', versions: '10+', ignorable: true },
        partitions: {
          type: 'array',
          versions: '0+',
          fields: {
            partitionIndex: { type: 'int32', versions: '0+' },
            committedOffset: { type: 'int64', versions: '0+' },
            committedLeaderEpoch: { type: 'int32', versions: '6+', default: -1, ignorable: true },
            committedMetadata: { type: 'string', versions: '0+', nullable: '0+' },
          },
        },
      },
    },
  },
})

export const offsetCommitResponse = message({
  name: 'OffsetCommitResponse',
  validVersions: '2-10',
  flexibleVersions: '8+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '3+', ignorable: true },
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0-9', ignorable: true },
        topicId: { type: 'uuid', versions: '10+', ignorable: true },
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
})

export type OffsetCommitRequest = MessageOf<typeof offsetCommitRequest>
export type OffsetCommitResponse = MessageInput<typeof offsetCommitResponse>

export const offsetCommit = api({ key: 8, name: 'OffsetCommit', request: offsetCommitRequest, response: offsetCommitResponse })
