/**
 * AddPartitionsToTxn (24): names the partitions that a transaction is about to write to. Served v0–5.
 *
 * - A transactional id that is not there, or has another producer id: INVALID_PRODUCER_ID_MAPPING; another epoch: PRODUCER_FENCED
 *   (before v2 INVALID_PRODUCER_EPOCH); an empty one: INVALID_REQUEST. The code stands at every partition.
 * - A partition that is not there: UNKNOWN_TOPIC_OR_PARTITION, and OPERATION_NOT_ATTEMPTED at the others of the transaction.
 * - What was added before is added again without effect. Never CONCURRENT_TRANSACTIONS: a transaction ends in one step.
 * - v4 and v5 are for brokers; some clients send them. Several transactions, each with results of its own. `verifyOnly` asks
 *   whether a partition is in the transaction: TRANSACTION_ABORTABLE where not (v4: INVALID_TXN_STATE).
 *
 * v3 flexible · v4 many transactions, verifyOnly · v5 TRANSACTION_ABORTABLE (KIP-890).
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { fencedFor, proposeTransaction, servesTransactions } from './support/transactions.ts'

export default serve(24, { min: 0, max: 5 }, { handle, fail })

type Request = RequestOf<24>
type Topics = Request['v3AndBelowTopics']
type TopicResults = NonNullable<ResponseOf<24>['resultsByTopicV3AndBelow']>

interface Asked {
  readonly transactionalId: string
  readonly producerId: number
  readonly producerEpoch: number
  readonly verifyOnly: boolean
  readonly topics: Topics
}

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<24>> {
  if (context.version >= 4) {
    const resultsByTransaction = []
    for (const asked of request.transactions)
      resultsByTransaction.push({ transactionalId: asked.transactionalId, topicResults: await add(asked, context, parts) })
    return { throttleTimeMs: 0, errorCode: Errors.NONE, resultsByTransaction }
  }
  return { throttleTimeMs: 0, resultsByTopicV3AndBelow: await add(single(request), context, parts) }
}

function single(request: Request): Asked {
  return {
    transactionalId: request.v3AndBelowTransactionalId,
    producerId: request.v3AndBelowProducerId,
    producerEpoch: request.v3AndBelowProducerEpoch,
    verifyOnly: false,
    topics: request.v3AndBelowTopics,
  }
}

async function add(asked: Asked, context: RequestContext, parts: ApiParts): Promise<TopicResults> {
  const { transactionalId, producerId, producerEpoch, topics } = asked
  if (transactionalId === '') return everywhere(topics, () => Errors.INVALID_REQUEST)
  if (!servesTransactions(parts)) return everywhere(topics, () => Errors.COORDINATOR_NOT_AVAILABLE)
  const { state } = parts.metadata
  const isThere = (name: string, partition: number): boolean => {
    const topic = state.topicByName(name)
    return topic !== null && partition >= 0 && partition < topic.partitions
  }
  if (topics.some(({ name, partitions }) => partitions.some((partition) => !isThere(name, partition)))) {
    return everywhere(topics, (name, partition) =>
      isThere(name, partition) ? Errors.OPERATION_NOT_ATTEMPTED : Errors.UNKNOWN_TOPIC_OR_PARTITION,
    )
  }
  if (producerId < 0) return everywhere(topics, () => Errors.INVALID_PRODUCER_ID_MAPPING)
  if (producerEpoch < 0) return everywhere(topics, () => fencedFor(Errors.PRODUCER_FENCED, context.version >= 2))
  if (asked.verifyOnly) return verify(asked, context, parts)
  const partitions = topics.flatMap(({ name, partitions: indexes }) =>
    indexes.map((partition) => ({ topic: state.topicByName(name)!.topic, partition })),
  )
  const own = { transactionalId, producerId, producerEpoch }
  const result = await proposeTransaction(parts, { kind: 'addToTransaction', ...own, partitions, groupId: '' })
  const error = fencedFor(result.error, context.version >= 2)
  return everywhere(topics, () => error)
}

async function verify(asked: Asked, context: RequestContext, parts: ApiParts): Promise<TopicResults> {
  await parts.metadata.barrier()
  const { state } = parts.metadata
  const row = state.transaction(asked.transactionalId)
  if (row === null || row.producerId !== asked.producerId) return everywhere(asked.topics, () => Errors.INVALID_PRODUCER_ID_MAPPING)
  if (row.producerEpoch !== asked.producerEpoch) return everywhere(asked.topics, () => Errors.PRODUCER_FENCED)
  const missing = context.version >= 5 ? Errors.TRANSACTION_ABORTABLE : Errors.INVALID_TXN_STATE
  return everywhere(asked.topics, (name, partition) => {
    const topic = state.topicByName(name)
    return topic !== null && row.has(topic.topic, partition) ? Errors.NONE : missing
  })
}

function everywhere(topics: Topics, errorOf: (name: string, partition: number) => number): TopicResults {
  return topics.map(({ name, partitions }) => ({
    name,
    resultsByPartition: partitions.map((partitionIndex) => ({ partitionIndex, partitionErrorCode: errorOf(name, partitionIndex) })),
  }))
}

function fail(request: Request, error: number, context: RequestContext): ResponseOf<24> {
  if (context.version >= 4) return { errorCode: error, resultsByTransaction: [], throttleTimeMs: 0 }
  return { throttleTimeMs: 0, resultsByTopicV3AndBelow: everywhere(request.v3AndBelowTopics, () => error) }
}
