/**
 * ConsumerGroupDescribe (69): epochs, members, what they have and what they shall have, of consumer groups (KIP-848). Served v0–1.
 *
 * - An unknown group, or a classic one: GROUP_ID_NOT_FOUND with a message; admin clients then ask DescribeGroups. Empty id: INVALID_GROUP_ID.
 * - A group that is named twice is answered once: a short request must not ask for more than there is.
 * - Topics that were deleted are left out of assignments.
 *
 * v1 the type of each member (KIP-1099).
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import type { Owned } from '../groups/consumer/types.ts'
import { consumerGroupState } from '../groups/consumer/describe.ts'
import type { ConsumerMember } from '../metadata/commands.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { GROUP_OPERATIONS, OPERATIONS_NOT_ASKED } from './support/authorizedOperations.ts'
import { servesConsumerGroups } from './support/consumerGroups.ts'

export default serve(69, { min: 0, max: 1 }, { handle, fail })

type Request = RequestOf<69>
type GroupAnswer = ResponseOf<69>['groups'][number]
type MemberAnswer = GroupAnswer['members'][number]

/** KIP-1099: which protocol a member speaks. */
const MemberType = { CLASSIC: 0, CONSUMER: 1 } as const

function handle(request: Request, _context: RequestContext, parts: ApiParts): ResponseOf<69> {
  if (!servesConsumerGroups(parts)) return fail(request, Errors.UNSUPPORTED_VERSION)
  return { throttleTimeMs: 0, groups: Array.from(new Set(request.groupIds), (groupId) => describe(groupId, request, parts)) }
}

function describe(groupId: string, request: Request, parts: ApiParts): GroupAnswer {
  if (groupId === '') return failed(groupId, Errors.INVALID_GROUP_ID, null)
  const error = parts.groups.mayFetch(groupId)
  if (error !== Errors.NONE) return failed(groupId, error, null)
  const group = parts.groups.consumer(groupId)
  if (group === null) {
    const isThere = parts.groups.describe(groupId).error === Errors.NONE
    return failed(groupId, Errors.GROUP_ID_NOT_FOUND, `Group ${groupId} ${isThere ? 'is not a consumer group' : 'not found'}.`)
  }
  const members = [...group.members.values()].sort((a, b) => (a.memberId < b.memberId ? -1 : 1))
  return {
    errorCode: Errors.NONE,
    groupId,
    groupState: consumerGroupState(group),
    groupEpoch: group.head.epoch,
    assignmentEpoch: group.head.assignmentEpoch,
    assignorName: group.head.assignor,
    members: members.map((member) => toAnswer(member, parts)),
    authorizedOperations: request.includeAuthorizedOperations ? GROUP_OPERATIONS : OPERATIONS_NOT_ASKED,
  }
}

function toAnswer(member: ConsumerMember, parts: ApiParts): MemberAnswer {
  const { memberId, instanceId, rackId, epoch, clientId, clientHost, topics, regex, assigned, target } = member
  return {
    memberId,
    instanceId,
    rackId,
    clientId,
    clientHost,
    memberEpoch: epoch,
    subscribedTopicNames: topics,
    subscribedTopicRegex: regex,
    assignment: named(assigned, parts),
    targetAssignment: named(target, parts),
    memberType: member.classic ? MemberType.CLASSIC : MemberType.CONSUMER,
  }
}

function named(owned: Owned, { metadata }: ApiParts): MemberAnswer['assignment'] {
  const topicPartitions = owned.flatMap(({ topicId, partitions }) => {
    const topic = metadata.state.topicById(topicId)
    return topic === null ? [] : [{ topicId, topicName: topic.name, partitions }]
  })
  return { topicPartitions }
}

function failed(groupId: string, errorCode: number, errorMessage: string | null): GroupAnswer {
  const nothing = { groupState: '', groupEpoch: 0, assignmentEpoch: 0, assignorName: '', members: [] }
  return { errorCode, errorMessage, groupId, ...nothing, authorizedOperations: OPERATIONS_NOT_ASKED }
}

function fail(request: Request, error: number): ResponseOf<69> {
  return { throttleTimeMs: 0, groups: request.groupIds.map((groupId) => failed(groupId, error, null)) }
}
