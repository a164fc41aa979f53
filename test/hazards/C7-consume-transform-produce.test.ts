// C7: half of the transaction APIs is there, and clients rely on the other half. kafkajs consumes, produces and commits its offsets in
// one transaction (AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit, EndTxn); one is aborted, one is cut off by kill -9.
import { Kafka, logLevel, type Producer } from 'kafkajs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Broker } from '../lib/broker.ts'

const broker = new Broker()
let kafka: Kafka
beforeAll(async () => {
  await broker.start()
  kafka = new Kafka({ brokers: [broker.bootstrap], logLevel: logLevel.NOTHING, retry: { initialRetryTime: 50, retries: 20 } })
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({ topics: ['from', 'to'].map((topic) => ({ topic, numPartitions: 1 })) })
  await admin.disconnect()
}, 60_000)
afterAll(() => broker.destroy())

async function transactional(transactionalId: string): Promise<Producer> {
  const producer = kafka.producer({ transactionalId, idempotent: true, maxInFlightRequests: 1 })
  await producer.connect()
  return producer
}

/** Everything committed, up to the end that a reader of committed records is told. */
async function committed(topic: string, groupId: string): Promise<string[]> {
  const admin = kafka.admin()
  await admin.connect()
  const [{ high }] = await admin.fetchTopicOffsets(topic)
  await admin.disconnect()
  const consumer = kafka.consumer({ groupId, readUncommitted: false })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  const values: string[] = []
  await new Promise<void>((resolve, reject) => {
    consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
    consumer
      .run({
        eachBatchAutoResolve: true,
        eachBatch: ({ batch }) => {
          for (const { value } of batch.messages) values.push(String(value))
          if (Number(batch.lastOffset()) >= Number(high) - 1) resolve()
          return Promise.resolve()
        },
      })
      .catch(reject)
  })
  await consumer.disconnect()
  return values
}

it('offsets and records of a transaction come together, or not at all', async () => {
  const producer = await transactional('mover')
  const first = await producer.transaction()
  await first.send({ topic: 'to', messages: [{ value: 'moved' }] })
  await first.sendOffsets({ consumerGroupId: 'movers', topics: [{ topic: 'from', partitions: [{ partition: 0, offset: '5' }] }] })
  const admin = kafka.admin()
  await admin.connect()
  const offset = async (): Promise<string> => (await admin.fetchOffsets({ groupId: 'movers', topics: ['from'] }))[0].partitions[0].offset
  expect(await offset()).toBe('-1')
  await first.commit()
  expect(await offset()).toBe('5')

  const second = await producer.transaction()
  await second.send({ topic: 'to', messages: [{ value: 'taken back' }] })
  await second.sendOffsets({ consumerGroupId: 'movers', topics: [{ topic: 'from', partitions: [{ partition: 0, offset: '9' }] }] })
  await second.abort()
  expect(await offset()).toBe('5')

  const third = await producer.transaction()
  await third.send({ topic: 'to', messages: [{ value: 'cut off' }] })
  await third.sendOffsets({ consumerGroupId: 'movers', topics: [{ topic: 'from', partitions: [{ partition: 0, offset: '11' }] }] })
  await broker.restart('SIGKILL')
  // the id comes back: what was open is aborted
  const next = await transactional('mover')
  const fourth = await next.transaction()
  await fourth.send({ topic: 'to', messages: [{ value: 'last' }] })
  await fourth.commit()
  expect(await committed('to', 'readers')).toEqual(['moved', 'last'])
  expect(await offset()).toBe('5')
  for (const part of [producer, next, admin]) await part.disconnect()
}, 60_000)
