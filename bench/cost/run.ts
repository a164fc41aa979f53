// Requests to S3 and what they cost at list prices (S3 Standard, us-east-1), counted by the pods and by the server.
// usage: node bench/cost/run.ts [--pods 1,3,8] [--seconds 120] [--topics 1000] [--consumers 100] [--producers 20]
//        [--rate 1] [--put-ms 40] [--get-ms 20] [--setting name=value …]
// For each number of pods: idle for so long after a minute of settling, scaled to an hour; then `--rate` MiB/s for so long, until
// all is in tables; then 1 GiB/s on paper. The S3 server is an in-process one with its objects in memory (test/lib/fakeS3.ts).
import { parseArgs } from 'node:util'
import { Broker } from '../../test/lib/broker.ts'
import { FakeS3 } from '../../test/lib/fakeS3.ts'
import { sleep } from '../lib/process.ts'
import { paperLines } from './paper.ts'
import { combine, dollars, HOURS_A_MONTH, parseRequests, requestTable, TERABYTE, type Requests } from './prices.ts'
import { createTopics, IdleClients, load, topicName } from './workload.ts'

const { values: flags } = parseArgs({
  options: {
    pods: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '120' },
    topics: { type: 'string', default: '1000' },
    consumers: { type: 'string', default: '100' },
    producers: { type: 'string', default: '20' },
    rate: { type: 'string', default: '1' },
    'put-ms': { type: 'string', default: '40' },
    'get-ms': { type: 'string', default: '20' },
    setting: { type: 'string', multiple: true, default: [] },
  },
})
const seconds = Number(flags.seconds)
const topics = Number(flags.topics)
const SETTLE_MS = Math.min(60_000, seconds * 500)
const LOAD_TOPICS = 10
const LOAD_TRIES = 60
process.env['AWS_ACCESS_KEY_ID'] = 'bench'
process.env['AWS_SECRET_ACCESS_KEY'] = 'bench'

async function counted(pods: readonly Broker[]): Promise<Requests[]> {
  return combine(await Promise.all(pods.map(async (pod) => parseRequests(await (await fetch(`${pod.http}/metrics`)).text()))))
}

const began = performance.now()
const say = (text: string): void => console.error(`${((performance.now() - began) / 1000).toFixed(1)} s: ${text}`)

/** Through the catalog; 503 while the first publication is on its way. */
async function loadTable(pod: Broker, name: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(`${pod.http}/iceberg/v1/namespaces/default/tables/${name}`)
    if (answer.ok) return
    if (answer.status !== 503 || attempt === LOAD_TRIES) throw new Error(`the table ${name} was not loaded: ${await answer.text()}`)
    await sleep(1000)
  }
}

async function measure(count: number): Promise<void> {
  const s3 = await FakeS3.start('bucket')
  s3.keepRequests = false
  s3.faults = ({ method }) => ({ delayMs: Number(method === 'GET' || method === 'HEAD' ? flags['get-ms'] : flags['put-ms']) })
  const pods = Array.from({ length: count }, (_, i) => {
    const settings = Object.fromEntries(flags.setting.map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]))
    return new Broker({
      store: 's3://bucket/cost',
      's3-endpoint': s3.endpoint,
      's3-path-style': 'true',
      pod: `pod-${i}`,
      'log-level': 'warn',
      ...settings,
    })
  })
  try {
    // the first makes the cluster; the others join it
    for (const pod of pods) await pod.start()
    const bootstrap = pods.map((pod) => pod.bootstrap)
    await createTopics(bootstrap, topics, 1)
    say('topics made')
    const clients = await IdleClients.start(bootstrap, { consumers: Number(flags.consumers), producers: Number(flags.producers), topics })
    say('clients connected')
    await sleep(SETTLE_MS)
    const [before, servedBefore] = [await counted(pods), s3.served]
    await sleep(seconds * 1000)
    const idle = combine([await counted(pods)], before)
    const scale = 3600 / seconds
    console.log(
      `${count} pod(s), ${topics} topics, ${flags.consumers} consumers, ${flags.producers} producers, idle, per hour (from ${seconds} s):`,
    )
    console.log(requestTable(idle, scale))
    console.log(
      `    together $${(dollars(idle) * scale).toFixed(4)} an hour, $${(dollars(idle) * scale * HOURS_A_MONTH).toFixed(2)} a month`,
    )
    console.log(`    the server counted ${s3.served - servedBefore}, the pods ${idle.reduce((sum, one) => sum + one.count, 0)}`)
    await clients.stop()
    say('clients gone')

    const loadBefore = await counted(pods)
    const bytes = await load(bootstrap, { topics: Math.min(LOAD_TOPICS, topics), bytesPerSecond: Number(flags.rate) * (1 << 20), seconds })
    say('loaded')
    // a load of a table brings what is in the log into it
    for (let i = 0; i < Math.min(LOAD_TOPICS, topics); i++) await loadTable(pods[i % pods.length]!, topicName(i))
    const used = combine([await counted(pods)], loadBefore)
    console.log(
      `${count} pod(s), ${(bytes / 1e6 / seconds).toFixed(1)} MB/s for ${seconds} s, incompressible, until all is in tables, per TB:`,
    )
    console.log(requestTable(used, TERABYTE / bytes))
    console.log(
      `    together $${((dollars(used) * TERABYTE) / bytes).toFixed(2)} per TB, $${(dollars(used) * scale * HOURS_A_MONTH).toFixed(2)} a month at this rate`,
    )
    console.log(paperLines(count))
  } finally {
    for (const pod of pods) await pod.destroy()
    await s3.stop()
  }
}

for (const count of flags.pods.split(',').map(Number)) await measure(count)
