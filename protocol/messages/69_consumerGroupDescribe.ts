/**
 * ConsumerGroupDescribe: epochs, members and assignments of consumer groups (KIP-848).
 *
 * v1 the type of each member (KIP-1099).
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const consumerGroupDescribeRequest = message({
  name: 'ConsumerGroupDescribeRequest',
  validVersions: '0-1',
  flexibleVersions: '0+',
  fields: {
    groupIds: { type: 'array', of: 'string', versions: '0+' },
    includeAuthorizedOperations: { type: 'bool', versions: '0+' },
  },
})

export const consumerGroupDescribeResponse = message({
  name: 'ConsumerGroupDescribeResponse',
  validVersions: '0-1',
  flexibleVersions: '0+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    groups: {
      type: 'array',
      versions: '0+',
      fields: {
        errorCode: { type: 'int16', versions: '0+' },
        errorMessage: { type: 'string', versions: '0+', nullable: '0+', default: null },
        groupId: { type: 'string', versions: '0+' },
        groupState: { type: 'string', versions: '0+' },
        groupEpoch: { type: 'int32', versions: '0+' },
        assignmentEpoch: { type: 'int32', versions: '0+' },
        assignorName: { type: 'string', versions: '0+' },
        members: {
          type: 'array',
          versions: '0+',
          fields: {
            memberId: { type: 'string', versions: '0+' },
            instanceId: { type: 'string', versions: '0+', nullable: '0+', default: null },
            rackId: { type: 'string', versions: '0+', nullable: '0+', default: null },
            memberEpoch: { type: 'int32', versions: '0+' },
            clientId: { type: 'string', versions: '0+' },
            clientHost: { type: 'string', versions: '0+' },
            subscribedTopicNames: { type: 'array', of: 'string', versions: '0+' },
            subscribedTopicRegex: { type: 'string', versions: '0+', nullable: '0+', default: null },
            assignment: {
              type: 'struct',
              versions: '0+',
              fields: {
                topicPartitions: {
                  type: 'array',
                  versions: '0+',
                  fields: {
                    topicId: { type: 'uuid', versions: '0+' },
                    topicName: { type: 'string', versions: '0+' },
                    partitions: { type: 'array', of: 'int32', versions: '0+' },
                  },
                },
              },
            },
            targetAssignment: {
              type: 'struct',
              versions: '0+',
              fields: {
                topicPartitions: {
                  type: 'array',
                  versions: '0+',
                  fields: {
                    topicId: { type: 'uuid', versions: '0+' },
                    topicName: { type: 'string', versions: '0+' },
                    partitions: { type: 'array', of: 'int32', versions: '0+' },
                  },
                },
              },
            },
            memberType: { type: 'int8', versions: '1+', default: -1, ignorable: true },
          },
        },
        authorizedOperations: { type: 'int32', versions: '0+', default: -2147483648 },
      },
    },
  },
})

export type ConsumerGroupDescribeRequest = MessageOf<typeof consumerGroupDescribeRequest>
export type ConsumerGroupDescribeResponse = MessageInput<typeof consumerGroupDescribeResponse>

export const consumerGroupDescribe = api({
  key: 69,
  name: 'ConsumerGroupDescribe',
  request: consumerGroupDescribeRequest,
  response: consumerGroupDescribeResponse,
})
