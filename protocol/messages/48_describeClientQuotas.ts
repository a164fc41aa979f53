/**
 * DescribeClientQuotas: quotas of users, clients and addresses (KIP-546).
 *
 * v1 flexible.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const describeClientQuotasRequest = message({
  name: 'DescribeClientQuotasRequest',
  validVersions: '0-1',
  flexibleVersions: '1+',
  fields: {
    components: {
      type: 'array',
      versions: '0+',
      fields: {
        entityType: { type: 'string', versions: '0+' },
        matchType: { type: 'int8', versions: '0+' },
        match: { type: 'string', versions: '0+', nullable: '0+' },
      },
    },
    strict: { type: 'bool', versions: '0+' },
  },
})

export const describeClientQuotasResponse = message({
  name: 'DescribeClientQuotasResponse',
  validVersions: '0-1',
  flexibleVersions: '1+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    errorCode: { type: 'int16', versions: '0+' },
    errorMessage: { type: 'string', versions: '0+', nullable: '0+' },
    entries: {
      type: 'array',
      versions: '0+',
      nullable: '0+',
      fields: {
        entity: {
          type: 'array',
          versions: '0+',
          fields: { entityType: { type: 'string', versions: '0+' }, entityName: { type: 'string', versions: '0+', nullable: '0+' } },
        },
        values: {
          type: 'array',
          versions: '0+',
          fields: { key: { type: 'string', versions: '0+' }, value: { type: 'float64', versions: '0+' } },
        },
      },
    },
  },
})

export type DescribeClientQuotasRequest = MessageOf<typeof describeClientQuotasRequest>
export type DescribeClientQuotasResponse = MessageInput<typeof describeClientQuotasResponse>

export const describeClientQuotas = api({
  key: 48,
  name: 'DescribeClientQuotas',
  request: describeClientQuotasRequest,
  response: describeClientQuotasResponse,
})
