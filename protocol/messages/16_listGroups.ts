/**
 * ListGroups: every group this broker coordinates.
 *
 * v3 flexible, v4 filter and answer by state (KIP-518), v5 by type (KIP-848).
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const listGroupsRequest = message({
  name: 'ListGroupsRequest',
  validVersions: '0-5',
  flexibleVersions: '3+',
  fields: {
    statesFilter: { type: 'array', of: 'string', versions: '4+' },
    typesFilter: { type: 'array', of: 'string', versions: '5+' },
  },
})

export const listGroupsResponse = message({
  name: 'ListGroupsResponse',
  validVersions: '0-5',
  flexibleVersions: '3+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '1+', ignorable: true },
    errorCode: { type: 'int16', versions: '0+' },
    groups: {
      type: 'array',
      versions: '0+',
      fields: {
        groupId: { type: 'string', versions: '0+' },
        protocolType: { type: 'string', versions: '0+' },
        groupState: { type: 'string', versions: '4+', ignorable: true },
        groupType: { type: 'string', versions: '5+', ignorable: true },
      },
    },
  },
})

export type ListGroupsRequest = MessageOf<typeof listGroupsRequest>
export type ListGroupsResponse = MessageInput<typeof listGroupsResponse>

export const listGroups = api({ key: 16, name: 'ListGroups', request: listGroupsRequest, response: listGroupsResponse })
