/**
 * Heartbeat (12): keeps a member of a classic group alive and tells it of rebalances. Served v0–4.
 *
 * - REBALANCE_IN_PROGRESS while members are asked to join again; UNKNOWN_MEMBER_ID and ILLEGAL_GENERATION send the client back
 *   to JoinGroup; FENCED_INSTANCE_ID: another process has the instance id.
 * - After a restart of this broker the members of a stable group go on with the generation they had (hazard D4).
 *
 * v1 throttle time · v3 instance id · v4 flexible.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'

export default serve(12, { min: 0, max: 4 }, { handle, fail })

function handle(request: RequestOf<12>, _context: RequestContext, parts: ApiParts): ResponseOf<12> {
  const { groupId, generationId, memberId, groupInstanceId } = request
  return {
    throttleTimeMs: 0,
    errorCode: parts.groups.heartbeat({ groupId, generation: generationId, memberId, instanceId: groupInstanceId }),
  }
}

function fail(_request: RequestOf<12>, error: number): ResponseOf<12> {
  return { errorCode: error === Errors.UNKNOWN_SERVER_ERROR ? Errors.COORDINATOR_NOT_AVAILABLE : error }
}
