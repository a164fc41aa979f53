/**
 * Metadata: brokers, topics and partition leaders.
 *
 * All topics are asked for by an empty array in v0 and by null from v1 on, where an empty array asks for none. v4 auto creation by choice, v5
 * offline replicas, v7 leader epochs, v8 authorized operations (-2^31 for not asked), v9 flexible, v10 topic ids in the answer, v12 asking by id
 * with a null name, v13 a top-level error (KIP-1102). From v11 on DescribeCluster carries the cluster's authorized operations.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const metadataRequest = message({
  name: 'MetadataRequest',
  validVersions: '0-13',
  flexibleVersions: '9+',
  fields: {
    topics: {
      type: 'array',
      versions: '0+',
      nullable: '1+',
      fields: {
        topicId: { type: 'uuid', versions: '10+', ignorable: true },
        name: { type: 'string', versions: '0+', nullable: '10+' },
      },
    },
    allowAutoTopicCreation: { type: 'bool', versions: '4+', default: true },
    includeClusterAuthorizedOperations: { type: 'bool', versions: '8-10' },
    includeTopicAuthorizedOperations: { type: 'bool', versions: '8+' },
  },
})

export const metadataResponse = message({
  name: 'MetadataResponse',
  validVersions: '0-13',
  flexibleVersions: '9+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '3+', ignorable: true },
    brokers: {
      type: 'array',
      versions: '0+',
      fields: {
        nodeId: { type: 'int32', versions: '0+' },
        host: { type: 'string', versions: '0+' },
        port: { type: 'int32', versions: '0+' },
        rack: { type: 'string', versions: '1+', nullable: '1+', default: null, ignorable: true },
      },
    },
    clusterId: { type: 'string', versions: '2+', nullable: '2+', default: null, ignorable: true },
    controllerId: { type: 'int32', versions: '1+', default: -1, ignorable: true },
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        errorCode: { type: 'int16', versions: '0+' },
        name: { type: 'string', versions: '0+', nullable: '12+' },
        topicId: { type: 'uuid', versions: '10+', ignorable: true },
        isInternal: { type: 'bool', versions: '1+', default: false, ignorable: true },
        partitions: {
          type: 'array',
          versions: '0+',
          fields: {
            errorCode: { type: 'int16', versions: '0+' },
            partitionIndex: { type: 'int32', versions: '0+' },
            leaderId: { type: 'int32', versions: '0+' },
            leaderEpoch: { type: 'int32', versions: '7+', default: -1, ignorable: true },
            replicaNodes: { type: 'array', of: 'int32', versions: '0+' },
            isrNodes: { type: 'array', of: 'int32', versions: '0+' },
            offlineReplicas: { type: 'array', of: 'int32', versions: '5+', ignorable: true },
          },
        },
        topicAuthorizedOperations: { type: 'int32', versions: '8+', default: -2147483648 },
      },
    },
    clusterAuthorizedOperations: { type: 'int32', versions: '8-10', default: -2147483648 },
    errorCode: { type: 'int16', versions: '13+', ignorable: true },
  },
})

export type MetadataRequest = MessageOf<typeof metadataRequest>
export type MetadataResponse = MessageInput<typeof metadataResponse>

export const metadata = api({ key: 3, name: 'Metadata', request: metadataRequest, response: metadataResponse })
