/**
 * DescribeGroups: state and members of classic groups.
 *
 * v3 authorized operations, v4 static members, v5 flexible, v6 answers GROUP_ID_NOT_FOUND with a message instead of the state Dead (KIP-1043).
 * Protocol, metadata and assignments are filled in for stable groups only.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const describeGroupsRequest = message({
  name: 'DescribeGroupsRequest',
  validVersions: '0-6',
  flexibleVersions: '5+',
  fields: {
    groups: { type: 'array', of: 'string', versions: '0+' },
    includeAuthorizedOperations: { type: 'bool', versions: '3+' },
  },
})

export const describeGroupsResponse = message({
  name: 'DescribeGroupsResponse',
  validVersions: '0-6',
  flexibleVersions: '5+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '1+', ignorable: true },
    groups: {
      type: 'array',
      versions: '0+',
      fields: {
        errorCode: { type: 'int16', versions: '0+' },
        errorMessage: { type: 'string', versions: '6+', nullable: '6+', default: null },
        groupId: { type: 'string', versions: '0+' },
        groupState: { type: 'string', versions: '0+' },
        protocolType: { type: 'string', versions: '0+' },
        protocolData: { type: 'string', versions: '0+' },
        members: {
          type: 'array',
          versions: '0+',
          fields: {
            memberId: { type: 'string', versions: '0+' },
            groupInstanceId: { type: 'string', versions: '4+', nullable: '4+', default: null, ignorable: true },
            clientId: { type: 'string', versions: '0+' },
            clientHost: { type: 'string', versions: '0+' },
            memberMetadata: { type: 'bytes', versions: '0+' },
            memberAssignment: { type: 'bytes', versions: '0+' },
          },
        },
        authorizedOperations: { type: 'int32', versions: '3+', default: -2147483648 },
      },
    },
  },
})

export type DescribeGroupsRequest = MessageOf<typeof describeGroupsRequest>
export type DescribeGroupsResponse = MessageInput<typeof describeGroupsResponse>

export const describeGroups = api({ key: 15, name: 'DescribeGroups', request: describeGroupsRequest, response: describeGroupsResponse })
