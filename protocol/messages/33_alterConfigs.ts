/**
 * AlterConfigs: replaces all configs of a resource; the older way, which several clients still use.
 *
 * v2 flexible.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const alterConfigsRequest = message({
  name: 'AlterConfigsRequest',
  validVersions: '0-2',
  flexibleVersions: '2+',
  fields: {
    resources: {
      type: 'array',
      versions: '0+',
      fields: {
        resourceType: { type: 'int8', versions: '0+' },
        resourceName: { type: 'string', versions: '0+' },
        configs: {
          type: 'array',
          versions: '0+',
          fields: {
            name: { type: 'string', versions: '0+' },
            value: { type: 'string', versions: '0+', nullable: '0+' },
          },
        },
      },
    },
    validateOnly: { type: 'bool', versions: '0+' },
  },
})

export const alterConfigsResponse = message({
  name: 'AlterConfigsResponse',
  validVersions: '0-2',
  flexibleVersions: '2+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    responses: {
      type: 'array',
      versions: '0+',
      fields: {
        errorCode: { type: 'int16', versions: '0+' },
        errorMessage: { type: 'string', versions: '0+', nullable: '0+' },
        resourceType: { type: 'int8', versions: '0+' },
        resourceName: { type: 'string', versions: '0+' },
      },
    },
  },
})

export type AlterConfigsRequest = MessageOf<typeof alterConfigsRequest>
export type AlterConfigsResponse = MessageInput<typeof alterConfigsResponse>

export const alterConfigs = api({ key: 33, name: 'AlterConfigs', request: alterConfigsRequest, response: alterConfigsResponse })
