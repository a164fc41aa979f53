// The store fails under idempotent producers: paused longer than a request may take, killed and started again, by turns. Every
// record that was acknowledged is read once and in order, and the table has as many rows as the log.
// usage: node test/compat/s3/outage.ts [--rounds 3] [--seconds 15]
import { parseArgs } from 'node:util'
import { Kafka, logLevel, type Producer } from 'kafkajs'
import { Broker } from '../../lib/broker.ts'
import { S3Server } from '../../lib/s3Server.ts'

const { values: flags } = parseArgs({ options: { rounds: { type: 'string', default: '3' }, seconds: { type: 'string', default: '15' } } })
const rounds = Number(flags.rounds)
const healthyMs = Number(flags.seconds) * 1000
const TOPIC = 'outage'
const PARTITIONS = 3
const BATCH = 20
/** Longer than the ten seconds after which a request counts as lost. */
const PAUSE_MS = 13_000
const DOWN_MS = 4000
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const s3 = await S3Server.start()
const broker = new Broker({ ...s3.settings('outage'), 'wal-grace-ms': '1000', 'log-level': 'warn' })
await broker.start()
const kafka = new Kafka({
  brokers: [broker.bootstrap],
  logLevel: logLevel.NOTHING,
  requestTimeout: 60_000,
  retry: { retries: 100, maxRetryTime: 2000 },
})
const admin = kafka.admin()
await admin.connect()
await admin.createTopics({ topics: [{ topic: TOPIC, numPartitions: PARTITIONS, replicationFactor: 1 }] })

/** Acknowledged numbers by partition; of what failed for good nothing is said. */
const acknowledged = Array.from({ length: PARTITIONS }, (): number[] => [])
const stop = new AbortController()
async function produce(partition: number): Promise<void> {
  const producer: Producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 })
  await producer.connect()
  for (let next = 0; !stop.signal.aborted; next += BATCH) {
    const numbers = Array.from({ length: BATCH }, (_, i) => next + i)
    // an idempotent producer repeats until it knows
    await producer.send({ topic: TOPIC, acks: -1, messages: numbers.map((number) => ({ partition, value: String(number) })) })
    acknowledged[partition]!.push(...numbers)
  }
  await producer.disconnect()
}
const producers = Promise.all(Array.from({ length: PARTITIONS }, (_, partition) => produce(partition)))
for (let round = 0; round < rounds; round++) {
  await sleep(healthyMs)
  if (round % 2 === 0) {
    s3.signal('SIGSTOP')
    await sleep(PAUSE_MS)
    s3.signal('SIGCONT')
  } else {
    s3.signal('SIGKILL')
    await sleep(DOWN_MS)
    s3.run()
  }
}
await sleep(healthyMs)
stop.abort()
await producers
const retries = await broker.metric('frazil_store_retries_total')

const seen = Array.from({ length: PARTITIONS }, (): number[] => [])
const ends = (await admin.fetchTopicOffsets(TOPIC)).map(({ partition, high }) => ({ partition, end: Number(high) }))
const consumer = kafka.consumer({ groupId: 'outage' })
await consumer.connect()
await consumer.subscribe({ topic: TOPIC, fromBeginning: true })
await consumer.run({ eachMessage: async ({ partition, message }) => void seen[partition]!.push(Number(message.value!.toString())) })
const giveUpAt = Date.now() + 120_000
while (ends.some(({ partition, end }) => seen[partition]!.length < end) && Date.now() < giveUpAt) await sleep(200)
await consumer.disconnect()
await admin.disconnect()

const problems: string[] = []
for (const [partition, numbers] of seen.entries()) {
  const wrong = numbers.findIndex((number, i) => number !== i)
  if (wrong >= 0) problems.push(`partition ${partition}: ${numbers[wrong]} at offset ${wrong}: lost, doubled or out of order`)
  const last = acknowledged[partition]!.at(-1) ?? -1
  if (numbers.length <= last) problems.push(`partition ${partition}: ${last} was acknowledged, and ${numbers.length} records are there`)
}
const load = (await (await fetch(`${broker.http}/iceberg/v1/namespaces/default/tables/${TOPIC}`)).json()) as {
  metadata: { 'current-snapshot-id': number; snapshots: { 'snapshot-id': number; summary: Record<string, string> }[] }
}
const snapshot = load.metadata.snapshots.find((one) => one['snapshot-id'] === load.metadata['current-snapshot-id'])
const rows = Number(snapshot?.summary['total-records'])
const total = seen.reduce((sum, numbers) => sum + numbers.length, 0)
if (rows !== total) problems.push(`the table has ${rows} rows, the log ${total} records`)
if (retries === 0) problems.push('no request was ever repeated: the faults did not strike')
if (total === 0) problems.push('nothing was acknowledged')
if (problems.length > 0) console.log(broker.tail(30))
await broker.destroy()
s3.stop()
for (const problem of problems) console.log(`FAIL  ${problem}`)
console.log(`outage: ${total} records through ${rounds} outages of the store, ${retries} requests repeated, ${problems.length} problems`)
process.exit(problems.length > 0 ? 1 : 0)
