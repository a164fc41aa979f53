/**
 * DescribeClientQuotas (48): quotas that match a filter (KIP-546). Served v0–1.
 *
 * - Quotas cannot be set yet (AlterClientQuotas is not served), so a filter that makes sense matches none; one that does not is refused as
 *   Kafka refuses it: INVALID_REQUEST, and UNSUPPORTED_VERSION for a kind of entity it does not know.
 *
 * v1 flexible.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve } from './handler.ts'

export default serve(48, { min: 0, max: 1 }, { handle, fail: (_request, error) => failed(error, null) })

type Component = RequestOf<48>['components'][number]

const EXACT = 0
const DEFAULT = 1
const ANY = 2
const KINDS = new Set(['user', 'client-id', 'ip'])

function handle({ components }: RequestOf<48>): ResponseOf<48> {
  const seen = new Set<string>()
  for (const component of components) {
    const { entityType } = component
    const problem = problemOf(component)
    if (problem !== null) return failed(Errors.INVALID_REQUEST, problem)
    if (!KINDS.has(entityType)) return failed(Errors.UNSUPPORTED_VERSION, `Unsupported entity type ${entityType}`)
    if (seen.has(entityType)) return failed(Errors.INVALID_REQUEST, `Entity type ${entityType} cannot appear more than once in the filter.`)
    seen.add(entityType)
  }
  if (seen.has('ip') && seen.size > 1)
    return failed(
      Errors.INVALID_REQUEST,
      'Invalid entity filter component combination. IP filter component should not be used with user or clientId filter component.',
    )
  return { throttleTimeMs: 0, errorCode: Errors.NONE, errorMessage: null, entries: [] }
}

function problemOf({ entityType, matchType, match }: Component): string | null {
  if (entityType === '') return 'Invalid empty entity type.'
  if (matchType === EXACT) return match === null ? 'Request specified MATCH_TYPE_EXACT, but set match string to null.' : null
  if (matchType !== DEFAULT && matchType !== ANY) return `Unknown match type ${matchType}`
  return match === null
    ? null
    : `Request specified MATCH_TYPE_${matchType === DEFAULT ? 'DEFAULT' : 'SPECIFIED'}, but also specified a match string.`
}

function failed(errorCode: number, errorMessage: string | null): ResponseOf<48> {
  return { throttleTimeMs: 0, errorCode, errorMessage, entries: null }
}
