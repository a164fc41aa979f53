import { errorName, Errors } from '../../../protocol/index.ts'
import type { SentBatch } from '../judge/history.ts'
import { encodeBatch } from './batch.ts'
import { Endpoint, type Cluster } from './cluster.ts'
import { START_WALL_MS } from '../world/world.ts'
import type { Connection, Reply } from './connection.ts'

const MAX_IN_FLIGHT = 5
const BACKOFF_MS = 60
/** Refusals in a row of the first unanswered batch after which it counts as refused for good. */
const REFUSALS_MAX = 25

/** Codes after which an idempotent producer sends the same batch again. */
const RETRIABLE = new Set<number>([
  Errors.KAFKA_STORAGE_ERROR,
  Errors.REQUEST_TIMED_OUT,
  Errors.NOT_LEADER_OR_FOLLOWER,
  Errors.UNKNOWN_TOPIC_OR_PARTITION,
  Errors.UNKNOWN_TOPIC_ID,
  Errors.COORDINATOR_NOT_AVAILABLE,
  Errors.NOT_COORDINATOR,
  Errors.THROTTLING_QUOTA_EXCEEDED,
])

interface Unanswered {
  readonly batch: SentBatch
  readonly sequence: number
  readonly codec: number
}

interface Outcome {
  readonly error: number
  readonly baseOffset: number
}

/** Produces to one partition of the topic and reports what it was told. */
export abstract class Producer {
  readonly id: number
  readonly partition: number
  protected readonly cluster: Cluster
  protected readonly endpoint: Endpoint
  protected next = 0

  constructor(cluster: Cluster, id: number, partition: number) {
    this.cluster = cluster
    this.id = id
    this.partition = partition
    this.endpoint = new Endpoint(cluster)
  }

  /** Its batches keep their order. */
  protected abstract readonly ordered: boolean

  abstract run(): Promise<void>

  /** A batch of a few records, noted as sent. */
  protected take(): SentBatch {
    const { world, history } = this.cluster
    const count = 1 + world.below(4)
    const batch = history.sent(this.id, this.partition, this.next, count, this.ordered)
    this.next += count
    return batch
  }
}

export interface ProducerIds {
  readonly producerId: number
  readonly epoch?: number
  readonly sequence: number
  readonly codec: number
  readonly transactionalId?: string
}

/** Produces one batch; what the pod told of it. */
export async function sendBatch(cluster: Cluster, connection: Connection, batch: SentBatch, ids: ProducerIds): Promise<Reply<Outcome>> {
  const { world, topicId } = cluster
  const { producerId, epoch = producerId < 0 ? -1 : 0, sequence, codec, transactionalId = null } = ids
  const values = Array.from({ length: batch.count }, (_, i) => `${batch.producer}/${batch.first + i}`)
  const timestampMs = START_WALL_MS + Math.floor(world.nowMs)
  const records = encodeBatch({ values, timestampMs, producerId, epoch, sequence, codec, transactional: transactionalId !== null })
  const partitionData = [{ index: batch.partition, records }]
  const request = { transactionalId, acks: -1, timeoutMs: 5000, topicData: [{ name: '', topicId, partitionData }] }
  const reply = await connection.call(0, 13, request, (response: ProduceResponse): Outcome => {
    const { errorCode, baseOffset } = response.responses[0].partitionResponses[0]
    return { error: errorCode, baseOffset }
  })
  cluster.operations++
  const told = reply.kind === 'answer' ? `${errorName(reply.value.error)} ${reply.value.baseOffset}` : reply.kind
  world.note(`producer ${batch.producer} ${batch.first}+${batch.count} to ${connection.running.process.name}: ${told}`)
  return reply
}

interface ProduceResponse {
  readonly responses: readonly { readonly partitionResponses: readonly { readonly errorCode: number; readonly baseOffset: number }[] }[]
}

/** Sends each batch once and never again: what was lost on the way may or may not be there. */
export class PlainProducer extends Producer {
  protected readonly ordered = false

  async run(): Promise<void> {
    const { world, history } = this.cluster
    while (!this.cluster.draining) {
      await world.sleep(world.delay(120))
      const connection = this.endpoint.connect()
      if (connection === null) continue
      const batch = this.take()
      const reply = await sendBatch(this.cluster, connection, batch, { producerId: -1, sequence: -1, codec: 0 })
      if (reply.kind === 'answer' && reply.value.error === Errors.NONE) history.acked(batch, reply.value.baseOffset)
      else this.endpoint.leave()
    }
  }
}

/** Idempotent: several requests in flight; after a failure all that is unanswered is sent again, in order, perhaps elsewhere. */
export class IdempotentProducer extends Producer {
  protected readonly ordered = true
  #producerId = -1
  #unanswered: Unanswered[] = []
  #sequence = 0
  #refusals = 0

  async run(): Promise<void> {
    const { world } = this.cluster
    while (!this.cluster.draining || this.#unanswered.length > 0) {
      await world.sleep(world.delay(this.#unanswered.length > 0 ? BACKOFF_MS : 40))
      const connection = this.endpoint.connect()
      if (connection === null) continue
      if (this.#producerId < 0 && !(await this.#register(connection))) continue
      await this.#pipeline(connection)
    }
  }

  async #register(connection: Connection): Promise<boolean> {
    const request = {
      transactionalId: null,
      transactionTimeoutMs: 0,
      producerId: -1,
      producerEpoch: -1,
      enable2Pc: false,
      keepPreparedTxn: false,
    }
    const reply = await connection.call(22, 5, request, (response: { errorCode: number; producerId: number }) => response)
    this.cluster.operations++
    if (reply.kind === 'answer' && reply.value.errorCode === Errors.NONE) this.#producerId = reply.value.producerId
    else this.endpoint.leave()
    return this.#producerId >= 0
  }

  /** One burst: everything unanswered again, then new batches behind it, as long as nothing fails. */
  async #pipeline(connection: Connection): Promise<void> {
    const { world } = this.cluster
    const replies: Promise<boolean>[] = []
    for (const one of this.#unanswered.slice()) replies.push(this.#deliver(connection, one))
    for (let burst = world.below(6); burst > 0 && !this.cluster.draining && this.#unanswered.length < MAX_IN_FLIGHT; burst--) {
      const batch = this.take()
      const one = { batch, sequence: this.#sequence, codec: world.chance(0.1) ? world.pick([1, 4]) : 0 }
      this.#sequence += batch.count
      this.#unanswered.push(one)
      replies.push(this.#deliver(connection, one))
      if (world.chance(0.5)) await world.sleep(world.delay(8))
      if (connection.closed) break
    }
    const fine = await Promise.all(replies)
    if (fine.includes(false)) this.endpoint.leave()
  }

  async #deliver(connection: Connection, one: Unanswered): Promise<boolean> {
    const { history } = this.cluster
    const { batch, sequence, codec } = one
    const reply = await sendBatch(this.cluster, connection, batch, { producerId: this.#producerId, sequence, codec })
    if (reply.kind !== 'answer') return false
    const { error, baseOffset } = reply.value
    if (error === Errors.NONE) {
      this.#refusals = 0
      history.acked(batch, baseOffset)
      this.#unanswered = this.#unanswered.filter((other) => other !== one)
      return true
    }
    // Batches behind one that failed are out of order, and come again behind it; the first one must pass in the end.
    if (this.#unanswered[0] === one && !RETRIABLE.has(error) && ++this.#refusals === REFUSALS_MAX) {
      history.wrong('error', `${batch.producer}/${batch.first} is refused for good: ${errorName(error)}`)
    }
    return false
  }
}
