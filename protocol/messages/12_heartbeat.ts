/**
 * Heartbeat: keeps a classic member's session alive and tells it of a rebalance.
 *
 * v3 static members, v4 flexible.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const heartbeatRequest = message({
  name: 'HeartbeatRequest',
  validVersions: '0-4',
  flexibleVersions: '4+',
  fields: {
    groupId: { type: 'string', versions: '0+' },
    generationId: { type: 'int32', versions: '0+' },
    memberId: { type: 'string', versions: '0+' },
    groupInstanceId: { type: 'string', versions: '3+', nullable: '3+', default: null },
  },
})

export const heartbeatResponse = message({
  name: 'HeartbeatResponse',
  validVersions: '0-4',
  flexibleVersions: '4+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '1+', ignorable: true },
    errorCode: { type: 'int16', versions: '0+' },
  },
})

export type HeartbeatRequest = MessageOf<typeof heartbeatRequest>
export type HeartbeatResponse = MessageInput<typeof heartbeatResponse>

export const heartbeat = api({ key: 12, name: 'Heartbeat', request: heartbeatRequest, response: heartbeatResponse })
