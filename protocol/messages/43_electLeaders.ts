/**
 * ElectLeaders: elects preferred or unclean leaders (KIP-183, KIP-460).
 *
 * v1 the kind of election and a top-level error, v2 flexible.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const electLeadersRequest = message({
  name: 'ElectLeadersRequest',
  validVersions: '0-2',
  flexibleVersions: '2+',
  fields: {
    electionType: { type: 'int8', versions: '1+' },
    topicPartitions: {
      type: 'array',
      versions: '0+',
      nullable: '0+',
      fields: { topic: { type: 'string', versions: '0+' }, partitions: { type: 'array', of: 'int32', versions: '0+' } },
    },
    timeoutMs: { type: 'int32', versions: '0+', default: 60000 },
  },
})

export const electLeadersResponse = message({
  name: 'ElectLeadersResponse',
  validVersions: '0-2',
  flexibleVersions: '2+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    errorCode: { type: 'int16', versions: '1+' },
    replicaElectionResults: {
      type: 'array',
      versions: '0+',
      fields: {
        topic: { type: 'string', versions: '0+' },
        partitionResult: {
          type: 'array',
          versions: '0+',
          fields: {
            partitionId: { type: 'int32', versions: '0+' },
            errorCode: { type: 'int16', versions: '0+' },
            errorMessage: { type: 'string', versions: '0+', nullable: '0+' },
          },
        },
      },
    },
  },
})

export type ElectLeadersRequest = MessageOf<typeof electLeadersRequest>
export type ElectLeadersResponse = MessageInput<typeof electLeadersResponse>

export const electLeaders = api({ key: 43, name: 'ElectLeaders', request: electLeadersRequest, response: electLeadersResponse })
