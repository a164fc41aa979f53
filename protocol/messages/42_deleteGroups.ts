/**
 * DeleteGroups: deletes empty groups with their offsets.
 *
 * v2 flexible, v3 a message for each group (GROUP_DELETION_FAILED).
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const deleteGroupsRequest = message({
  name: 'DeleteGroupsRequest',
  validVersions: '0-3',
  flexibleVersions: '2+',
  fields: {
    groupsNames: { type: 'array', of: 'string', versions: '0+' },
  },
})

export const deleteGroupsResponse = message({
  name: 'DeleteGroupsResponse',
  validVersions: '0-3',
  flexibleVersions: '2+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    results: {
      type: 'array',
      versions: '0+',
      fields: {
        groupId: { type: 'string', versions: '0+' },
        errorCode: { type: 'int16', versions: '0+' },
        errorMessage: { type: 'string', versions: '3+', nullable: '3+', default: null, ignorable: true },
      },
    },
  },
})

export type DeleteGroupsRequest = MessageOf<typeof deleteGroupsRequest>
export type DeleteGroupsResponse = MessageInput<typeof deleteGroupsResponse>

export const deleteGroups = api({ key: 42, name: 'DeleteGroups', request: deleteGroupsRequest, response: deleteGroupsResponse })
