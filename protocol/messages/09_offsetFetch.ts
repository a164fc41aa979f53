/**
 * OffsetFetch: the stored offsets of consumer groups.
 *
 * v1-7 ask for one group, and from v2 on null topics ask for all of its offsets; v8 replaces the fields by an array of groups. v5 leader epoch,
 * v6 flexible, v7 require stable (UNSTABLE_OFFSET_COMMIT while a transaction is open), v9 member id and epoch, v10 topic ids instead of names.
 * A partition without a stored offset is answered with offset -1 and no error.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const offsetFetchRequest = message({
  name: 'OffsetFetchRequest',
  validVersions: '1-10',
  flexibleVersions: '6+',
  fields: {
    groupId: { type: 'string', versions: '0-7' },
    topics: {
      type: 'array',
      versions: '0-7',
      nullable: '2-7',
      fields: {
        name: { type: 'string', versions: '0-7' },
        partitionIndexes: { type: 'array', of: 'int32', versions: '0-7' },
      },
    },
    groups: {
      type: 'array',
      versions: '8+',
      fields: {
        groupId: { type: 'string', versions: '8+' },
        memberId: { type: 'string', versions: '9+', nullable: '9+', default: null, ignorable: true },
        memberEpoch: { type: 'int32', versions: '9+', default: -1, ignorable: true },
        topics: {
          type: 'array',
          versions: '8+',
          nullable: '8+',
          fields: {
            name: { type: 'string', versions: '8-9', ignorable: true },
            topicId: { type: 'uuid', versions: '10+', ignorable: true },
            partitionIndexes: { type: 'array', of: 'int32', versions: '8+' },
          },
        },
      },
    },
    requireStable: { type: 'bool', versions: '7+', default: false },
  },
})

export const offsetFetchResponse = message({
  name: 'OffsetFetchResponse',
  validVersions: '1-10',
  flexibleVersions: '6+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '3+', ignorable: true },
    topics: {
      type: 'array',
      versions: '0-7',
      fields: {
        name: { type: 'string', versions: '0-7' },
        partitions: {
          type: 'array',
          versions: '0-7',
          fields: {
            partitionIndex: { type: 'int32', versions: '0-7' },
            committedOffset: { type: 'int64', versions: '0-7' },
            committedLeaderEpoch: { type: 'int32', versions: '5-7', default: -1, ignorable: true },
            metadata: { type: 'string', versions: '0-7', nullable: '0-7' },
            errorCode: { type: 'int16', versions: '0-7' },
          },
        },
      },
    },
    errorCode: { type: 'int16', versions: '2-7', default: 0, ignorable: true },
    groups: {
      type: 'array',
      versions: '8+',
      fields: {
        groupId: { type: 'string', versions: '8+' },
        topics: {
          type: 'array',
          versions: '8+',
          fields: {
            name: { type: 'string', versions: '8-9', ignorable: true },
            topicId: { type: 'uuid', versions: '10+', ignorable: true },
            partitions: {
              type: 'array',
              versions: '8+',
              fields: {
                partitionIndex: { type: 'int32', versions: '8+' },
                committedOffset: { type: 'int64', versions: '8+' },
                committedLeaderEpoch: { type: 'int32', versions: '8+', default: -1, ignorable: true },
                metadata: { type: 'string', versions: '8+', nullable: '8+' },
                errorCode: { type: 'int16', versions: '8+' },
              },
            },
          },
        },
        errorCode: { type: 'int16', versions: '8+', default: 0 },
      },
    },
  },
})

export type OffsetFetchRequest = MessageOf<typeof offsetFetchRequest>
export type OffsetFetchResponse = MessageInput<typeof offsetFetchResponse>

export const offsetFetch = api({ key: 9, name: 'OffsetFetch', request: offsetFetchRequest, response: offsetFetchResponse })
