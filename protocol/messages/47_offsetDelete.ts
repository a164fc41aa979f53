/**
 * OffsetDelete: deletes a group's offsets of topics it is not subscribed to (KIP-496).
 *
 * Only v0, never flexible.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const offsetDeleteRequest = message({
  name: 'OffsetDeleteRequest',
  validVersions: '0',
  flexibleVersions: 'none',
  fields: {
    groupId: { type: 'string', versions: '0+' },
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
          },
        },
      },
    },
  },
})

export const offsetDeleteResponse = message({
  name: 'OffsetDeleteResponse',
  validVersions: '0',
  flexibleVersions: 'none',
  fields: {
    errorCode: { type: 'int16', versions: '0+' },
    throttleTimeMs: { type: 'int32', versions: '0+', ignorable: true },
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
})

export type OffsetDeleteRequest = MessageOf<typeof offsetDeleteRequest>
export type OffsetDeleteResponse = MessageInput<typeof offsetDeleteResponse>

export const offsetDelete = api({ key: 47, name: 'OffsetDelete', request: offsetDeleteRequest, response: offsetDeleteResponse })
