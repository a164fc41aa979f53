/**
 * ListPartitionReassignments: moves of partitions that are under way (KIP-455).
 *
 * Only v0, flexible.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const listPartitionReassignmentsRequest = message({
  name: 'ListPartitionReassignmentsRequest',
  validVersions: '0',
  flexibleVersions: '0+',
  fields: {
    timeoutMs: { type: 'int32', versions: '0+', default: 60000 },
    topics: {
      type: 'array',
      versions: '0+',
      nullable: '0+',
      default: null,
      fields: { name: { type: 'string', versions: '0+' }, partitionIndexes: { type: 'array', of: 'int32', versions: '0+' } },
    },
  },
})

export const listPartitionReassignmentsResponse = message({
  name: 'ListPartitionReassignmentsResponse',
  validVersions: '0',
  flexibleVersions: '0+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    errorCode: { type: 'int16', versions: '0+' },
    errorMessage: { type: 'string', versions: '0+', nullable: '0+' },
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0+' },
        partitions: {
          type: 'array',
          versions: '0+',
          fields: {
            partitionIndex: { type: 'int32', versions: '0+' },
            replicas: { type: 'array', of: 'int32', versions: '0+' },
            addingReplicas: { type: 'array', of: 'int32', versions: '0+' },
            removingReplicas: { type: 'array', of: 'int32', versions: '0+' },
          },
        },
      },
    },
  },
})

export type ListPartitionReassignmentsRequest = MessageOf<typeof listPartitionReassignmentsRequest>
export type ListPartitionReassignmentsResponse = MessageInput<typeof listPartitionReassignmentsResponse>

export const listPartitionReassignments = api({
  key: 46,
  name: 'ListPartitionReassignments',
  request: listPartitionReassignmentsRequest,
  response: listPartitionReassignmentsResponse,
})
