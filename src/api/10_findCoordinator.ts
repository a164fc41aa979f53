/**
 * FindCoordinator (10): the node that coordinates a group. Served v0–6 (v0 because librdkafka before 2.12 compresses only when
 * it is shown).
 *
 * - Key type 0, groups: the owner of the group's shard (L19); COORDINATOR_NOT_AVAILABLE while nobody live owns it.
 * - Key type 1, transactional ids: the owner of the id's shard. Any pod could serve it, as only the metadata log decides.
 * - Key type 2, share groups, and any other: INVALID_REQUEST.
 *
 * v1 key types and a message · v3 flexible · v4 many keys, each with its error (KIP-699) · v5 TRANSACTION_ABORTABLE · v6 share groups.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { shardOf } from '../metadata/state/shards.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts, NodeEndpoint } from './parts.ts'
import { servesTransactions } from './support/transactions.ts'

export default serve(10, { min: 0, max: 6 }, { handle, fail })

type Request = RequestOf<10>

const GROUP = 0
const TRANSACTION = 1

interface Found {
  readonly errorCode: number
  readonly errorMessage: string | null
  readonly nodeId: number
  readonly host: string
  readonly port: number
}

function handle(request: Request, context: RequestContext, parts: ApiParts): ResponseOf<10> {
  return answer(request, context, (key) => find(key, request.keyType, context, parts))
}

function find(key: string, keyType: number, context: RequestContext, parts: ApiParts): Found {
  if (keyType === TRANSACTION && !servesTransactions(parts))
    return nowhere(Errors.COORDINATOR_NOT_AVAILABLE, 'Transactions are served once every node has been upgraded.')
  if (keyType !== GROUP && keyType !== TRANSACTION)
    return nowhere(Errors.INVALID_REQUEST, `Coordinators of key type ${keyType} are not served.`)
  const owner = ownerOf(key, context, parts)
  if (owner === null) return nowhere(Errors.COORDINATOR_NOT_AVAILABLE, 'The shard of this id has no owner yet.')
  return { errorCode: Errors.NONE, errorMessage: null, nodeId: owner.nodeId, host: owner.host, port: owner.port }
}

function ownerOf(groupId: string, context: RequestContext, parts: ApiParts): NodeEndpoint | null {
  const { state, incarnation, nodeId } = parts.metadata
  const { owner } = state.shard(shardOf(groupId))
  const nodes = parts.nodes(context.connection.listener)
  if (owner === incarnation) return nodes.find((node) => node.nodeId === nodeId) ?? null
  for (const pod of state.pods()) {
    if (pod.incarnation === owner && pod.live) return nodes.find((node) => node.nodeId === pod.nodeId) ?? null
  }
  return null
}

function nowhere(errorCode: number, errorMessage: string | null): Found {
  return { errorCode, errorMessage, nodeId: -1, host: '', port: -1 }
}

function answer(request: Request, context: RequestContext, find: (key: string) => Found): ResponseOf<10> {
  if (context.version >= 4) return { throttleTimeMs: 0, coordinators: request.coordinatorKeys.map((key) => ({ key, ...find(key) })) }
  return { throttleTimeMs: 0, ...find(request.key) }
}

function fail(request: Request, error: number, context: RequestContext): ResponseOf<10> {
  return answer(request, context, () => nowhere(error, null))
}
