/**
 * JoinGroup: a member enters a rebalance of a classic group; the answer waits for the others.
 *
 * v1 a rebalance timeout apart from the session timeout (-1 stands for absent: use the session timeout), v4 MEMBER_ID_REQUIRED and a second
 * request with the given id (KIP-394), v5 static members, v6 flexible, v7 protocol type in the answer and a null protocol name, v8 a reason,
 * v9 skip assignment for a returning static leader.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const joinGroupRequest = message({
  name: 'JoinGroupRequest',
  validVersions: '0-9',
  flexibleVersions: '6+',
  fields: {
    groupId: { type: 'string', versions: '0+' },
    sessionTimeoutMs: { type: 'int32', versions: '0+' },
    rebalanceTimeoutMs: { type: 'int32', versions: '1+', default: -1, ignorable: true },
    memberId: { type: 'string', versions: '0+' },
    groupInstanceId: { type: 'string', versions: '5+', nullable: '5+', default: null },
    protocolType: { type: 'string', versions: '0+' },
    protocols: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0+' },
        metadata: { type: 'bytes', versions: '0+' },
      },
    },
    reason: { type: 'string', versions: '8+', nullable: '8+', default: null, ignorable: true },
  },
})

export const joinGroupResponse = message({
  name: 'JoinGroupResponse',
  validVersions: '0-9',
  flexibleVersions: '6+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '2+', ignorable: true },
    errorCode: { type: 'int16', versions: '0+' },
    generationId: { type: 'int32', versions: '0+', default: -1 },
    protocolType: { type: 'string', versions: '7+', nullable: '7+', default: null, ignorable: true },
    protocolName: { type: 'string', versions: '0+', nullable: '7+' },
    leader: { type: 'string', versions: '0+' },
    skipAssignment: { type: 'bool', versions: '9+', default: false },
    memberId: { type: 'string', versions: '0+' },
    members: {
      type: 'array',
      versions: '0+',
      fields: {
        memberId: { type: 'string', versions: '0+' },
        groupInstanceId: { type: 'string', versions: '5+', nullable: '5+', default: null, ignorable: true },
        metadata: { type: 'bytes', versions: '0+' },
      },
    },
  },
})

export type JoinGroupRequest = MessageOf<typeof joinGroupRequest>
export type JoinGroupResponse = MessageInput<typeof joinGroupResponse>

export const joinGroup = api({ key: 11, name: 'JoinGroup', request: joinGroupRequest, response: joinGroupResponse })
