/**
 * IncrementalAlterConfigs: sets (0), deletes (1), appends to (2) or subtracts from (3) single configs (KIP-339).
 *
 * v1 flexible.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const incrementalAlterConfigsRequest = message({
  name: 'IncrementalAlterConfigsRequest',
  validVersions: '0-1',
  flexibleVersions: '1+',
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
            configOperation: { type: 'int8', versions: '0+' },
            value: { type: 'string', versions: '0+', nullable: '0+' },
          },
        },
      },
    },
    validateOnly: { type: 'bool', versions: '0+' },
  },
})

export const incrementalAlterConfigsResponse = message({
  name: 'IncrementalAlterConfigsResponse',
  validVersions: '0-1',
  flexibleVersions: '1+',
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

export type IncrementalAlterConfigsRequest = MessageOf<typeof incrementalAlterConfigsRequest>
export type IncrementalAlterConfigsResponse = MessageInput<typeof incrementalAlterConfigsResponse>

export const incrementalAlterConfigs = api({
  key: 44,
  name: 'IncrementalAlterConfigs',
  request: incrementalAlterConfigsRequest,
  response: incrementalAlterConfigsResponse,
})
