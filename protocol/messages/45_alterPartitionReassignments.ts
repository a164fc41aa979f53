/**
 * AlterPartitionReassignments: moves partitions to other replicas (KIP-455).
 *
 * v0 is flexible already; v1 may forbid to change the replication factor.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const alterPartitionReassignmentsRequest = message({
  name: 'AlterPartitionReassignmentsRequest',
  validVersions: '0-1',
  flexibleVersions: '0+',
  fields: {
    timeoutMs: { type: 'int32', versions: '0+', default: 60000 },
    allowReplicationFactorChange: { type: 'bool', versions: '1+', default: true },
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
            replicas: { type: 'array', of: 'int32', versions: '0+', nullable: '0+', default: null },
          },
        },
      },
    },
  },
})

export const alterPartitionReassignmentsResponse = message({
  name: 'AlterPartitionReassignmentsResponse',
  validVersions: '0-1',
  flexibleVersions: '0+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    allowReplicationFactorChange: { type: 'bool', versions: '1+', default: true, ignorable: true },
    errorCode: { type: 'int16', versions: '0+' },
    errorMessage: { type: 'string', versions: '0+', nullable: '0+' },
    responses: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0+' },
        partitions: {
          type: 'array',
          versions: '0+',
          fields: {
            partitionIndex: { type: 'int32', versions: '0+' },
            errorCode: { type: 'int16', versions: '0+' },
            errorMessage: { type: 'string', versions: '0+', nullable: '0+' },
          },
        },
      },
    },
  },
})

export type AlterPartitionReassignmentsRequest = MessageOf<typeof alterPartitionReassignmentsRequest>
export type AlterPartitionReassignmentsResponse = MessageInput<typeof alterPartitionReassignmentsResponse>

export const alterPartitionReassignments = api({
  key: 45,
  name: 'AlterPartitionReassignments',
  request: alterPartitionReassignmentsRequest,
  response: alterPartitionReassignmentsResponse,
})
