import { Errors } from '../../../protocol/errors.ts'
import { JOIN_EPOCH, LEAVE_STATIC_EPOCH, refusal, type ConsumerHeartbeat, type Refusal } from './types.ts'

/** What is wrong with a heartbeat by itself, in Kafka's words, or null (K: GroupCoordinatorService). */
export function heartbeatProblem(request: ConsumerHeartbeat, assignors: readonly string[]): Refusal | null {
  const problem = formProblem(request)
  if (problem !== null) return refusal(Errors.INVALID_REQUEST, problem)
  if (request.assignor !== null && !assignors.includes(request.assignor)) {
    const supported = assignors.join(', ')
    return refusal(Errors.UNSUPPORTED_ASSIGNOR, `ServerAssignor ${request.assignor} is not supported. Supported assignors: ${supported}.`)
  }
  return null
}

function formProblem(request: ConsumerHeartbeat): string | null {
  const { version, groupId, memberId, epoch, instanceId, rackId } = request
  if ((version >= 1 || epoch !== JOIN_EPOCH) && memberId === '') return "MemberId can't be empty."
  if (groupId === '') return "GroupId can't be empty."
  if (instanceId === '') return "InstanceId can't be empty."
  if (rackId === '') return "RackId can't be empty."
  if (epoch === JOIN_EPOCH) return joinProblem(request)
  if (epoch === LEAVE_STATIC_EPOCH && instanceId === null) return "InstanceId can't be null."
  return epoch < LEAVE_STATIC_EPOCH ? 'MemberEpoch is invalid.' : null
}

function joinProblem({ version, rebalanceTimeoutMs, owned, topics, regex }: ConsumerHeartbeat): string | null {
  if (rebalanceTimeoutMs === -1) return 'RebalanceTimeoutMs must be provided in first request.'
  if (owned === null || owned.length > 0) return 'TopicPartitions must be empty when (re-)joining.'
  if (version === 0) return topics === null || topics.length === 0 ? 'SubscribedTopicNames must be set in first request.' : null
  if (topics === null && regex === null) return 'Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.'
  return null
}
