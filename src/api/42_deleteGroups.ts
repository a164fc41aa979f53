/**
 * DeleteGroups (42): removes empty groups with their offsets. Served v0–3.
 *
 * - A group with members: NON_EMPTY_GROUP; an unknown one: GROUP_ID_NOT_FOUND. One group named twice is removed once and then
 *   not found, in the order of the request.
 *
 * v2 flexible · v3 a message for each group (KIP-1043).
 */
import { Errors, errorName, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'

export default serve(42, { min: 0, max: 3 }, { handle, fail })

async function handle(request: RequestOf<42>, _context: RequestContext, parts: ApiParts): Promise<ResponseOf<42>> {
  const results: ResponseOf<42>['results'][number][] = []
  for (const groupId of request.groupsNames) {
    const errorCode = await parts.groups.delete(groupId)
    results.push({ groupId, errorCode, errorMessage: errorCode === Errors.NONE ? null : errorName(errorCode) })
  }
  return { throttleTimeMs: 0, results }
}

function fail(request: RequestOf<42>, error: number): ResponseOf<42> {
  return { throttleTimeMs: 0, results: request.groupsNames.map((groupId) => ({ groupId, errorCode: error })) }
}
