/**
 * JoinGroup (11): a member joins a classic group, or joins again in a rebalance. Served v0–9.
 *
 * - The answer waits until the rebalance completes. The leader alone gets the list of members, with their metadata bytes as
 *   they were sent: they are never re-encoded (hazard D7).
 * - Empty group id: INVALID_GROUP_ID; session timeout outside group.min/max.session.timeout.ms: INVALID_SESSION_TIMEOUT; no
 *   protocol in common: INCONSISTENT_GROUP_PROTOCOL; an id that the group does not know: UNKNOWN_MEMBER_ID.
 * - In a consumer group (KIP-848) the answer comes at once, and nobody leads; not under group.consumer.migration.policy=disabled:
 *   INCONSISTENT_GROUP_PROTOCOL.
 * - What happens in which state of the group: src/groups/states.
 *
 * v0 has no rebalance timeout: the session's holds · v4 MEMBER_ID_REQUIRED (KIP-394) · v5 instance ids (KIP-345) · v6 flexible ·
 * v7 protocol type, null names · v8 a reason, for logs · v9 skip_assignment (KIP-814).
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { joinError, type JoinResult } from '../groups/types.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'

export default serve(11, { min: 0, max: 9 }, { handle, fail })

type Request = RequestOf<11>

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<11>> {
  const { version, clientId, connection } = context
  const result = await parts.groups.join({
    groupId: request.groupId,
    memberId: request.memberId,
    instanceId: request.groupInstanceId,
    clientId,
    clientHost: `/${connection.clientHost}`,
    sessionTimeoutMs: request.sessionTimeoutMs,
    rebalanceTimeoutMs: version === 0 ? request.sessionTimeoutMs : request.rebalanceTimeoutMs,
    protocolType: request.protocolType,
    protocols: request.protocols,
    requireKnownMemberId: version >= 4 && request.groupInstanceId === null,
    supportsSkippingAssignment: version >= 9,
  })
  return toResponse(result, version)
}

function toResponse(result: JoinResult, version: number): ResponseOf<11> {
  return {
    throttleTimeMs: 0,
    errorCode: result.error,
    generationId: result.generation,
    protocolType: result.protocolType,
    // Null is allowed from v7 on.
    protocolName: version >= 7 ? result.protocolName : (result.protocolName ?? ''),
    leader: result.leader,
    ...(version >= 9 ? { skipAssignment: result.skipAssignment } : {}),
    memberId: result.memberId,
    members: result.members.map(({ memberId, instanceId, metadata }) => ({ memberId, groupInstanceId: instanceId, metadata })),
  }
}

function fail(request: Request, error: number, context: RequestContext): ResponseOf<11> {
  // UNKNOWN_SERVER_ERROR ends a consumer for good; it may as well look for the coordinator again.
  return toResponse(
    joinError(error === Errors.UNKNOWN_SERVER_ERROR ? Errors.COORDINATOR_NOT_AVAILABLE : error, request.memberId),
    context.version,
  )
}
