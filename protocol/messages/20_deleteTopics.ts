/**
 * DeleteTopics: deletes topics by name, or from v6 on by name or id.
 *
 * v4 flexible, v5 an error message and THROTTLING_QUOTA_EXCEEDED, v6 replaces the names by a list of structs in which either is given.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const deleteTopicsRequest = message({
  name: 'DeleteTopicsRequest',
  validVersions: '1-6',
  flexibleVersions: '4+',
  fields: {
    topics: {
      type: 'array',
      versions: '6+',
      fields: {
        name: { type: 'string', versions: '6+', nullable: '6+', default: null },
        topicId: { type: 'uuid', versions: '6+' },
      },
    },
    topicNames: { type: 'array', of: 'string', versions: '0-5', ignorable: true },
    timeoutMs: { type: 'int32', versions: '0+' },
  },
})

export const deleteTopicsResponse = message({
  name: 'DeleteTopicsResponse',
  validVersions: '1-6',
  flexibleVersions: '4+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '1+', ignorable: true },
    responses: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0+', nullable: '6+' },
        topicId: { type: 'uuid', versions: '6+', ignorable: true },
        errorCode: { type: 'int16', versions: '0+' },
        errorMessage: { type: 'string', versions: '5+', nullable: '5+', default: null, ignorable: true },
      },
    },
  },
})

export type DeleteTopicsRequest = MessageOf<typeof deleteTopicsRequest>
export type DeleteTopicsResponse = MessageInput<typeof deleteTopicsResponse>

export const deleteTopics = api({ key: 20, name: 'DeleteTopics', request: deleteTopicsRequest, response: deleteTopicsResponse })
