/**
 * ListTransactions (66): transactional ids by state, producer id, duration and name (KIP-664). Served v0–2.
 *
 * - Filters go together; an empty one lets everything through. States that there are not are answered as unknown filters.
 * - Duration (v1, KIP-994): transactions that run for longer; -1 all. Pattern (v2): RE2 syntax, as Kafka's, over the whole id; one that
 *   cannot be read: INVALID_REGULAR_EXPRESSION.
 * - Every node lists every transactional id whose shard it owns, so that a client that asks all nodes gets each once.
 *
 * v1 duration · v2 pattern.
 */
import { RE2JS } from 're2js'
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { shardOf } from '../metadata/state/shards.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'

export default serve(66, { min: 0, max: 2 }, { handle, fail })

type Request = RequestOf<66>

/** K: TransactionState; those between Ongoing and Complete… are known, and never seen. */
const STATES = new Set([
  'Empty',
  'Ongoing',
  'PrepareCommit',
  'PrepareAbort',
  'CompleteCommit',
  'CompleteAbort',
  'Dead',
  'PrepareEpochFence',
])
const PATTERN_MAX_LENGTH = 1000

async function handle(request: Request, _context: RequestContext, parts: ApiParts): Promise<ResponseOf<66>> {
  await parts.metadata.barrier()
  const { stateFilters, producerIdFilters, durationFilter, transactionalIdPattern } = request
  const pattern = patternOf(transactionalIdPattern)
  if (pattern === undefined) return fail(request, Errors.INVALID_REGULAR_EXPRESSION)
  const states = new Set(stateFilters)
  const producerIds = new Set(producerIdFilters)
  const known = stateFilters.some((name) => STATES.has(name))
  const { state, incarnation } = parts.metadata
  const nowMs = parts.clock.wallMs()
  const transactionStates = []
  for (const row of state.transactions()) {
    if (state.shard(shardOf(row.transactionalId)).owner !== incarnation) continue
    if (stateFilters.length > 0 && !(known && states.has(row.status))) continue
    if (producerIds.size > 0 && !producerIds.has(row.producerId)) continue
    if (durationFilter >= 0 && (row.startMs < 0 || nowMs - row.startMs <= durationFilter)) continue
    if (pattern !== null && !pattern.matches(row.transactionalId)) continue
    transactionStates.push({ transactionalId: row.transactionalId, producerId: row.producerId, transactionState: row.status })
  }
  const unknownStateFilters = stateFilters.filter((name) => !STATES.has(name))
  return { throttleTimeMs: 0, errorCode: Errors.NONE, unknownStateFilters, transactionStates }
}

/** null for none, undefined for one that cannot be read. */
function patternOf(text: string | null): RE2JS | null | undefined {
  if (text === null || text === '') return null
  if (text.length > PATTERN_MAX_LENGTH) return undefined
  try {
    return RE2JS.compile(text)
  } catch {
    return undefined
  }
}

function fail(_request: Request, errorCode: number): ResponseOf<66> {
  return { throttleTimeMs: 0, errorCode, unknownStateFilters: [], transactionStates: [] }
}
