/**
 * DescribeCluster: cluster id, controller and brokers (KIP-700).
 *
 * v0 is flexible already; v1 the endpoint type (1 brokers, 2 controllers; KIP-919), v2 fenced brokers on demand (KIP-1073).
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const describeClusterRequest = message({
  name: 'DescribeClusterRequest',
  validVersions: '0-2',
  flexibleVersions: '0+',
  fields: {
    includeClusterAuthorizedOperations: { type: 'bool', versions: '0+' },
    endpointType: { type: 'int8', versions: '1+', default: 1 },
    includeFencedBrokers: { type: 'bool', versions: '2+' },
  },
})

export const describeClusterResponse = message({
  name: 'DescribeClusterResponse',
  validVersions: '0-2',
  flexibleVersions: '0+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    errorCode: { type: 'int16', versions: '0+' },
    errorMessage: { type: 'string', versions: '0+', nullable: '0+', default: null },
    endpointType: { type: 'int8', versions: '1+', default: 1 },
    clusterId: { type: 'string', versions: '0+' },
    controllerId: { type: 'int32', versions: '0+', default: -1 },
    brokers: {
      type: 'array',
      versions: '0+',
      fields: {
        brokerId: { type: 'int32', versions: '0+' },
        host: { type: 'string', versions: '0+' },
        port: { type: 'int32', versions: '0+' },
        rack: { type: 'string', versions: '0+', nullable: '0+', default: null },
        isFenced: { type: 'bool', versions: '2+' },
      },
    },
    clusterAuthorizedOperations: { type: 'int32', versions: '0+', default: -2147483648 },
  },
})

export type DescribeClusterRequest = MessageOf<typeof describeClusterRequest>
export type DescribeClusterResponse = MessageInput<typeof describeClusterResponse>

export const describeCluster = api({ key: 60, name: 'DescribeCluster', request: describeClusterRequest, response: describeClusterResponse })
