import { altered, withPayload } from '../../limits/client.ts'
import type { Side } from '../side.ts'
import { batch, makeTopic, producerBatch, THEN_MS } from '../world.ts'
import type { Scenario } from './index.ts'

const NOWHERE = '11111111-2222-3333-4444-555555555555'

function produceOf(name: string, topicId: string, parts: readonly { index: number; records: Buffer | null }[], more: object = {}): object {
  return { acks: -1, timeoutMs: 30_000, transactionalId: null, topicData: [{ name, topicId, partitionData: parts }], ...more }
}

function fetchOf(topic: string, topicId: string, partitions: readonly object[], more: object = {}): object {
  return {
    maxWaitMs: 0,
    minBytes: 0,
    maxBytes: 1 << 20,
    isolationLevel: 0,
    sessionId: 0,
    sessionEpoch: -1,
    topics: [{ topic, topicId, partitions: partitions.map((partition) => ({ partitionMaxBytes: 1 << 20, fetchOffset: 0, ...partition })) }],
    forgottenTopicsData: [],
    ...more,
  }
}

async function produces(side: Side): Promise<void> {
  const topic = 'pf-produce'
  const id = await makeTopic(side, topic)
  const all = { min: 3, max: 13 }
  const one =
    (records: Buffer | null, more: object = {}) =>
    (): object =>
      produceOf(topic, id, [{ index: 0, records }], more)
  await side.askAll('one batch', 0, all, one(batch(['a', 'b'])))
  await side.askAll('acks 1', 0, all, one(batch(['a']), { acks: 1 }))
  await side.askAll('two partitions', 0, all, () =>
    produceOf(topic, id, [
      { index: 0, records: batch(['c']) },
      { index: 1, records: batch(['d']) },
    ]),
  )
  await side.askAll('a partition that is not there', 0, all, () =>
    produceOf(topic, id, [
      { index: 7, records: batch(['c']) },
      { index: 1, records: batch(['d']) },
    ]),
  )
  await side.askAll('a negative partition', 0, all, () => produceOf(topic, id, [{ index: -1, records: batch(['c']) }]))
  await side.askAll('an unknown topic', 0, all, () => produceOf('pf-nowhere', NOWHERE, [{ index: 0, records: batch(['c']) }]))
  await side.askAll('a bad topic name', 0, all, () => produceOf('a b', NOWHERE, [{ index: 0, records: batch(['c']) }]))
  await side.askAll('acks 2', 0, all, one(batch(['a']), { acks: 2 }))
  await side.askAll('acks -2', 0, all, one(batch(['a']), { acks: -2 }))
  await side.askAll('null records', 0, { min: 9, max: 13 }, one(null), 1000)
  await side.askAll('no records', 0, all, one(Buffer.alloc(0)))
  await side.askAll('no topics', 0, all, () => ({ acks: -1, timeoutMs: 1000, transactionalId: null, topicData: [] }))
  await side.askAll('no partitions', 0, all, () => produceOf(topic, id, []))
  await side.askAll('a transactional id without a transactional batch', 0, all, one(batch(['a']), { transactionalId: 'pf-none' }))
  for (const [name, records] of hostile()) {
    await side.ask(name, 0, 9, produceOf(topic, id, [{ index: 0, records }]))
    await side.ask(name, 0, 13, produceOf(topic, id, [{ index: 1, records }]))
  }
  await side.ask(
    'the end of it all',
    1,
    12,
    fetchOf(topic, id, [
      { partition: 0, fetchOffset: 0 },
      { partition: 1, fetchOffset: 0 },
    ]),
  )
}

function hostile(): [string, Buffer][] {
  const good = batch(['one', 'two'])
  const flip = (at: number): Buffer => {
    const bytes = Buffer.from(good)
    bytes[at]! ^= 0xff
    return bytes
  }
  return [
    ['a wrong CRC', flip(18)],
    ['a flipped record byte', flip(good.length - 2)],
    ['half a batch', good.subarray(0, 40)],
    ['a batch cut short', good.subarray(0, good.length - 3)],
    ['two batches', Buffer.concat([good, good])],
    ['bytes after the batch', Buffer.concat([good, Buffer.alloc(5)])],
    ['magic 1', altered(good, (bytes) => (bytes[16] = 1))],
    ['magic 0', altered(good, (bytes) => (bytes[16] = 0))],
    ['magic 3', altered(good, (bytes) => (bytes[16] = 3))],
    ['a negative length', altered(good, (bytes) => bytes.writeInt32BE(-1, 8))],
    ['a small length', altered(good, (bytes) => bytes.writeInt32BE(10, 8))],
    ['a control batch', altered(good, (bytes) => bytes.writeInt16BE(0x20, 21))],
    ['a transactional batch of nobody', altered(good, (bytes) => bytes.writeInt16BE(0x10, 21))],
    ['codec 5', withPayload(good, 5, good.subarray(61))],
    ['codec 7', withPayload(good, 7, good.subarray(61))],
    ['gzip that is none', withPayload(good, 1, good.subarray(61))],
    ['snappy that is none', withPayload(good, 2, good.subarray(61))],
    ['lz4 that is none', withPayload(good, 3, good.subarray(61))],
    ['zstd that is none', withPayload(good, 4, good.subarray(61))],
    ['a count too many', altered(good, (bytes) => bytes.writeInt32BE(3, 57))],
    ['a count too few', altered(good, (bytes) => bytes.writeInt32BE(1, 57))],
    ['a count of 0', altered(good, (bytes) => bytes.writeInt32BE(0, 57))],
    ['a count of -1', altered(good, (bytes) => bytes.writeInt32BE(-1, 57))],
    ['a count of 2^31-1', altered(good, (bytes) => bytes.writeInt32BE(2 ** 31 - 1, 57))],
    ['a last delta too large', altered(good, (bytes) => bytes.writeInt32BE(5, 23))],
    ['a last delta of -1', altered(good, (bytes) => bytes.writeInt32BE(-1, 23))],
    ['base offset 5', altered(good, (bytes) => bytes.writeBigInt64BE(5n, 0))],
    ['base offset -1', altered(good, (bytes) => bytes.writeBigInt64BE(-1n, 0))],
    ['a base timestamp of -1', altered(good, (bytes) => bytes.writeBigInt64BE(-1n, 27))],
    ['a max timestamp of -1', altered(good, (bytes) => bytes.writeBigInt64BE(-1n, 35))],
    ['a max timestamp too large', altered(good, (bytes) => bytes.writeBigInt64BE(BigInt(THEN_MS) + 99n, 35))],
    ['log append time', altered(good, (bytes) => bytes.writeInt16BE(8, 21))],
    ['a delete horizon', altered(good, (bytes) => bytes.writeInt16BE(0x40, 21))],
    ['bit 7', altered(good, (bytes) => bytes.writeInt16BE(0x80, 21))],
    ['bit 15', altered(good, (bytes) => bytes.writeInt16BE(-0x8000, 21))],
    ['a producer id without a sequence', producerBatch(['a'], 4000, 0, -1)],
    ['a producer id without an epoch', producerBatch(['a'], 4000, -1, 0)],
    ['a sequence without a producer id', producerBatch(['a'], -1, 0, 0)],
    ['a producer id that nobody gave', producerBatch(['a'], 987_654, 0, 0)],
    ['a sequence after nothing', producerBatch(['a'], 987_655, 0, 5)],
    ['a timestamp in the far future', batch(['a'], 4_000_000_000_000)],
    ['leader epoch 7 in the batch', altered(good, (bytes) => bytes.writeInt32BE(7, 12))],
  ]
}

async function idempotent(side: Side): Promise<void> {
  const topic = 'pf-idempotent'
  const id = await makeTopic(side, topic)
  const producer = await side.ask('an id', 22, 4, {
    transactionalId: null,
    transactionTimeoutMs: 60_000,
    producerId: -1,
    producerEpoch: -1,
  })
  const pid = producer?.producerId ?? 0
  const send = async (label: string, epoch: number, sequence: number, values: readonly string[] = ['a', 'b']): Promise<void> => {
    await side.ask(label, 0, 9, produceOf(topic, id, [{ index: 0, records: producerBatch(values, pid, epoch, sequence) }]))
  }
  await send('sequence 0', 0, 0)
  await send('sequence 2', 0, 2)
  await send('sequence 2 again', 0, 2)
  await send('sequence 0 again', 0, 0)
  await send('sequence 2, another count', 0, 2, ['a'])
  await send('a gap', 0, 9)
  await send('back', 0, 1)
  for (let i = 0; i < 6; i++) await send(`on ${i}`, 0, 4 + 2 * i)
  await send('a duplicate that is forgotten', 0, 2)
  await send('epoch 1 at sequence 5', 1, 5)
  await send('epoch 1 at sequence 0', 1, 0)
  await send('epoch 0 again', 0, 16)
  await side.ask(
    'two batches of one producer',
    0,
    9,
    produceOf(topic, id, [{ index: 1, records: Buffer.concat([producerBatch(['a'], pid, 1, 0), producerBatch(['b'], pid, 1, 1)]) }]),
  )
  await side.ask('producers', 61, 0, { topics: [{ name: topic, partitionIndexes: [0, 1, 5] }] })
  await side.ask('its log', 1, 12, fetchOf(topic, id, [{ partition: 0, fetchOffset: 0 }]))
}

async function fetches(side: Side): Promise<void> {
  const topic = 'pf-fetch'
  const id = await makeTopic(side, topic)
  for (let i = 0; i < 5; i++) await side.ask('filling', 0, 9, produceOf(topic, id, [{ index: 0, records: batch([`a${i}`, `b${i}`]) }]))
  const all = { min: 4, max: 18 }
  const one =
    (partition: object, more: object = {}) =>
    (): object =>
      fetchOf(topic, id, [{ partition: 0, ...partition }], more)
  await side.askAll('from the start', 1, all, one({}))
  await side.askAll('committed', 1, all, one({}, { isolationLevel: 1 }))
  await side.askAll('isolation level 7', 1, all, one({}, { isolationLevel: 7 }))
  await side.askAll('in the middle of a batch', 1, all, one({ fetchOffset: 3 }))
  await side.askAll('at the end', 1, all, one({ fetchOffset: 10 }))
  await side.askAll('behind the end', 1, all, one({ fetchOffset: 11 }))
  await side.askAll('a negative offset', 1, all, one({ fetchOffset: -1 }))
  await side.askAll('offset -2', 1, all, one({ fetchOffset: -2 }))
  await side.askAll('a partition that is not there', 1, all, () => fetchOf(topic, id, [{ partition: 0 }, { partition: 9 }]))
  await side.askAll('a negative partition', 1, all, () => fetchOf(topic, id, [{ partition: -1 }]))
  await side.askAll('an unknown topic', 1, all, () => fetchOf('pf-nowhere', NOWHERE, [{ partition: 0 }]))
  await side.askAll('the zero id', 1, all, () => fetchOf('', '00000000-0000-0000-0000-000000000000', [{ partition: 0 }]))
  await side.askAll('nothing', 1, all, () => fetchOf(topic, id, [], { topics: [] }))
  await side.askAll('no partitions', 1, all, () => fetchOf(topic, id, []))
  await side.askAll('one partition twice', 1, all, () => fetchOf(topic, id, [{ partition: 0 }, { partition: 0, fetchOffset: 4 }]))
  await side.askAll('a byte at most', 1, all, one({ partitionMaxBytes: 1 }))
  await side.askAll('a byte at most in all', 1, all, () => fetchOf(topic, id, [{ partition: 0 }, { partition: 1 }], { maxBytes: 1 }))
  await side.askAll('no bytes', 1, all, one({ partitionMaxBytes: 0 }, { maxBytes: 0 }))
  await side.askAll('negative bytes', 1, all, one({ partitionMaxBytes: -1 }, { maxBytes: -1 }))
  await side.askAll('two batches and a half', 1, all, one({ partitionMaxBytes: 190 }))
  await side.askAll('a negative wait', 1, all, one({ fetchOffset: 10 }, { maxWaitMs: -5, minBytes: 1 }))
  await side.askAll('min bytes below 0', 1, all, one({ fetchOffset: 10 }, { maxWaitMs: 1, minBytes: -1 }))
  await side.askAll('a new leader epoch', 1, all, one({ currentLeaderEpoch: 9 }))
  await side.askAll('the leader epoch', 1, all, one({ currentLeaderEpoch: 0 }))
  await side.askAll('a later last epoch', 1, all, one({ lastFetchedEpoch: 5, fetchOffset: 3 }))
  await side.askAll('the last epoch', 1, all, one({ lastFetchedEpoch: 0, fetchOffset: 3 }))
  await side.askAll('the last epoch, behind the end', 1, all, one({ lastFetchedEpoch: 0, fetchOffset: 33 }))
  await side.askAll('a rack', 1, all, one({}, { rackId: 'nowhere' }))
  await side.askAll('a replica', 1, all, one({}, { replicaId: 5, replicaState: { replicaId: 5, replicaEpoch: 1 } }))
  await side.askAll('a debugging replica', 1, all, one({}, { replicaId: -2, replicaState: { replicaId: -2, replicaEpoch: -1 } }))
  await side.askAll('a session that is not there', 1, all, one({}, { sessionId: 77, sessionEpoch: 1 }))
  await side.askAll('epoch 5 without a session', 1, all, one({}, { sessionId: 0, sessionEpoch: 5 }))
  await side.askAll('session -1', 1, all, one({}, { sessionId: -1, sessionEpoch: 3 }))
  for (const timestamp of [-1, -2, -3, -4, -5, -6, -7, 0, THEN_MS, THEN_MS + 1, THEN_MS + 2, 4_000_000_000_000]) {
    await side.askAll(`offsets at ${timestamp}`, 2, { min: 1, max: 11 }, () => ({
      replicaId: -1,
      isolationLevel: 0,
      timeoutMs: 1000,
      topics: [{ name: topic, partitions: [0, 1, 9].map((partitionIndex) => ({ partitionIndex, timestamp })) }],
    }))
  }
  const offsets = (more: object, partition: object): object => ({
    replicaId: -1,
    isolationLevel: 0,
    timeoutMs: 1000,
    topics: [{ name: topic, partitions: [{ partitionIndex: 0, timestamp: -1, ...partition }] }],
    ...more,
  })
  await side.askAll('offsets, a new leader epoch', 2, { min: 1, max: 11 }, () => offsets({}, { currentLeaderEpoch: 9 }))
  await side.askAll('offsets of a replica', 2, { min: 1, max: 11 }, () => offsets({ replicaId: 5 }, {}))
  await side.askAll('offsets, isolation 9', 2, { min: 1, max: 11 }, () => offsets({ isolationLevel: 9 }, {}))
  await side.askAll('offsets of an unknown topic', 2, { min: 1, max: 11 }, () =>
    offsets({ topics: [{ name: 'pf-nowhere', partitions: [{ partitionIndex: 0, timestamp: -1 }] }] }, {}),
  )
  await side.askAll('offsets of one partition twice', 2, { min: 1, max: 11 }, () =>
    offsets({ topics: [{ name: topic, partitions: [0, 0].map((partitionIndex) => ({ partitionIndex, timestamp: -1 })) }] }, {}),
  )
  for (const leaderEpoch of [-1, 0, 1, 5]) {
    for (const currentLeaderEpoch of [-1, 0, 3]) {
      await side.askAll(`the end of epoch ${leaderEpoch}, current ${currentLeaderEpoch}`, 23, { min: 2, max: 4 }, () => ({
        replicaId: -1,
        topics: [
          { topic, partitions: [0, 9].map((partition) => ({ partition, currentLeaderEpoch, leaderEpoch })) },
          { topic: 'pf-nowhere', partitions: [{ partition: 0, currentLeaderEpoch, leaderEpoch }] },
        ],
      }))
    }
  }
  for (const offset of [2, -1, 99, -2, 1]) {
    await side.askAll(`records deleted to ${offset}`, 21, { min: 0, max: 2 }, () => ({
      timeoutMs: 5000,
      topics: [
        {
          name: topic,
          partitions: [0, 9].map((partitionIndex) => ({ partitionIndex, offset: partitionIndex === 0 && offset === -1 ? 4 : offset })),
        },
        { name: 'pf-nowhere', partitions: [{ partitionIndex: 0, offset }] },
      ],
    }))
  }
  await side.askAll('before the log start', 1, all, one({ fetchOffset: 1 }))
  await side.askAll('at the log start', 1, all, one({ fetchOffset: 4 }))
}

export const produceFetch: readonly Scenario[] = [
  { name: 'produce', run: produces },
  { name: 'idempotent produce', run: idempotent },
  { name: 'fetch', run: fetches },
]
