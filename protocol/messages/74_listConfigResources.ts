/**
 * ListConfigResources: names of resources that have configs (KIP-714, KIP-1142).
 *
 * v0 lists client metrics alone; v1 the kinds that are asked for.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const listConfigResourcesRequest = message({
  name: 'ListConfigResourcesRequest',
  validVersions: '0-1',
  flexibleVersions: '0+',
  fields: { resourceTypes: { type: 'array', of: 'int8', versions: '1+' } },
})

export const listConfigResourcesResponse = message({
  name: 'ListConfigResourcesResponse',
  validVersions: '0-1',
  flexibleVersions: '0+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    errorCode: { type: 'int16', versions: '0+' },
    configResources: {
      type: 'array',
      versions: '0+',
      fields: {
        resourceName: { type: 'string', versions: '0+' },
        resourceType: { type: 'int8', versions: '1+', default: 16, ignorable: true },
      },
    },
  },
})

export type ListConfigResourcesRequest = MessageOf<typeof listConfigResourcesRequest>
export type ListConfigResourcesResponse = MessageInput<typeof listConfigResourcesResponse>

export const listConfigResources = api({
  key: 74,
  name: 'ListConfigResources',
  request: listConfigResourcesRequest,
  response: listConfigResourcesResponse,
})
