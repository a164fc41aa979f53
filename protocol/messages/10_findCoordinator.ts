/**
 * FindCoordinator: which broker coordinates a group (key type 0), a transactional id (1) or a share partition (2).
 *
 * v1 key types, v3 flexible, v4 many keys with an error each instead of the single key and top-level answer (KIP-699), v6 share groups, whose
 * key is group:topicId:partition.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const findCoordinatorRequest = message({
  name: 'FindCoordinatorRequest',
  validVersions: '0-6',
  flexibleVersions: '3+',
  fields: {
    key: { type: 'string', versions: '0-3' },
    keyType: { type: 'int8', versions: '1+', default: 0 },
    coordinatorKeys: { type: 'array', of: 'string', versions: '4+' },
  },
})

export const findCoordinatorResponse = message({
  name: 'FindCoordinatorResponse',
  validVersions: '0-6',
  flexibleVersions: '3+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '1+', ignorable: true },
    errorCode: { type: 'int16', versions: '0-3' },
    errorMessage: { type: 'string', versions: '1-3', nullable: '1-3', ignorable: true },
    nodeId: { type: 'int32', versions: '0-3' },
    host: { type: 'string', versions: '0-3' },
    port: { type: 'int32', versions: '0-3' },
    coordinators: {
      type: 'array',
      versions: '4+',
      fields: {
        key: { type: 'string', versions: '4+' },
        nodeId: { type: 'int32', versions: '4+' },
        host: { type: 'string', versions: '4+' },
        port: { type: 'int32', versions: '4+' },
        errorCode: { type: 'int16', versions: '4+' },
        errorMessage: { type: 'string', versions: '4+', nullable: '4+', ignorable: true },
      },
    },
  },
})

export type FindCoordinatorRequest = MessageOf<typeof findCoordinatorRequest>
export type FindCoordinatorResponse = MessageInput<typeof findCoordinatorResponse>

export const findCoordinator = api({ key: 10, name: 'FindCoordinator', request: findCoordinatorRequest, response: findCoordinatorResponse })
