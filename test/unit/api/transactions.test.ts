import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Errors } from '../../../protocol/index.ts'
import { setInt16, setInt32 } from '../../../protocol/records/bytes.ts'
import { batchBaseOffset, batchCrc, batchSizeBytes, isControl, readBatchHeader } from '../../../protocol/records/header.ts'
import { TransactionTimeouts } from '../../../src/log/transactionTimeouts.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { batchBytes } from '../wal/harness.ts'
import { apiWorld, fetchRequest, produceRequest, type ApiWorld } from './harness.ts'

let world: ApiWorld
let ids = 0
beforeAll(async () => {
  world = await apiWorld({ level: 2 })
})
afterAll(() => world.close())

interface Owner {
  readonly transactionalId: string
  producerId: number
  producerEpoch: number
}

async function init(transactionalId = `t${ids++}`, transactionTimeoutMs = 60_000): Promise<Owner> {
  const { errorCode, producerId, producerEpoch } = await world.call(22, 5, { transactionalId, transactionTimeoutMs })
  expect(errorCode).toBe(Errors.NONE)
  return { transactionalId, producerId, producerEpoch }
}

function batch(owner: Owner, sequence: number, count = 1): Uint8Array {
  const bytes = batchBytes({ producerId: owner.producerId, sequence, count })
  setInt16(bytes, 21, 0x10)
  setInt16(bytes, 51, owner.producerEpoch)
  setInt32(bytes, 17, batchCrc(bytes))
  return bytes
}

async function produce(owner: Owner, version: number, name: string, sequence: number, count = 1): Promise<number> {
  const request = produceRequest({ name }, batch(owner, sequence, count), { transactionalId: owner.transactionalId })
  return (await world.call(0, version, request)).responses[0].partitionResponses[0].errorCode
}

/** Ends the transaction by KIP-890 and takes the next epoch over. */
async function end(owner: Owner, committed: boolean): Promise<number> {
  const { transactionalId, producerId, producerEpoch } = owner
  const answer = await world.call(26, 5, { transactionalId, producerId, producerEpoch, committed })
  if (answer.errorCode === 0) Object.assign(owner, { producerId: answer.producerId, producerEpoch: answer.producerEpoch })
  return answer.errorCode
}

const add = async (owner: Owner, name: string, partitions = [0]): Promise<number> => {
  const request = {
    v3AndBelowTransactionalId: owner.transactionalId,
    v3AndBelowProducerId: owner.producerId,
    v3AndBelowProducerEpoch: owner.producerEpoch,
    v3AndBelowTopics: [{ name, partitions }],
  }
  return (await world.call(24, 3, request)).resultsByTopicV3AndBelow[0].resultsByPartition[0].partitionErrorCode
}

async function topic(): Promise<string> {
  const name = `topic-${ids++}`
  await world.call(19, 7, { topics: [{ name, numPartitions: 2, replicationFactor: 1, assignments: [], configs: [] }], timeoutMs: 1 })
  return name
}

async function fetched(name: string, isolationLevel: number, offset = 0) {
  const request = fetchRequest({ topic: name }, offset, { isolationLevel, maxWaitMs: 0, minBytes: 0 })
  const { records: bytes, ...rest } = (await world.call(1, 12, request)).responses[0].partitions[0]
  const batches: string[] = []
  const records = bytes ?? new Uint8Array(0)
  for (let at = 0; at < records.length; at += batchSizeBytes(records, at)) {
    const header = readBatchHeader(records, at)
    const type = isControl(header.attributes) ? (records[at + 61 + 3 + 5] === 1 ? 'commit' : 'abort') : 'data'
    batches.push(`${type}@${batchBaseOffset(records, at)}`)
  }
  return { ...rest, batches }
}

describe('a transaction by KIP-890', () => {
  it('is seen whole once it commits, by markers made when served; the next one has the next epoch', async () => {
    const name = await topic()
    const owner = await init()
    expect(await produce(owner, 12, name, 0, 3)).toBe(0)
    expect(await fetched(name, 1)).toMatchObject({ highWatermark: 3, lastStableOffset: 0, batches: [] })
    expect(await fetched(name, 0)).toMatchObject({ highWatermark: 3, lastStableOffset: 0, batches: ['data@0'], abortedTransactions: null })
    const before = owner.producerEpoch
    expect(await end(owner, true)).toBe(0)
    expect(owner.producerEpoch).toBe(before + 1)
    expect(await fetched(name, 1)).toMatchObject({
      highWatermark: 4,
      lastStableOffset: 4,
      batches: ['data@0', 'commit@3'],
      abortedTransactions: [],
    })
    expect(await produce(owner, 12, name, 0)).toBe(0)
    // the old epoch is fenced, on this partition and on one it never wrote to
    expect(await produce({ ...owner, producerEpoch: before }, 12, name, 3)).toBe(Errors.INVALID_PRODUCER_EPOCH)
    expect(await produce({ ...owner, producerEpoch: before }, 12, await topic(), 0)).toBe(Errors.INVALID_PRODUCER_EPOCH)
    expect(await end(owner, false)).toBe(0)
    expect(await fetched(name, 1)).toMatchObject({
      batches: ['data@0', 'commit@3', 'data@4', 'abort@5'],
      abortedTransactions: [{ producerId: owner.producerId, firstOffset: 4 }],
    })
    // of what was aborted before the offset nothing is said
    expect(await fetched(name, 1, 6)).toMatchObject({ batches: [], abortedTransactions: [] })
  })

  it('a repeated end is known; the other result is not; an abort of nothing raises the epoch, a commit of nothing is refused', async () => {
    const owner = await init()
    await produce(owner, 12, await topic(), 0)
    const before = { ...owner }
    expect(await end(owner, true)).toBe(0)
    const again = { ...before }
    expect(await end(again, true)).toBe(0)
    expect(again).toEqual(owner)
    expect(await end({ ...before }, false)).toBe(Errors.INVALID_TXN_STATE)
    expect(await end({ ...owner }, true)).toBe(Errors.INVALID_TXN_STATE)
    const epoch = owner.producerEpoch
    expect(await end(owner, false)).toBe(0)
    expect(owner.producerEpoch).toBe(epoch + 1)
    expect(await end({ ...before }, true)).toBe(Errors.PRODUCER_FENCED)
    expect(await end({ ...owner, producerId: owner.producerId + 1000 }, true)).toBe(Errors.INVALID_PRODUCER_ID_MAPPING)
  })

  it('the first batch of an epoch has sequence 0', async () => {
    const owner = await init()
    expect(await produce(owner, 12, await topic(), 5)).toBe(Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)
  })

  it('when the epochs have run out the next transaction has another producer id, and a repeated end finds it', async () => {
    const name = await topic()
    const owner = await init()
    const row = world.engine.state.transaction(owner.transactionalId) as { producerEpoch: number }
    row.producerEpoch = owner.producerEpoch = 32_766
    await produce(owner, 12, name, 0)
    const before = { ...owner }
    expect(await end(owner, true)).toBe(0)
    expect(owner).toMatchObject({ producerEpoch: 0 })
    expect(owner.producerId).not.toBe(before.producerId)
    const again = { ...before }
    expect(await end(again, true)).toBe(0)
    expect(again).toEqual(owner)
    expect(await produce(before, 12, name, 1)).toBe(Errors.INVALID_PRODUCER_ID_MAPPING)
    expect(await produce(owner, 12, name, 0)).toBe(0)
    expect(await end(owner, true)).toBe(0)
  })
})

describe('a transaction by the older protocol', () => {
  it('takes the partitions that were added, and no others', async () => {
    const name = await topic()
    const owner = await init()
    expect(await produce(owner, 9, name, 0)).toBe(Errors.INVALID_TXN_STATE)
    expect(await produce(owner, 11, name, 0)).toBe(Errors.TRANSACTION_ABORTABLE)
    expect(await add(owner, name)).toBe(0)
    expect(await add(owner, name)).toBe(0)
    expect(await produce(owner, 9, name, 0)).toBe(0)
    const { transactionalId, producerId, producerEpoch } = owner
    const ended = (committed: boolean) => world.call(26, 3, { transactionalId, producerId, producerEpoch, committed })
    expect((await ended(true)).errorCode).toBe(0)
    expect((await ended(true)).errorCode).toBe(0)
    expect((await ended(false)).errorCode).toBe(Errors.INVALID_TXN_STATE)
    expect(await produce(owner, 9, name, 1)).toBe(Errors.INVALID_TXN_STATE)
    expect(await add(owner, name)).toBe(0)
    // sequences go on from one transaction to the next
    expect(await produce(owner, 9, name, 1)).toBe(0)
    expect((await ended(false)).errorCode).toBe(0)
    expect((await fetched(name, 1)).batches).toEqual(['data@0', 'commit@1', 'data@2', 'abort@3'])
  })

  it('an unknown partition fails all of its transaction', async () => {
    const owner = await init()
    const name = await topic()
    const { producerId, producerEpoch, transactionalId } = owner
    const topics = [{ name, partitions: [0, 7] }]
    const asked = { transactionalId, producerId, producerEpoch, verifyOnly: false, topics }
    const { resultsByTransaction } = await world.call(24, 4, { transactions: [asked] })
    expect(resultsByTransaction[0].topicResults[0].resultsByPartition.map((one) => one.partitionErrorCode)).toEqual([55, 3])
    expect(await add({ ...owner, producerId: producerId + 999 }, name)).toBe(Errors.INVALID_PRODUCER_ID_MAPPING)
    expect(await add({ ...owner, producerEpoch: producerEpoch + 1 }, name)).toBe(Errors.PRODUCER_FENCED)
  })

  it('verifyOnly says what is in the transaction and adds nothing', async () => {
    const owner = await init()
    const name = await topic()
    await add(owner, name, [0])
    const topics = [{ name, partitions: [0, 1] }]
    for (const [version, missing] of [
      [4, Errors.INVALID_TXN_STATE],
      [5, Errors.TRANSACTION_ABORTABLE],
    ]) {
      const { resultsByTransaction } = await world.call(24, version, { transactions: [{ ...owner, verifyOnly: true, topics }] })
      expect(resultsByTransaction[0].topicResults[0].resultsByPartition.map((one) => one.partitionErrorCode)).toEqual([0, missing])
    }
  })
})

describe('fencing', () => {
  it('a second producer with the id aborts what the first one has open, and the first one cannot go on', async () => {
    const name = await topic()
    const first = await init()
    await produce(first, 12, name, 0)
    const second = await init(first.transactionalId)
    expect(second.producerEpoch).toBe(first.producerEpoch + 2)
    expect((await fetched(name, 1)).batches).toEqual(['data@0', 'abort@1'])
    expect(await produce(first, 12, name, 1)).toBe(Errors.INVALID_PRODUCER_EPOCH)
    expect(await end(first, true)).toBe(Errors.PRODUCER_FENCED)
    const { transactionalId, producerId, producerEpoch } = first
    const again = { transactionalId, transactionTimeoutMs: 1000, producerId, producerEpoch }
    expect((await world.call(22, 4, again)).errorCode).toBe(Errors.PRODUCER_FENCED)
    expect((await world.call(22, 3, again)).errorCode).toBe(Errors.INVALID_PRODUCER_EPOCH)
    expect(await produce(second, 12, name, 0)).toBe(0)
    expect(await end(second, true)).toBe(0)
  })

  it('a producer that names its own epoch goes on, and a repeated call gets the same answer (KIP-360)', async () => {
    const owner = await init()
    const { transactionalId, producerId, producerEpoch } = owner
    const request = { transactionalId, transactionTimeoutMs: 1000, producerId, producerEpoch }
    const once = await world.call(22, 4, request)
    expect(once).toMatchObject({ errorCode: 0, producerId, producerEpoch: producerEpoch + 1 })
    expect(await world.call(22, 4, request)).toEqual(once)
  })

  it('bad timeouts, ids and halves of pairs are refused', async () => {
    const of = (more: object) => world.call(22, 4, { transactionalId: 'bad', transactionTimeoutMs: 1000, ...more })
    expect((await of({ transactionTimeoutMs: 0 })).errorCode).toBe(Errors.INVALID_TRANSACTION_TIMEOUT)
    expect((await of({ transactionTimeoutMs: 900_001 })).errorCode).toBe(Errors.INVALID_TRANSACTION_TIMEOUT)
    expect((await of({ transactionalId: '' })).errorCode).toBe(Errors.INVALID_REQUEST)
    expect((await of({ producerId: 5 })).errorCode).toBe(Errors.INVALID_REQUEST)
  })

  it('a transaction that runs for too long is aborted, its producer fenced', async () => {
    const name = await topic()
    const owner = await init(undefined, 5000)
    const { engine, clock } = world
    const timeouts = new TransactionTimeouts({ metadata: engine, clock, logger: silentLogger })
    await engine.propose({ kind: 'assignShards', shards: Array.from({ length: 64 }, (_, shard) => ({ shard, owner: engine.incarnation })) })
    await produce(owner, 12, name, 0)
    expect(await timeouts.pass()).toBe(0)
    clock.nowMs += 5001
    expect(await timeouts.pass()).toBe(1)
    expect((await fetched(name, 1)).batches).toEqual(['data@0', 'abort@1'])
    expect(await end(owner, true)).toBe(Errors.PRODUCER_FENCED)
    expect(await produce(owner, 12, name, 1)).toBe(Errors.INVALID_PRODUCER_EPOCH)
    clock.nowMs += 8 * 86_400_000
    await timeouts.pass()
    expect(engine.state.transaction(owner.transactionalId)).toBeNull()
  })
})
