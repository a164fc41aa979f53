/**
 * DescribeTransactions (65): state of transactional ids (KIP-664). Served v0.
 *
 * - State (Empty, Ongoing, CompleteCommit, CompleteAbort: there is nothing in between), timeout, start of the running transaction
 *   or -1, producer id and epoch, and the partitions of the running transaction; those of group offsets are not partitions here.
 * - An unknown id: TRANSACTIONAL_ID_NOT_FOUND; an empty one: INVALID_REQUEST.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import type { StateView } from '../metadata/view.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'

export default serve(65, { min: 0, max: 0 }, { handle, fail })

type Request = RequestOf<65>
type Described = ResponseOf<65>['transactionStates'][number]

async function handle(request: Request, _context: RequestContext, parts: ApiParts): Promise<ResponseOf<65>> {
  await parts.metadata.barrier()
  return { throttleTimeMs: 0, transactionStates: request.transactionalIds.map((id) => describe(id, parts.metadata.state)) }
}

function describe(transactionalId: string, state: StateView): Described {
  if (transactionalId === '') return unknown(transactionalId, Errors.INVALID_REQUEST)
  const row = state.transaction(transactionalId)
  if (row === null) return unknown(transactionalId, Errors.TRANSACTIONAL_ID_NOT_FOUND)
  const topics = new Map<string, number[]>()
  for (const [number, partition] of row.partitions()) {
    const topic = state.topicByNumber(number)?.name
    if (topic === undefined) continue
    const partitions = topics.get(topic)
    if (partitions === undefined) topics.set(topic, [partition])
    else partitions.push(partition)
  }
  return {
    errorCode: Errors.NONE,
    transactionalId,
    transactionState: row.status,
    transactionTimeoutMs: row.timeoutMs,
    transactionStartTimeMs: row.startMs,
    producerId: row.producerId,
    producerEpoch: row.producerEpoch,
    topics: Array.from(topics, ([topic, partitions]) => ({ topic, partitions })),
  }
}

function unknown(transactionalId: string, errorCode: number): Described {
  const nothing = { transactionState: '', transactionTimeoutMs: 0, transactionStartTimeMs: 0, producerId: 0, producerEpoch: 0, topics: [] }
  return { errorCode, transactionalId, ...nothing }
}

function fail(request: Request, error: number): ResponseOf<65> {
  return { throttleTimeMs: 0, transactionStates: request.transactionalIds.map((id) => unknown(id, error)) }
}
