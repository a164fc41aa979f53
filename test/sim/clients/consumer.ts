import { errorName, Errors } from '../../../protocol/index.ts'
import { decodeBatches, type ReadBatches, type ReadRecord } from './batch.ts'
import { Endpoint, type Cluster } from './cluster.ts'
import type { Connection } from './connection.ts'

interface Aborted {
  readonly producerId: number
  readonly firstOffset: number
}

interface FetchResponse {
  readonly responses: readonly {
    readonly partitions: readonly {
      readonly partitionIndex: number
      readonly errorCode: number
      readonly highWatermark: number
      readonly logStartOffset?: number
      readonly lastStableOffset?: number
      readonly abortedTransactions?: readonly Aborted[] | null
      readonly records: readonly Uint8Array[] | Uint8Array | null
    }[]
  }[]
}

interface Fetched {
  readonly partition: number
  readonly error: number
  readonly highWatermark: number
  readonly logStartOffset: number
  readonly lastStableOffset: number
  readonly aborted: readonly Aborted[]
  readonly read: ReadBatches | string
}

export interface Reading {
  readonly waitMs: number
  /** read_committed. */
  readonly isCommitted: boolean
  /** Takes the values that were given to the reader. */
  readonly delivered?: Set<string>
}

/** What a fetch of some partitions gave, checked against what is known; moves the positions. */
export async function fetchInto(
  cluster: Cluster,
  connection: Connection,
  positions: Map<number, number>,
  by: string,
  how: Reading,
): Promise<boolean> {
  const { world, topicId } = cluster
  const asked = [...positions]
  const partitionMaxBytes = world.pick([200, 1000, 10_000, 100_000])
  const partitions = asked.map(([partition, fetchOffset]) => {
    return { partition, currentLeaderEpoch: -1, fetchOffset, lastFetchedEpoch: -1, logStartOffset: -1, partitionMaxBytes }
  })
  const request = {
    replicaId: -1,
    maxWaitMs: how.waitMs,
    minBytes: 1,
    maxBytes: 1 << 20,
    isolationLevel: how.isCommitted ? 1 : 0,
    sessionId: 0,
    sessionEpoch: -1,
    topics: [{ topic: '', topicId, partitions }],
    forgottenTopicsData: [],
    rackId: '',
  }
  const reply = await connection.call(1, 13, request, (response: FetchResponse) => response.responses[0].partitions.map(take))
  cluster.operations++
  if (reply.kind !== 'answer') return false
  const from = new Map(asked)
  let fine = true
  for (const one of reply.value) if (!judge(cluster, connection, one, from.get(one.partition)!, positions, by, how)) fine = false
  return fine
}

function take(answer: FetchResponse['responses'][number]['partitions'][number]): Fetched {
  const { records } = answer
  const bytes = records === null ? new Uint8Array(0) : records instanceof Uint8Array ? records : Buffer.concat(records)
  return {
    partition: answer.partitionIndex,
    error: answer.errorCode,
    highWatermark: answer.highWatermark,
    logStartOffset: answer.logStartOffset ?? -1,
    lastStableOffset: answer.lastStableOffset ?? -1,
    aborted: answer.abortedTransactions ?? [],
    read: decodeBatches(bytes),
  }
}

/** False when the consumer should look for another pod. */
function judge(
  cluster: Cluster,
  connection: Connection,
  fetched: Fetched,
  from: number,
  positions: Map<number, number>,
  by: string,
  how: Reading,
): boolean {
  const { history, world } = cluster
  const { partition, error, highWatermark, lastStableOffset, read } = fetched
  const pod = connection.running.process.name
  const who = `${by} from ${pod}`
  const known = history.partitions[partition]
  if (error === Errors.OFFSET_OUT_OF_RANGE) {
    world.note(`${who}: partition ${partition} offset ${from} is out of range`)
    if (from >= known.trimAsked && (from <= known.ackedEnd || known.values.has(from)))
      history.wrong(
        'lost',
        `${who}: offset ${from} of partition ${partition} is out of range, though records up to ${known.ackedEnd} were acknowledged`,
      )
    positions.set(partition, Math.max(from, known.trimAsked))
    return true
  }
  if (error !== Errors.NONE) {
    world.note(`${who}: partition ${partition} at ${from}: ${errorName(error)}`)
    return false
  }
  const seen = connection.highWatermarks
  if (highWatermark < (seen.get(partition) ?? 0))
    history.wrong('stale', `${who}: the high watermark of partition ${partition} went back from ${seen.get(partition)} to ${highWatermark}`)
  seen.set(partition, highWatermark)
  if (typeof read === 'string') {
    history.wrong('error', `${who}: partition ${partition} at ${from}: ${read}`)
    return false
  }
  let next = from
  const isAborted = abortedBy(fetched.aborted)
  for (const record of read.records) {
    if (record.offset < next) {
      // the batch may begin before what was asked for
      if (next > from) history.wrong('reordered', `${who}: offset ${record.offset} of partition ${partition} comes after ${next - 1}`)
      isAborted(record)
      continue
    }
    history.passed(partition, next, record.offset, who)
    if (record.offset >= (how.isCommitted ? lastStableOffset : highWatermark))
      history.wrong(
        'unseen',
        `${who}: offset ${record.offset} of partition ${partition} is not below ${lastStableOffset}, ${highWatermark}`,
      )
    if (record.control >= 0) known.markers.add(record.offset)
    else if (!isAborted(record) || !how.isCommitted) deliver(cluster, partition, record, who, how)
    if (record.control >= 0) isAborted(record)
    next = record.offset + 1
  }
  if (read.nextOffset > next) history.passed(partition, next, read.nextOffset, who)
  next = Math.max(next, read.nextOffset)
  if (next > from) world.note(`${who}: partition ${partition} ${from} to ${next - 1}`)
  positions.set(partition, next)
  return true
}

function deliver(cluster: Cluster, partition: number, record: ReadRecord, who: string, how: Reading): void {
  const { history } = cluster
  history.seen(partition, record.offset, record.value, who)
  if (!how.isCommitted) return
  how.delivered?.add(record.value)
  const transaction = history.batchOf(record.value)?.transaction ?? null
  if (transaction !== null && (transaction.state === 'aborted' || transaction.state === 'open'))
    history.wrong('aborted', `${who}: ${record.value} of ${transaction.id}, which is ${transaction.state}, was read as committed`)
}

/** As clients do it (KIP-98): true for records of aborted transactions; control records end them. */
function abortedBy(aborted: readonly Aborted[]): (record: ReadRecord) => boolean {
  const waiting = aborted.toSorted((a, b) => a.firstOffset - b.firstOffset)
  const active = new Set<number>()
  return (record) => {
    while (waiting.length > 0 && waiting[0].firstOffset <= record.offset) active.add(waiting.shift()!.producerId)
    if (record.control === 0) active.delete(record.producerId)
    return record.isTransactional && active.has(record.producerId)
  }
}

/** Reads on, now and then begins anew somewhere, changes pods when it likes. */
export class Consumer {
  readonly #cluster: Cluster
  readonly #endpoint: Endpoint
  readonly #name: string
  readonly #isCommitted: boolean
  readonly #positions = new Map<number, number>()

  constructor(cluster: Cluster, id: number) {
    this.#cluster = cluster
    this.#endpoint = new Endpoint(cluster)
    this.#name = `consumer ${id}`
    this.#isCommitted = id % 2 === 1
    for (let partition = 0; partition < cluster.partitions; partition++) this.#positions.set(partition, 0)
  }

  async run(): Promise<void> {
    const { world, history } = this.#cluster
    while (!this.#cluster.draining) {
      await world.sleep(world.delay(60))
      const connection = this.#endpoint.connect()
      if (connection === null) continue
      if (world.chance(0.03)) {
        for (const partition of this.#positions.keys()) {
          const known = history.partitions[partition]
          this.#positions.set(partition, known.trimAsked + world.below(Math.max(1, known.ackedEnd - known.trimAsked)))
        }
      }
      const how = { waitMs: world.pick([0, 100, 400]), isCommitted: this.#isCommitted }
      const fine = await fetchInto(this.#cluster, connection, this.#positions, this.#name, how)
      if (!fine || world.chance(0.05)) this.#endpoint.leave()
    }
  }
}
