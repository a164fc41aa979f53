/**
 * Produce (0): appends record batches to partitions. Served v3–13, advertised from 0.
 *
 * - v0–2 are shown and refused: librdkafka before 2.11.1 looks for v0 before it compresses (KAFKA-18659).
 * - acks 0: no answer at all, and on any error the connection is closed (K: KafkaApis.handleProduceRequest). acks other than
 *   -1, 0, 1: INVALID_REQUIRED_ACKS for every partition. acks 1 is served like all: nothing is acknowledged before it is durable.
 * - Every partition succeeds or fails by itself; a refused batch says why (v8: record_errors, error_message; KIP-467).
 * - Everything up to the append runs synchronously: batches of a connection reach the sequencer in order (L12). A topic that is
 *   not known is looked for in the log first, as another pod may have made it just now; what comes behind waits.
 * - The timestamp and the log start offset of the answer are those the sequencer gave; of a duplicate, the original ones.
 * - Transactional batches need a transactional id, else TRANSACTIONAL_ID_AUTHORIZATION_FAILED for all, and are of one producer, else
 *   INVALID_PRODUCER_ID_MAPPING for all (K: KafkaApis, ReplicaManager). The sequencer checks each against its transaction (KIP-890): up
 *   to v11 its partition must have been added, else TRANSACTION_ABORTABLE (before v11 INVALID_TXN_STATE); from v12 on the append adds it.
 * - Storage failures are retriable codes (support/failures.ts).
 *
 * v5 log start offset · v7 zstd · v8 record errors · v9 flexible · v10 current leader (KIP-951: never needed, every node serves
 * every partition) · v11, v12 transactions (KIP-890) · v13 topic ids: an unknown one is UNKNOWN_TOPIC_ID.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import type { AppendedBatch } from '../wal/port.ts'
import type { Refusal, Validated } from '../log/validate.ts'
import { CloseConnection, serve, type Connection, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { storageFailure } from './support/failures.ts'
import { findTopic } from './support/topics.ts'
import { servesTransactions } from './support/transactions.ts'

export default serve(0, { min: 3, max: 13, advertisedMin: 0 }, { handle, fail })

type Request = RequestOf<0>
type Topic = Request['topicData'][number]
type PartitionAnswer = ResponseOf<0>['responses'][number]['partitionResponses'][number]
type AppendItem = Parameters<ApiParts['log']['append']>[0][number]

/** One partition of the request: an answer already known, or the place of its batch in the append. */
type Outcome = { readonly answer: PartitionAnswer } | { readonly at: number; refusal: Refusal | null }

/** Connections with requests that look for a topic, and the last of these: what comes behind it waits for it (L12). */
const looking = new WeakMap<Connection, Promise<void>>()

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<0> | null> {
  if (request.acks < -1 || request.acks > 1) return fail(request, Errors.INVALID_REQUIRED_ACKS, context)
  if (looking.has(context.connection) || namesUnknown(request, context, parts)) await look(request, context, parts)
  const items: AppendItem[] = []
  const outcomes = request.topicData.map((topic) =>
    topic.partitionData.map((partition) => prepare(topic, partition, context.version, items, parts)),
  )
  const wrong = transactionError(request, items, parts)
  if (wrong !== Errors.NONE) return answered(request, context, refuseAll(request, wrong, null))
  const { batches, throttleMs } = await append(items, parts)
  const answers = request.topicData.map((topic, t) =>
    topic.partitionData.map((partition, p) => toAnswer(partition.index, outcomes[t][p], batches, context.version)),
  )
  return answered(request, context, answers, throttleMs)
}

/** Another pod may have made a topic that is not known here (L8); then batches behind must not overtake the first one. */
async function look(request: Request, context: RequestContext, parts: ApiParts): Promise<void> {
  const before = looking.get(context.connection) ?? Promise.resolve()
  const turn = before.then(() => (namesUnknown(request, context, parts) ? parts.metadata.barrier() : undefined))
  looking.set(context.connection, turn)
  try {
    await turn
  } finally {
    if (looking.get(context.connection) === turn) looking.delete(context.connection)
  }
}

function namesUnknown(request: Request, { version }: RequestContext, parts: ApiParts): boolean {
  return request.topicData.some((topic) => typeof topicOf(topic, version, parts) === 'number')
}

function topicOf(topic: Topic, version: number, parts: ApiParts): ReturnType<typeof findTopic> {
  return findTopic(parts.metadata.state, version >= 13 ? { byId: true, topicId: topic.topicId } : { byId: false, name: topic.name })
}

function prepare(topic: Topic, partition: Topic['partitionData'][number], version: number, items: AppendItem[], parts: ApiParts): Outcome {
  const { index, records } = partition
  const found = topicOf(topic, version, parts)
  if (typeof found === 'number') return { answer: errorAnswer(index, found) }
  if (index < 0 || index >= found.partitions) return { answer: errorAnswer(index, Errors.UNKNOWN_TOPIC_OR_PARTITION) }
  const checked = parts.validateProduce(found, records, version)
  if (!isValidated(checked)) return { answer: refusalAnswer(index, checked) }
  const outcome: Outcome = { at: items.length, refusal: null }
  const ready = checked.ready?.then(
    (result) => {
      if (result.error !== Errors.NONE) outcome.refusal = result
      return result.error
    },
    // It may fail before the log listens, so it must not reject.
    (failure: unknown) => {
      parts.logger.warn(
        { err: failure, topic: found.name, partition: index },
        'a batch could not be validated; the producer is told to try again',
      )
      return Errors.KAFKA_STORAGE_ERROR
    },
  )
  items.push({ topic: found.topic, partition: index, batch: checked.batch, ready })
  return outcome
}

/** What is wrong with the transactional batches of a request as a whole, or NONE. */
function transactionError(request: Request, items: readonly AppendItem[], parts: ApiParts): number {
  let producerId = -1
  for (const { batch } of items) {
    if (!batch.transaction) continue
    if (request.transactionalId === null || !servesTransactions(parts)) return Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    if (producerId >= 0 && batch.producerId !== producerId) return Errors.INVALID_PRODUCER_ID_MAPPING
    producerId = batch.producerId
  }
  return Errors.NONE
}

function isValidated(checked: Validated | Refusal): checked is Validated {
  return 'batch' in checked
}

async function append(
  items: readonly AppendItem[],
  parts: ApiParts,
): Promise<{ readonly batches: readonly AppendedBatch[]; readonly throttleMs: number }> {
  if (items.length === 0) return { batches: [], throttleMs: 0 }
  try {
    return await parts.log.append(items)
  } catch (failure) {
    const error = storageFailure(failure)
    if (error === Errors.UNKNOWN_SERVER_ERROR) throw failure
    // one line each, without a stack: on a full disk there are many
    parts.logger.warn({ reason: String(failure), batches: items.length }, 'records could not be stored; producers are told to try again')
    return { batches: items.map(() => ({ error, baseOffset: -1, appendTimeMs: -1, logStartOffset: -1 })), throttleMs: 0 }
  }
}

function toAnswer(index: number, outcome: Outcome, batches: readonly AppendedBatch[], version: number): PartitionAnswer {
  if ('answer' in outcome) return outcome.answer
  const { error, baseOffset, appendTimeMs, logStartOffset } = batches[outcome.at]
  if (outcome.refusal !== null && error === outcome.refusal.error) return refusalAnswer(index, outcome.refusal)
  const errorCode = error === Errors.TRANSACTION_ABORTABLE && version < 11 ? Errors.INVALID_TXN_STATE : error
  return { index, errorCode, baseOffset, logAppendTimeMs: appendTimeMs, logStartOffset }
}

function errorAnswer(index: number, error: number): PartitionAnswer {
  return { index, errorCode: error, baseOffset: -1 }
}

function refusalAnswer(index: number, refusal: Refusal): PartitionAnswer {
  const recordErrors = refusal.recordErrors.map((record) => ({ batchIndex: record.index, batchIndexErrorMessage: record.message }))
  return { index, errorCode: refusal.error, baseOffset: -1, recordErrors, errorMessage: refusal.message }
}

function refuseAll(request: Request, error: number, errorMessage: string | null): PartitionAnswer[][] {
  return request.topicData.map((topic) =>
    topic.partitionData.map(({ index }) => ({ index, errorCode: error, baseOffset: -1, errorMessage })),
  )
}

function answered(
  request: Request,
  context: RequestContext,
  answers: readonly PartitionAnswer[][],
  throttleTimeMs = 0,
): ResponseOf<0> | null {
  if (request.acks === 0) {
    const failed = answers.flat().find((answer) => answer.errorCode !== Errors.NONE)
    if (failed !== undefined) throw new CloseConnection(`a batch sent with acks 0 was refused with error ${failed.errorCode}`)
    return null
  }
  const byId = context.version >= 13
  return {
    responses: request.topicData.map((topic, t) => ({
      ...(byId ? { topicId: topic.topicId } : { name: topic.name }),
      partitionResponses: answers[t],
    })),
    throttleTimeMs,
  }
}

function fail(request: Request, error: number, context: RequestContext): ResponseOf<0> | null {
  return answered(request, context, refuseAll(request, error, null))
}
