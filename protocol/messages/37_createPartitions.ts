/**
 * CreatePartitions: raises the partition count of topics.
 *
 * v2 flexible, v3 may answer THROTTLING_QUOTA_EXCEEDED (KIP-599).
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const createPartitionsRequest = message({
  name: 'CreatePartitionsRequest',
  validVersions: '0-3',
  flexibleVersions: '2+',
  fields: {
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0+' },
        count: { type: 'int32', versions: '0+' },
        assignments: {
          type: 'array',
          versions: '0+',
          nullable: '0+',
          fields: {
            brokerIds: { type: 'array', of: 'int32', versions: '0+' },
          },
        },
      },
    },
    timeoutMs: { type: 'int32', versions: '0+' },
    validateOnly: { type: 'bool', versions: '0+' },
  },
})

export const createPartitionsResponse = message({
  name: 'CreatePartitionsResponse',
  validVersions: '0-3',
  flexibleVersions: '2+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    results: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0+' },
        errorCode: { type: 'int16', versions: '0+' },
        errorMessage: { type: 'string', versions: '0+', nullable: '0+', default: null },
      },
    },
  },
})

export type CreatePartitionsRequest = MessageOf<typeof createPartitionsRequest>
export type CreatePartitionsResponse = MessageInput<typeof createPartitionsResponse>

export const createPartitions = api({
  key: 37,
  name: 'CreatePartitions',
  request: createPartitionsRequest,
  response: createPartitionsResponse,
})
