/**
 * ConsumerGroupHeartbeat (68): members of consumer groups join, report, are told their assignment, and leave (KIP-848). Served v0–1.
 *
 * - Epoch 0 joins, -1 leaves, -2 is a static member that will come back; else it must be the member's epoch, or the one before when its
 *   answer was lost: FENCED_MEMBER_EPOCH. What is null did not change.
 * - The assignment is in the answer when it changed, and when the request is a full one.
 * - Joining a group with classic members makes it a consumer group, where group.consumer.migration.policy lets it; else GROUP_ID_NOT_FOUND.
 *   UNSUPPORTED_VERSION until every pod knows consumer groups.
 * - What a member may own, and when: src/groups/consumer/reconcile.ts.
 *
 * v1 patterns, and ids made by the client (KIP-1082); before, an empty id is given one.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { servesConsumerGroups } from './support/consumerGroups.ts'

export default serve(68, { min: 0, max: 1 }, { handle, fail })

type Request = RequestOf<68>

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<68>> {
  if (!servesConsumerGroups(parts)) return fail(request, Errors.UNSUPPORTED_VERSION)
  const { groupId, memberId, memberEpoch, instanceId, rackId, rebalanceTimeoutMs } = request
  const result = await parts.groups.consumers.heartbeat({
    groupId,
    memberId,
    instanceId,
    rackId,
    rebalanceTimeoutMs,
    version: context.version,
    epoch: memberEpoch,
    topics: request.subscribedTopicNames,
    regex: request.subscribedTopicRegex,
    assignor: request.serverAssignor,
    owned: request.topicPartitions,
    clientId: context.clientId,
    clientHost: `/${context.connection.clientHost}`,
  })
  return {
    throttleTimeMs: 0,
    errorCode: result.error,
    errorMessage: result.message,
    memberId: result.memberId,
    memberEpoch: result.epoch,
    heartbeatIntervalMs: result.heartbeatIntervalMs,
    assignment: result.assignment === null ? null : { topicPartitions: result.assignment },
  }
}

function fail(_request: Request, error: number): ResponseOf<68> {
  // UNKNOWN_SERVER_ERROR ends a consumer for good; it may as well look for the coordinator again.
  const told = error === Errors.UNKNOWN_SERVER_ERROR ? Errors.COORDINATOR_NOT_AVAILABLE : error
  return { throttleTimeMs: 0, errorCode: told, memberEpoch: 0, heartbeatIntervalMs: 0 }
}
