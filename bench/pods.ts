// Pods on one bucket whose store answers after 40 ms (put) and 20 ms (get): how long a record takes from a producer to a consumer, and
// how many MB a CPU second of all pods brings in.
// usage: node bench/pods.ts [--pods 1,3] [--seconds 40] [--rate 200] [--put-ms 40] [--get-ms 20] [--cores 1] [--setting name=value …]
// Records of 1 KiB, one per send, to 12 partitions; then 16 KiB records as fast as 12 producers send them. The S3 server is the tests'
// own (test/lib/fakeS3.ts), in this process; the pods share `--cores`.
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { Kafka, logLevel } from 'kafkajs'
import { Broker } from '../test/lib/broker.ts'
import { FakeS3 } from '../test/lib/fakeS3.ts'
import { createTopics, load, topicName } from './cost/workload.ts'
import { cpuSeconds, sleep } from './lib/process.ts'

const { values: flags } = parseArgs({
  options: {
    pods: { type: 'string', default: '1,3' },
    seconds: { type: 'string', default: '40' },
    rate: { type: 'string', default: '200' },
    'put-ms': { type: 'string', default: '40' },
    'get-ms': { type: 'string', default: '20' },
    cores: { type: 'string', default: '1' },
    setting: { type: 'string', multiple: true, default: [] },
  },
})
const seconds = Number(flags.seconds)
const PARTITIONS = 12
const TOPICS = 12
const SETTLE_MS = 5000
process.env['AWS_ACCESS_KEY_ID'] = 'bench'
process.env['AWS_SECRET_ACCESS_KEY'] = 'bench'

function percentiles(values: number[]): string {
  values.sort((a, b) => a - b)
  const at = (share: number): string => values[Math.min(values.length - 1, Math.floor(values.length * share))]!.toFixed(0)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, largest ${at(1)} ms, ${values.length} records`
}

/** Times of acknowledgement and of arrival at a consumer that polls without pause. */
async function latency(bootstrap: readonly string[]): Promise<{ readonly acked: number[]; readonly arrived: number[] }> {
  const kafka = new Kafka({ brokers: [...bootstrap], logLevel: logLevel.NOTHING, retry: { retries: 20 } })
  const topic = topicName(0)
  const [acked, arrived]: [number[], number[]] = [[], []]
  const consumer = kafka.consumer({ groupId: 'latency', maxWaitTimeInMs: 5000 })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  const joined = new Promise((resolve) => consumer.on('consumer.group_join', resolve))
  let measured = false
  await consumer.run({
    autoCommit: false, // kafkajs waits for a commit after every batch
    partitionsConsumedConcurrently: PARTITIONS,
    eachMessage: async ({ message }) => {
      if (measured) arrived.push(performance.now() - Number(message.value!.toString('latin1', 0, 20)))
    },
  })
  await joined
  const producer = kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  const open = new Set<Promise<void>>()
  const began = performance.now()
  for (let sent = 0; performance.now() - began < seconds * 1000 + SETTLE_MS; sent++) {
    const aheadMs = (sent * 1000) / Number(flags.rate) - (performance.now() - began)
    if (aheadMs > 0) await sleep(aheadMs)
    measured = performance.now() - began > SETTLE_MS
    const atMs = performance.now()
    const value = Buffer.alloc(1024, 'x')
    value.write(String(atMs).padEnd(20).slice(0, 20), 'latin1')
    const one = producer.send({ topic, acks: -1, messages: [{ partition: sent % PARTITIONS, value }] }).then(() => {
      if (measured) acked.push(performance.now() - atMs)
      open.delete(one)
    })
    open.add(one)
  }
  await Promise.all(open)
  await sleep(1000)
  await Promise.all([producer.disconnect(), consumer.disconnect()])
  return { acked, arrived }
}

async function measure(count: number): Promise<void> {
  const s3 = await FakeS3.start('bucket')
  s3.keepRequests = false
  s3.faults = ({ method }) => ({ delayMs: Number(method === 'GET' || method === 'HEAD' ? flags['get-ms'] : flags['put-ms']) })
  const settings = Object.fromEntries(flags.setting.map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]))
  const pods = Array.from({ length: count }, (_, i) => {
    const own = { store: 's3://bucket/pods', 's3-endpoint': s3.endpoint, 's3-path-style': 'true', pod: `pod-${i}`, 'log-level': 'warn' }
    return new Broker({ ...own, ...settings })
  })
  try {
    for (const pod of pods) {
      await pod.start()
      execFileSync('taskset', ['-acp', flags.cores, String(pod.pid)])
    }
    const bootstrap = pods.map((pod) => pod.bootstrap)
    await createTopics(bootstrap, TOPICS, PARTITIONS)
    await sleep(SETTLE_MS)
    const { acked, arrived } = await latency(bootstrap)
    console.log(`${count} pod(s), ${flags.rate} records/s, put ${flags['put-ms']} ms, get ${flags['get-ms']} ms`)
    console.log(`  acknowledged  ${percentiles(acked)}`)
    console.log(`  end to end    ${percentiles(arrived)}`)
    const used = (): number => pods.reduce((sum, pod) => sum + cpuSeconds(pod.pid), 0)
    const before = used()
    const begun = performance.now()
    const bytes = await load(bootstrap, { topics: TOPICS, bytesPerSecond: 2 ** 30, seconds: seconds / 2 })
    const cpu = used() - before
    const mb = bytes / 1e6
    console.log(
      `  produce       ${(mb / ((performance.now() - begun) / 1000)).toFixed(1)} MB/s, ${(mb / cpu).toFixed(1)} MB per CPU second of all pods`,
    )
  } finally {
    for (const pod of pods) await pod.destroy()
    await s3.stop()
  }
}

for (const count of flags.pods.split(',').map(Number)) await measure(count)
process.exit(0)
