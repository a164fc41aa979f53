import { errorName, Errors } from '../../../protocol/index.ts'
import type { SentBatch, Transaction } from '../judge/history.ts'
import { Endpoint, type Cluster } from './cluster.ts'
import { sendBatch } from './producer.ts'

interface InitResponse {
  readonly errorCode: number
  readonly producerId?: number
  readonly producerEpoch?: number
}

const TIMEOUT_MS = 20_000
/** How often an end whose answer was lost is asked for again; after that its outcome is unknown. */
const END_TRIES = 30

/**
 * Writes transactions over all partitions, commits most and aborts some. Any trouble with a batch ends the transaction: the
 * next InitProducerId aborts it. The end itself is asked for until it is answered.
 */
export class TransactionalProducer {
  readonly #cluster: Cluster
  readonly #endpoint: Endpoint
  readonly #id: number
  #next = 0
  #producerId = -1
  #epoch = -1
  #sequences = new Map<number, number>()

  constructor(cluster: Cluster, id: number) {
    this.#cluster = cluster
    this.#endpoint = new Endpoint(cluster)
    this.#id = id
  }

  async run(): Promise<void> {
    const { world } = this.#cluster
    while (!this.#cluster.draining) {
      await world.sleep(world.delay(80))
      if (this.#producerId < 0) await this.#register()
      else await this.#transaction()
    }
  }

  async #register(): Promise<void> {
    const connection = this.#endpoint.connect()
    if (connection === null) return
    const transactionalId = `t-${this.#id}`
    const request = {
      transactionalId,
      transactionTimeoutMs: TIMEOUT_MS,
      producerId: -1,
      producerEpoch: -1,
      enable2Pc: false,
      keepPreparedTxn: false,
    }
    const reply = await connection.call(22, 5, request, (response: InitResponse) => response)
    this.#cluster.operations++
    if (reply.kind !== 'answer' || reply.value.errorCode !== Errors.NONE) return this.#endpoint.leave()
    this.#producerId = reply.value.producerId!
    this.#epoch = reply.value.producerEpoch!
    this.#sequences.clear()
  }

  async #transaction(): Promise<void> {
    const { world, history } = this.#cluster
    const transaction: Transaction = { id: `t-${this.#id}/${this.#next}`, state: 'open' }
    history.transactions++
    const batches: SentBatch[] = []
    let isFine = true
    for (let count = 1 + world.below(3); count > 0 && isFine; count--) isFine = await this.#batch(transaction, batches)
    const isCommit = isFine && world.chance(0.7)
    if (!isFine && world.chance(0.5)) {
      // leaves it to the next registration, which aborts what runs
      transaction.state = 'aborted'
      this.#producerId = -1
      return
    }
    transaction.state = 'unknown'
    const outcome = await this.#end(isCommit)
    if (outcome === Errors.NONE) transaction.state = isCommit ? 'committed' : 'aborted'
    world.note(`transaction ${transaction.id} ${isCommit ? 'commit' : 'abort'}: ${outcome < 0 ? 'lost' : errorName(outcome)}`)
    if (outcome !== Errors.NONE) this.#producerId = -1
  }

  async #batch(transaction: Transaction, batches: SentBatch[]): Promise<boolean> {
    const { world, history, partitions } = this.#cluster
    const connection = this.#endpoint.connect()
    if (connection === null) return false
    const partition = world.below(partitions)
    const count = 1 + world.below(3)
    const batch = history.sent(this.#id, partition, this.#next, count, true, transaction)
    this.#next += count
    batches.push(batch)
    const sequence = this.#sequences.get(partition) ?? 0
    this.#sequences.set(partition, sequence + count)
    const ids = { producerId: this.#producerId, epoch: this.#epoch, sequence, codec: 0, transactionalId: `t-${this.#id}` }
    const reply = await sendBatch(this.#cluster, connection, batch, ids)
    if (reply.kind === 'answer' && reply.value.error === Errors.NONE) {
      history.acked(batch, reply.value.baseOffset)
      return true
    }
    this.#endpoint.leave()
    return false
  }

  /** The code of the answer, or -1 when there was none. */
  async #end(committed: boolean): Promise<number> {
    const { world } = this.#cluster
    for (let left = END_TRIES; left > 0; left--) {
      const connection = this.#endpoint.connect()
      if (connection === null) {
        await world.sleep(100)
        continue
      }
      const request = { transactionalId: `t-${this.#id}`, producerId: this.#producerId, producerEpoch: this.#epoch, committed }
      const reply = await connection.call(26, 5, request, (response: InitResponse) => response)
      this.#cluster.operations++
      if (reply.kind === 'answer') {
        const { errorCode, producerId, producerEpoch } = reply.value
        if (errorCode === Errors.NONE) {
          this.#producerId = producerId!
          this.#epoch = producerEpoch!
          this.#sequences.clear()
          return errorCode
        }
        if (!UNSURE.has(errorCode)) return errorCode
      }
      this.#endpoint.leave()
      await world.sleep(world.delay(100))
    }
    return -1
  }
}

/** Codes after which the same end is asked for again. */
const UNSURE = new Set<number>([
  Errors.COORDINATOR_NOT_AVAILABLE,
  Errors.NOT_COORDINATOR,
  Errors.COORDINATOR_LOAD_IN_PROGRESS,
  Errors.CONCURRENT_TRANSACTIONS,
  Errors.REQUEST_TIMED_OUT,
  Errors.KAFKA_STORAGE_ERROR,
])
