/**
 * DescribeConfigs: configs of topics (resource type 2), brokers (4), broker loggers (8), client metrics (16) and groups (32).
 *
 * v1 sources and synonyms, v3 types and documentation, v4 flexible. Null names ask for every config of a resource.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const describeConfigsRequest = message({
  name: 'DescribeConfigsRequest',
  validVersions: '1-4',
  flexibleVersions: '4+',
  fields: {
    resources: {
      type: 'array',
      versions: '0+',
      fields: {
        resourceType: { type: 'int8', versions: '0+' },
        resourceName: { type: 'string', versions: '0+' },
        configurationKeys: { type: 'array', of: 'string', versions: '0+', nullable: '0+' },
      },
    },
    includeSynonyms: { type: 'bool', versions: '1+', default: false },
    includeDocumentation: { type: 'bool', versions: '3+', default: false },
  },
})

export const describeConfigsResponse = message({
  name: 'DescribeConfigsResponse',
  validVersions: '1-4',
  flexibleVersions: '4+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    results: {
      type: 'array',
      versions: '0+',
      fields: {
        errorCode: { type: 'int16', versions: '0+' },
        errorMessage: { type: 'string', versions: '0+', nullable: '0+' },
        resourceType: { type: 'int8', versions: '0+' },
        resourceName: { type: 'string', versions: '0+' },
        configs: {
          type: 'array',
          versions: '0+',
          fields: {
            name: { type: 'string', versions: '0+' },
            value: { type: 'string', versions: '0+', nullable: '0+' },
            readOnly: { type: 'bool', versions: '0+' },
            configSource: { type: 'int8', versions: '1+', default: -1, ignorable: true },
            isSensitive: { type: 'bool', versions: '0+' },
            synonyms: {
              type: 'array',
              versions: '1+',
              ignorable: true,
              fields: {
                name: { type: 'string', versions: '1+' },
                value: { type: 'string', versions: '1+', nullable: '0+' },
                source: { type: 'int8', versions: '1+' },
              },
            },
            configType: { type: 'int8', versions: '3+', default: 0, ignorable: true },
            documentation: { type: 'string', versions: '3+', nullable: '0+', ignorable: true },
          },
        },
      },
    },
  },
})

export type DescribeConfigsRequest = MessageOf<typeof describeConfigsRequest>
export type DescribeConfigsResponse = MessageInput<typeof describeConfigsResponse>

export const describeConfigs = api({ key: 32, name: 'DescribeConfigs', request: describeConfigsRequest, response: describeConfigsResponse })
