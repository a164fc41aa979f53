import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { apis, headerVersion, type Api } from '../../../protocol/index.ts'
import type { Broker } from '../../lib/broker.ts'
import { seeded } from '../../lib/random.ts'
import { outcomeOf } from './beside.ts'
import { batchOf, createTopic, fetchOf, frameOf, produce, readAll, RawClient, residentMib, sleep } from './client.ts'
import { hostileCases } from './hostileCases.ts'
import { check, note } from './report.ts'

const TOPIC = 'hostile'
/** One batch may inflate to 128 MiB in the worker that checks it, and a little more. */
const BOMB_ROOM_MIB = 192
const MUTATIONS = 1000

/** Part 1: whatever the bytes, Kafka's answer or a closed connection, one line in the log, memory bounded, nothing half stored. */
export async function hostileWire(broker: Broker): Promise<void> {
  const port = broker.kafkaPort
  const client = await RawClient.open(port)
  await createTopic(client, TOPIC, 1)
  let stored = 0
  const linesBefore = logLines(broker)
  const cases = hostileCases(TOPIC)
  const closing = cases.filter((one) => (one.here ?? one.kafka) === 'closed').length
  const before = residentMib(broker.pid)
  let peak = before
  for (const one of cases) {
    const expected = one.here ?? one.kafka
    const outcome = await outcomeOf(port, one, expected === 'silence' ? 200 : 20_000)
    if (outcome === 0) stored += 2
    peak = Math.max(peak, residentMib(broker.pid))
    if (outcome !== expected) check(one.name, false, `${outcome}, expected ${expected}`)
    const { error, baseOffset } = await produce(client, TOPIC, 0, batchOf([Buffer.from('good')]))
    if (error !== 0 || baseOffset !== stored++) check(`a good batch after ${one.name}`, false, `error ${error} at ${baseOffset}`)
  }
  check(`${cases.length} hostile cases are answered as Apache Kafka 4.4.0 does`, true)
  await sleep(100)
  const lines = logLines(broker) - linesBefore
  check('each closed connection has one line in the log, nothing else has', lines === closing, `${lines} lines, ${closing} closed`)
  const { end, batches } = await readAll(client, TOPIC, 0)
  check(
    'a consumer reads what was acknowledged and nothing else',
    end === stored && batches.length === cases.length + (stored - cases.length) / 2,
  )
  check('bombs stay inside their bound', peak - before < BOMB_ROOM_MIB, `${Math.round(before)} to ${Math.round(peak)} MiB`)
  await client.destroy()
  await announced(broker)
  await mutations(broker)
  await large(broker)
}

const logLines = (broker: Broker): number => readFileSync(broker.logFile, 'utf8').split('\n').length

/** 100 MiB announced on 50 connections, nothing or a little of it sent. */
async function announced(broker: Broker): Promise<void> {
  const before = residentMib(broker.pid)
  const clients = await Promise.all(Array.from({ length: 50 }, () => RawClient.open(broker.kafkaPort)))
  const head = Buffer.alloc(4 + 1000)
  head.writeInt32BE(100 << 20)
  for (const client of clients) client.write(head)
  await sleep(1000)
  const grown = residentMib(broker.pid) - before
  check('50 connections that announce 100 MiB cost nothing', grown < 32, `${grown.toFixed(0)} MiB more`)
  await Promise.all(clients.map((client) => client.destroy()))

  // byte by byte: what is kept beside the bytes must not outgrow them
  const drip = await RawClient.open(broker.kafkaPort)
  drip.write(head.subarray(0, 4))
  const from = residentMib(broker.pid)
  for (let i = 0; i < 20_000 && !drip.isClosed; i++) {
    drip.write(Buffer.of(i))
    if (i % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await sleep(200)
  const dripped = residentMib(broker.pid) - from
  check('a frame that drips in byte by byte costs little', dripped < 24, `${dripped.toFixed(0)} MiB more`)
  await drip.destroy()
}

/** Requests of every API and version from Kafka's own codec, with bytes changed, on connections that are thrown away. */
async function mutations(broker: Broker): Promise<void> {
  const random = seeded(Number(process.env['LIMITS_SEED'] ?? 1))
  const keys = new Map(Object.values<Api>(apis).map((api) => [api.request.name, api.key]))
  const file = fileURLToPath(new URL('../../fixtures/protocol/kafka-oracle.jsonl', import.meta.url))
  const golden = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.includes('Request"'))
    .map((line) => JSON.parse(line) as { message: string; version: number; hex: string })
    .filter(({ message }) => keys.has(message))
  const before = residentMib(broker.pid)
  let peak = before
  for (let i = 0; i < MUTATIONS;) {
    const clients = await Promise.all(Array.from({ length: 50 }, () => RawClient.open(broker.kafkaPort)))
    for (const client of clients) {
      const { message, version, hex } = golden[random.int(golden.length)]
      const body = Buffer.from(hex, 'hex')
      for (let n = random.int(4); n > 0 && body.length > 0; n--)
        body[random.int(body.length)] = [0, 1, 0x7f, 0x80, 0xff, random.int(256)][random.int(6)]
      const key = keys.get(message)!
      client.write(framed(key, version, random.chance(0.2) ? body.subarray(0, random.int(body.length + 1)) : body))
      i++
    }
    await Promise.all(clients.map((client) => client.answer(300)))
    await Promise.all(clients.map((client) => client.destroy()))
    peak = Math.max(peak, residentMib(broker.pid))
  }
  const client = await RawClient.open(broker.kafkaPort)
  const { error } = await produce(client, TOPIC, 0, batchOf([Buffer.from('good')]))
  check(`${MUTATIONS} mutated requests leave the broker up`, error === 0)
  check('and its memory bounded', peak - before < 128, `${Math.round(before)} to ${Math.round(peak)} MiB`)
  const faults = readFileSync(broker.logFile, 'utf8')
    .split('\n')
    .filter((line) => line.includes('a request failed unexpectedly'))
  check('none of them was a fault of the broker', faults.length === 0, faults[0]?.slice(0, 600) ?? '')
  await client.destroy()
}

/** A request around a body that no encoder made. */
function framed(key: number, version: number, body: Buffer): Buffer {
  const head = Buffer.from([0, 0, 0, 0, 0, key, 0, version, 0, 0, 0, 1, 0, 1, 0x6d, 0])
  const used = headerVersion(key, version).request === 2 ? head : head.subarray(0, 15)
  used.writeInt32BE(used.length - 4 + body.length)
  return Buffer.concat([used, body])
}

/** Requests that are well formed and far too large. */
async function large(broker: Broker): Promise<void> {
  const before = residentMib(broker.pid)
  const client = await RawClient.open(broker.kafkaPort)
  const topics = (count: number): Parameters<typeof frameOf<3>>[2] => ({
    topics: Array.from({ length: count }, (_, i) => ({ name: `unknown-${i}` })),
    allowAutoTopicCreation: false,
  })
  const many = await client.call(3, 4, topics(1_000_000), 60_000)
  check('Metadata of 1,000,000 unknown topics is answered', many.topics.length === 1_000_000 && many.topics[7].errorCode === 3)
  const over = frameOf(3, 4, topics(10))
  client.write(over)
  await client.answer()

  const made = await client.call(19, 5, {
    topics: [{ name: 'wide', numPartitions: 1_000_000, replicationFactor: 1, assignments: [], configs: [] }],
    timeoutMs: 1000,
  })
  check('a topic of 1,000,000 partitions is refused as in Kafka', made.topics[0].errorCode === 44, `error ${made.topics[0].errorCode}`)

  const names = ['a', 'b'].map((end) => 'x'.repeat(248) + end)
  for (const name of names) await createTopic(client, name, 1)
  check('two topics of 249 characters that differ in the last one are two topics', true)

  const partitions = Array.from({ length: 200_000 }, () => ({ partition: 0, fetchOffset: 0, partitionMaxBytes: 100 }))
  const request = fetchOf(TOPIC, 0, 0)
  const fetched = await client.call(1, 12, { ...request, topics: [{ topic: TOPIC, partitions }] }, 60_000)
  check('a Fetch of one partition 200,000 times is answered', fetched.responses[0].partitions.length === 200_000)

  const joined = await client.call(11, 5, {
    groupId: 'fat',
    sessionTimeoutMs: 10_000,
    rebalanceTimeoutMs: 10_000,
    memberId: '',
    groupInstanceId: null,
    protocolType: 'consumer',
    protocols: [{ name: 'range', metadata: Buffer.alloc(1000) }],
  })
  const memberId = joined.memberId
  const second = await client.call(11, 5, {
    groupId: 'fat',
    sessionTimeoutMs: 10_000,
    rebalanceTimeoutMs: 10_000,
    memberId,
    groupInstanceId: null,
    protocolType: 'consumer',
    protocols: [{ name: 'range', metadata: Buffer.alloc(1000) }],
  })
  const synced = await client.call(14, 3, {
    groupId: 'fat',
    generationId: second.generationId,
    memberId,
    groupInstanceId: null,
    assignments: [{ memberId, assignment: Buffer.alloc(60 << 20) }],
  })
  check('an assignment of 60 MiB is refused, to be tried again', synced.errorCode === 15, `error ${synced.errorCode}`)
  await client.destroy()
  await sleep(1000)
  note(`memory before and after large requests: ${before.toFixed(0)}, ${residentMib(broker.pid).toFixed(0)} MiB`)
}
