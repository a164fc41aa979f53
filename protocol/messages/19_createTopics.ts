/**
 * CreateTopics: new topics with counts or explicit assignments, and configs.
 *
 * v4 allows -1 for partitions and replication factor (KIP-464), v5 is flexible and answers with the configs that hold (KIP-525), v6 may answer
 * THROTTLING_QUOTA_EXCEEDED, v7 answers with the topic id.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const createTopicsRequest = message({
  name: 'CreateTopicsRequest',
  validVersions: '2-7',
  flexibleVersions: '5+',
  fields: {
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0+' },
        numPartitions: { type: 'int32', versions: '0+' },
        replicationFactor: { type: 'int16', versions: '0+' },
        assignments: {
          type: 'array',
          versions: '0+',
          fields: {
            partitionIndex: { type: 'int32', versions: '0+' },
            brokerIds: { type: 'array', of: 'int32', versions: '0+' },
          },
        },
        configs: {
          type: 'array',
          versions: '0+',
          fields: {
            name: { type: 'string', versions: '0+' },
            value: { type: 'string', versions: '0+', nullable: '0+' },
          },
        },
      },
    },
    timeoutMs: { type: 'int32', versions: '0+', default: 60000 },
    validateOnly: { type: 'bool', versions: '1+', default: false },
  },
})

export const createTopicsResponse = message({
  name: 'CreateTopicsResponse',
  validVersions: '2-7',
  flexibleVersions: '5+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '2+', ignorable: true },
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0+' },
        topicId: { type: 'uuid', versions: '7+', ignorable: true },
        errorCode: { type: 'int16', versions: '0+' },
        errorMessage: { type: 'string', versions: '1+', nullable: '0+', ignorable: true },
        topicConfigErrorCode: { type: 'int16', versions: '5+', tag: 0, ignorable: true },
        numPartitions: { type: 'int32', versions: '5+', default: -1, ignorable: true },
        replicationFactor: { type: 'int16', versions: '5+', default: -1, ignorable: true },
        configs: {
          type: 'array',
          versions: '5+',
          nullable: '5+',
          ignorable: true,
          fields: {
            name: { type: 'string', versions: '5+' },
            value: { type: 'string', versions: '5+', nullable: '5+' },
            readOnly: { type: 'bool', versions: '5+' },
            configSource: { type: 'int8', versions: '5+', default: -1, ignorable: true },
            isSensitive: { type: 'bool', versions: '5+' },
          },
        },
      },
    },
  },
})

export type CreateTopicsRequest = MessageOf<typeof createTopicsRequest>
export type CreateTopicsResponse = MessageInput<typeof createTopicsResponse>

export const createTopics = api({ key: 19, name: 'CreateTopics', request: createTopicsRequest, response: createTopicsResponse })
