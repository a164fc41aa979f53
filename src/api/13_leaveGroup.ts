/**
 * LeaveGroup (13): members leave a group, or are taken out of it by an administrator, whatever protocol they speak. Served v0–5.
 *
 * - v0–2 one member, whose error is the answer's; v3 a batch with an error each, and members named by instance id alone, which is
 *   how administrators remove static members (KIP-345). One batch costs one rebalance.
 * - An unknown group or id: UNKNOWN_MEMBER_ID.
 *
 * v1 throttle time · v3 batches · v4 flexible · v5 a reason, for logs (KIP-800).
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import type { LeaveResult, LeavingMember } from '../groups/types.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'

export default serve(13, { min: 0, max: 5 }, { handle, fail })

type Request = RequestOf<13>

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<13>> {
  if (context.version < 3) {
    const { error, members } = await leave(request.groupId, [{ memberId: request.memberId, instanceId: null }], parts)
    return { throttleTimeMs: 0, errorCode: error === Errors.NONE ? members[0].error : error }
  }
  const leaving = request.members.map(({ memberId, groupInstanceId }) => ({ memberId, instanceId: groupInstanceId }))
  const { error, members } = await leave(request.groupId, leaving, parts)
  return {
    throttleTimeMs: 0,
    errorCode: error,
    members: members.map((member) => ({ memberId: member.memberId, groupInstanceId: member.instanceId, errorCode: member.error })),
  }
}

/** Administrators take members of consumer groups out in the same way. */
function leave(groupId: string, leaving: readonly LeavingMember[], { groups }: ApiParts): LeaveResult | Promise<LeaveResult> {
  return groups.consumers.holds(groupId) ? groups.consumers.removeAll(groupId, leaving) : groups.leave(groupId, leaving)
}

function fail(_request: Request, error: number): ResponseOf<13> {
  return { errorCode: error === Errors.UNKNOWN_SERVER_ERROR ? Errors.COORDINATOR_NOT_AVAILABLE : error }
}
