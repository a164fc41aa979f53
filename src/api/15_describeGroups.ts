/**
 * DescribeGroups (15): state and members of classic groups. Served v0–6.
 *
 * - An unknown group: state Dead without an error up to v5, GROUP_ID_NOT_FOUND with a message from v6 on (KIP-1043).
 * - A group that is named twice is answered once: a short request must not ask for more than there is.
 * - Protocol, metadata and assignments are shown in Stable only.
 *
 * v1 throttle time · v3 authorized operations · v4 instance ids · v5 flexible · v6 error message.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { GROUP_OPERATIONS, OPERATIONS_NOT_ASKED } from './support/authorizedOperations.ts'

export default serve(15, { min: 0, max: 6 }, { handle, fail })

type Request = RequestOf<15>
type GroupAnswer = ResponseOf<15>['groups'][number]

function handle(request: Request, context: RequestContext, parts: ApiParts): ResponseOf<15> {
  return { throttleTimeMs: 0, groups: Array.from(new Set(request.groups), (groupId) => describe(groupId, request, context, parts)) }
}

function describe(groupId: string, request: Request, context: RequestContext, parts: ApiParts): GroupAnswer {
  const { error, state, protocolType, protocolName, members } = parts.groups.describe(groupId)
  if (error === Errors.GROUP_ID_NOT_FOUND) {
    if (context.version < 6) return failed(groupId, Errors.NONE, 'Dead')
    return { ...failed(groupId, error, 'Dead'), errorMessage: `Group ${groupId} not found.` }
  }
  if (error !== Errors.NONE) return failed(groupId, error, '')
  const groupMembers = members.map(({ memberId, instanceId, clientId, clientHost, metadata, assignment }) => {
    return { memberId, groupInstanceId: instanceId, clientId, clientHost, memberMetadata: metadata, memberAssignment: assignment }
  })
  const operations = request.includeAuthorizedOperations ? { authorizedOperations: GROUP_OPERATIONS } : {}
  return { errorCode: error, groupId, groupState: state, protocolType, protocolData: protocolName, members: groupMembers, ...operations }
}

function failed(groupId: string, errorCode: number, groupState: string): GroupAnswer {
  return { errorCode, groupId, groupState, protocolType: '', protocolData: '', members: [], authorizedOperations: OPERATIONS_NOT_ASKED }
}

function fail(request: Request, error: number): ResponseOf<15> {
  return { groups: request.groups.map((groupId) => failed(groupId, error, '')) }
}
