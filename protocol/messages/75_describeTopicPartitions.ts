/**
 * DescribeTopicPartitions: topics with their partitions, page by page (KIP-966).
 *
 * Only v0, flexible.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const describeTopicPartitionsRequest = message({
  name: 'DescribeTopicPartitionsRequest',
  validVersions: '0',
  flexibleVersions: '0+',
  fields: {
    topics: { type: 'array', versions: '0+', fields: { name: { type: 'string', versions: '0+' } } },
    responsePartitionLimit: { type: 'int32', versions: '0+', default: 2000 },
    cursor: {
      type: 'struct',
      versions: '0+',
      nullable: '0+',
      default: null,
      fields: { topicName: { type: 'string', versions: '0+' }, partitionIndex: { type: 'int32', versions: '0+' } },
    },
  },
})

export const describeTopicPartitionsResponse = message({
  name: 'DescribeTopicPartitionsResponse',
  validVersions: '0',
  flexibleVersions: '0+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+', ignorable: true },
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        errorCode: { type: 'int16', versions: '0+' },
        name: { type: 'string', versions: '0+', nullable: '0+' },
        topicId: { type: 'uuid', versions: '0+', ignorable: true },
        isInternal: { type: 'bool', versions: '0+', default: false, ignorable: true },
        partitions: {
          type: 'array',
          versions: '0+',
          fields: {
            errorCode: { type: 'int16', versions: '0+' },
            partitionIndex: { type: 'int32', versions: '0+' },
            leaderId: { type: 'int32', versions: '0+' },
            leaderEpoch: { type: 'int32', versions: '0+', default: -1, ignorable: true },
            replicaNodes: { type: 'array', of: 'int32', versions: '0+' },
            isrNodes: { type: 'array', of: 'int32', versions: '0+' },
            eligibleLeaderReplicas: { type: 'array', of: 'int32', versions: '0+', nullable: '0+', default: null },
            lastKnownElr: { type: 'array', of: 'int32', versions: '0+', nullable: '0+', default: null },
            offlineReplicas: { type: 'array', of: 'int32', versions: '0+', ignorable: true },
          },
        },
        topicAuthorizedOperations: { type: 'int32', versions: '0+', default: -2147483648 },
      },
    },
    nextCursor: {
      type: 'struct',
      versions: '0+',
      nullable: '0+',
      default: null,
      fields: { topicName: { type: 'string', versions: '0+' }, partitionIndex: { type: 'int32', versions: '0+' } },
    },
  },
})

export type DescribeTopicPartitionsRequest = MessageOf<typeof describeTopicPartitionsRequest>
export type DescribeTopicPartitionsResponse = MessageInput<typeof describeTopicPartitionsResponse>

export const describeTopicPartitions = api({
  key: 75,
  name: 'DescribeTopicPartitions',
  request: describeTopicPartitionsRequest,
  response: describeTopicPartitionsResponse,
})
