/**
 * ListGroups (16): the groups that this node coordinates. Served v0–5.
 *
 * - v4 filters by state (KIP-518), v5 by type ("classic", "consumer"), ignoring case. An empty filter takes all.
 *   A state or type that does not exist matches nothing.
 *
 * v1 throttle time · v3 flexible · v4 states · v5 types.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'

export default serve(16, { min: 0, max: 5 }, { handle, fail })

function handle(request: RequestOf<16>, context: RequestContext, parts: ApiParts): ResponseOf<16> {
  const states = new Set(request.statesFilter.map((state) => state.toLowerCase()))
  const types = new Set(request.typesFilter.map((type) => type.toLowerCase()))
  const listed = parts.groups
    .list()
    .filter(({ state }) => states.size === 0 || states.has(state.toLowerCase()))
    .filter(({ type }) => types.size === 0 || types.has(type))
  const groups = listed.map(({ groupId, protocolType, state, type }) => ({
    groupId,
    protocolType,
    groupState: state,
    groupType: context.version >= 5 ? type : '',
  }))
  return { throttleTimeMs: 0, errorCode: Errors.NONE, groups }
}

function fail(_request: RequestOf<16>, error: number): ResponseOf<16> {
  return { errorCode: error, groups: [] }
}
