/**
 * SyncGroup (14): the leader brings the assignment, everybody gets its own. Served v0–5.
 *
 * - Followers wait for the leader, and everybody for the assignment to be durable (hazard D2). A member that the leader left out
 *   gets zero bytes, which is what Kafka sends (hazard D1). Bytes are passed on as they came (hazard D7).
 * - PreparingRebalance: REBALANCE_IN_PROGRESS; another generation: ILLEGAL_GENERATION; another protocol or none (v5):
 *   INCONSISTENT_GROUP_PROTOCOL.
 *
 * v1 throttle time · v3 instance id · v4 flexible · v5 protocol type and name, in both directions (KIP-559).
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { NO_BYTES } from '../groups/types.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'

export default serve(14, { min: 0, max: 5 }, { handle, fail })

type Request = RequestOf<14>

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<14>> {
  const { groupId, generationId, memberId, groupInstanceId, protocolType, protocolName, assignments } = request
  // KIP-559 makes both mandatory from v5 on, and Kafka looks at them before anything else.
  if (context.version >= 5 && (protocolType === null || protocolName === null)) return fail(request, Errors.INCONSISTENT_GROUP_PROTOCOL)
  const sync = { groupId, generation: generationId, memberId, instanceId: groupInstanceId, protocolType, protocolName, assignments }
  const result = await parts.groups.sync(sync)
  return {
    throttleTimeMs: 0,
    errorCode: result.error,
    protocolType: result.protocolType,
    protocolName: result.protocolName,
    assignment: result.assignment,
  }
}

function fail(_request: Request, error: number): ResponseOf<14> {
  return { errorCode: error === Errors.UNKNOWN_SERVER_ERROR ? Errors.COORDINATOR_NOT_AVAILABLE : error, assignment: NO_BYTES }
}
