/**
 * ConsumerGroupHeartbeat: a member of a consumer group joins, reports, is told its assignment, and leaves (KIP-848).
 *
 * v1 subscription by pattern, member ids made by the client (KIP-1082). Null, and -1 for the timeout, mean unchanged.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const consumerGroupHeartbeatRequest = message({
  name: 'ConsumerGroupHeartbeatRequest',
  validVersions: '0-1',
  flexibleVersions: '0+',
  fields: {
    groupId: { type: 'string', versions: '0+' },
    memberId: { type: 'string', versions: '0+' },
    memberEpoch: { type: 'int32', versions: '0+' },
    instanceId: { type: 'string', versions: '0+', nullable: '0+', default: null },
    rackId: { type: 'string', versions: '0+', nullable: '0+', default: null },
    rebalanceTimeoutMs: { type: 'int32', versions: '0+', default: -1 },
    subscribedTopicNames: { type: 'array', of: 'string', versions: '0+', nullable: '0+', default: null },
    subscribedTopicRegex: { type: 'string', versions: '1+', nullable: '1+', default: null },
    serverAssignor: { type: 'string', versions: '0+', nullable: '0+', default: null },
    topicPartitions: {
      type: 'array',
      versions: '0+',
      nullable: '0+',
      default: null,
      fields: { topicId: { type: 'uuid', versions: '0+' }, partitions: { type: 'array', of: 'int32', versions: '0+' } },
    },
  },
})

export const consumerGroupHeartbeatResponse = message({
  name: 'ConsumerGroupHeartbeatResponse',
  validVersions: '0-1',
  flexibleVersions: '0+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    errorCode: { type: 'int16', versions: '0+' },
    errorMessage: { type: 'string', versions: '0+', nullable: '0+', default: null },
    memberId: { type: 'string', versions: '0+', nullable: '0+', default: null },
    memberEpoch: { type: 'int32', versions: '0+' },
    heartbeatIntervalMs: { type: 'int32', versions: '0+' },
    assignment: {
      type: 'struct',
      versions: '0+',
      nullable: '0+',
      default: null,
      fields: {
        topicPartitions: {
          type: 'array',
          versions: '0+',
          fields: { topicId: { type: 'uuid', versions: '0+' }, partitions: { type: 'array', of: 'int32', versions: '0+' } },
        },
      },
    },
  },
})

export type ConsumerGroupHeartbeatRequest = MessageOf<typeof consumerGroupHeartbeatRequest>
export type ConsumerGroupHeartbeatResponse = MessageInput<typeof consumerGroupHeartbeatResponse>

export const consumerGroupHeartbeat = api({
  key: 68,
  name: 'ConsumerGroupHeartbeat',
  request: consumerGroupHeartbeatRequest,
  response: consumerGroupHeartbeatResponse,
})
