/**
 * LeaveGroup: members leave a classic group.
 *
 * v0-2 name one member, v3 takes a list with an answer each, also by group instance id alone; v4 flexible, v5 a reason.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const leaveGroupRequest = message({
  name: 'LeaveGroupRequest',
  validVersions: '0-5',
  flexibleVersions: '4+',
  fields: {
    groupId: { type: 'string', versions: '0+' },
    memberId: { type: 'string', versions: '0-2' },
    members: {
      type: 'array',
      versions: '3+',
      fields: {
        memberId: { type: 'string', versions: '3+' },
        groupInstanceId: { type: 'string', versions: '3+', nullable: '3+', default: null },
        reason: { type: 'string', versions: '5+', nullable: '5+', default: null, ignorable: true },
      },
    },
  },
})

export const leaveGroupResponse = message({
  name: 'LeaveGroupResponse',
  validVersions: '0-5',
  flexibleVersions: '4+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '1+', ignorable: true },
    errorCode: { type: 'int16', versions: '0+' },
    members: {
      type: 'array',
      versions: '3+',
      fields: {
        memberId: { type: 'string', versions: '3+' },
        groupInstanceId: { type: 'string', versions: '3+', nullable: '3+' },
        errorCode: { type: 'int16', versions: '3+' },
      },
    },
  },
})

export type LeaveGroupRequest = MessageOf<typeof leaveGroupRequest>
export type LeaveGroupResponse = MessageInput<typeof leaveGroupResponse>

export const leaveGroup = api({ key: 13, name: 'LeaveGroup', request: leaveGroupRequest, response: leaveGroupResponse })
