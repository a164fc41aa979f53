/**
 * SyncGroup: the leader hands in the assignment, every member gets its own.
 *
 * v3 static members, v4 flexible, v5 protocol type and name both ways, to be checked against the group's.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const syncGroupRequest = message({
  name: 'SyncGroupRequest',
  validVersions: '0-5',
  flexibleVersions: '4+',
  fields: {
    groupId: { type: 'string', versions: '0+' },
    generationId: { type: 'int32', versions: '0+' },
    memberId: { type: 'string', versions: '0+' },
    groupInstanceId: { type: 'string', versions: '3+', nullable: '3+', default: null },
    protocolType: { type: 'string', versions: '5+', nullable: '5+', default: null, ignorable: true },
    protocolName: { type: 'string', versions: '5+', nullable: '5+', default: null, ignorable: true },
    assignments: {
      type: 'array',
      versions: '0+',
      fields: {
        memberId: { type: 'string', versions: '0+' },
        assignment: { type: 'bytes', versions: '0+' },
      },
    },
  },
})

export const syncGroupResponse = message({
  name: 'SyncGroupResponse',
  validVersions: '0-5',
  flexibleVersions: '4+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '1+', ignorable: true },
    errorCode: { type: 'int16', versions: '0+' },
    protocolType: { type: 'string', versions: '5+', nullable: '5+', default: null, ignorable: true },
    protocolName: { type: 'string', versions: '5+', nullable: '5+', default: null, ignorable: true },
    assignment: { type: 'bytes', versions: '0+' },
  },
})

export type SyncGroupRequest = MessageOf<typeof syncGroupRequest>
export type SyncGroupResponse = MessageInput<typeof syncGroupResponse>

export const syncGroup = api({ key: 14, name: 'SyncGroup', request: syncGroupRequest, response: syncGroupResponse })
