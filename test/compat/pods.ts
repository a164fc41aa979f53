// Three pods on one bucket while clients write and read: pods are killed, paused and replaced at random moments. No acknowledged record is
// missing, doubled or out of order, in the log as each pod serves it, for a consumer group that ran all the while, and in the table.
// usage: node test/compat/pods.ts [--faults 6] [--seed N] [--rate 500] [--log bucket|postgres] [--kinds kill,pause,leave]
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Kafka, logLevel } from 'kafkajs'
import { Broker, freePort } from '../lib/broker.ts'
import { KafkaJsLoad } from './pods/kafkajsLoad.ts'
import { Reader } from './pods/reader.ts'

const { values: flags } = parseArgs({
  options: {
    faults: { type: 'string', default: '6' },
    seed: { type: 'string' },
    rate: { type: 'string', default: '500' },
    log: { type: 'string', default: 'bucket' },
    kinds: { type: 'string', default: 'kill,pause,leave' },
  },
})
const here = dirname(fileURLToPath(import.meta.url))
const seed = Number(flags.seed ?? Date.now() % 1_000_000)
let state = seed
/** A small seeded generator (mulberry32), 0 ≤ x < 1. */
function random(): number {
  state = (state + 0x6d2b79f5) | 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const shell = (script: string): string =>
  execFileSync('bash', ['-c', `set -euo pipefail; source "${here}/lib/env.sh"; ${script}`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()

const python = shell(`python_env clients "${join(here, 'clients/python/requirements.txt')}"`)
const readers = shell(`python_env readers "${join(here, '../readers/python/requirements.txt')}"`)
const jars = shell(`java_jars client "${join(here, 'clients/java/pom.xml')}"`)
const servers = join(here, 's3/servers.sh')
shell(`bash "${servers}" fetch versitygw`)

const folder = mkdtempSync(join(tmpdir(), 'frazil-pods-'))
const s3Folder = join(folder, 's3')
for (const line of shell(`bash "${servers}" start versitygw ${await freePort()} "${s3Folder}"`).split('\n')) {
  const [, name, value] = /^export (\w+)=(.*)$/.exec(line) ?? []
  if (name !== undefined) process.env[name] = value
}
const postgres = join(here, 'postgres/server.sh')
const postgresFolder = join(folder, 'postgres')
let metadata = ''
if (flags.log === 'postgres') {
  chmodSync(folder, 0o755)
  shell(`bash "${postgres}" fetch`)
  metadata = shell(`bash "${postgres}" start ${await freePort()} "${postgresFolder}"`)
}
const PARTITIONS = 6
const topic = 'pods'
const pods = ['pod-0', 'pod-1', 'pod-2'].map((pod) => {
  return new Broker({
    pod,
    store: 's3://frazil/cluster',
    's3-endpoint': process.env['AWS_ENDPOINT_URL']!,
    's3-path-style': 'true',
    'wal-linger-ms': '50',
    'wal-grace-ms': '2000',
    'wal-evacuate-ms': '10000',
    'convert-bytes': '1048576',
    'snapshot-bytes': '1048576',
    'group-initial-rebalance-delay-ms': '500',
    ...(metadata === '' ? {} : { metadata }),
  })
})
let failed = 0
/** A machine that stands still for seconds may cost a pod its membership: it comes back. */
async function eventually<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + 60_000
  for (;;) {
    try {
      return await work()
    } catch (error) {
      console.log(`  not yet: ${(error as Error).message}`)
      if (Date.now() > deadline) throw error
      await sleep(500)
    }
  }
}
const loaders: { readonly child: ChildProcess; readonly done: Promise<number> }[] = []
const load = (command: string, args: readonly string[]): void => {
  const child = spawn(command, args, { stdio: ['pipe', 'inherit', 'inherit'] })
  loaders.push({ child, done: new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1))) })
}

try {
  for (const pod of pods) await pod.start()
  const bootstrap = pods.map((pod) => pod.bootstrap).join()
  const kafka = new Kafka({ brokers: bootstrap.split(','), logLevel: logLevel.NOTHING, retry: { retries: 60, maxRetryTime: 2000 } })
  const { brokers, leaders } = await eventually(async () => {
    const admin = kafka.admin()
    try {
      await admin.connect()
      await admin.createTopics({
        topics: [{ topic, numPartitions: PARTITIONS, configEntries: [{ name: 'table.commit.interval.ms', value: '2000' }] }],
      })
      const brokers = (await admin.describeCluster()).brokers.length
      const leaders = new Set((await admin.fetchTopicMetadata({ topics: [topic] })).topics[0]!.partitions.map(({ leader }) => leader))
      if (brokers !== pods.length || leaders.size < 2) throw new Error(`${brokers} pods, leaders ${[...leaders].join()}`)
      return { brokers, leaders }
    } finally {
      await admin.disconnect()
    }
  })
  console.log(`${brokers} pods, leaders ${[...leaders].sort().join()}, ${flags.faults} faults, log ${flags.log}, seed ${seed}`)

  const acked = join(folder, 'acked')
  mkdirSync(acked)
  const common = ['--bootstrap', bootstrap, '--topic', topic, '--partitions', String(PARTITIONS)]
  load(python, [
    join(here, 'clients/python/loader.py'),
    ...common,
    '--producer',
    'librdkafka',
    '--acked',
    join(acked, 'librdkafka'),
    '--rate',
    flags.rate,
  ])
  load('java', [
    '-Xmx256m',
    '-cp',
    `${jars}/*`,
    join(here, 'clients/java/Load.java'),
    bootstrap,
    topic,
    String(PARTITIONS),
    'java',
    join(acked, 'java'),
    flags.rate,
  ])
  const kafkajs = new KafkaJsLoad(kafka, {
    topic,
    partitions: PARTITIONS,
    name: 'kafkajs',
    acked: join(acked, 'kafkajs'),
    rate: Number(flags.rate),
  })
  kafkajs.start()
  const reader = new Reader(kafka, topic)
  await reader.start()
  await sleep(5000)

  const counts = new Map<string, number>()
  const kinds = flags.kinds.split(',')
  for (let fault = 0; fault < Number(flags.faults); fault++) {
    await sleep(2000 + random() * 4000)
    const pod = pods[Math.floor(random() * pods.length)]!
    const kind = kinds[Math.floor(random() * kinds.length)]!
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    console.log(`  ${kind} ${pod.settings['pod']}, ${reader.count} records read`)
    if (kind === 'kill') await pod.stop('SIGKILL')
    else if (kind === 'leave') {
      const { code, ms } = await pod.end('SIGTERM')
      if (code !== 0) failed++
      console.log(`    left with ${code} after ${Math.round(ms)} ms`)
    } else {
      process.kill(pod.pid, 'SIGSTOP')
      await sleep(2000 + random() * 8000)
      process.kill(pod.pid, 'SIGCONT')
      continue
    }
    await sleep(random() * 5000)
    await pod.start()
  }
  await sleep(2000)
  for (const { child } of loaders) child.stdin!.end('\n')
  failed += (await Promise.all(loaders.map(({ done }) => done))).filter((code) => code !== 0).length
  await kafkajs.stop()
  console.log(`faults: ${[...counts].map(([kind, count]) => `${count} ${kind}`).join(', ')}`)

  const names = ['librdkafka', 'java', 'kafkajs']
  const verify = (pod: Broker): void => {
    const args = ['--bootstrap', pod.bootstrap, '--http', pod.http, '--topic', topic, '--table', topic, '--partitions', String(PARTITIONS)]
    try {
      execFileSync(readers, [join(here, '../readers/python/verify_load.py'), ...args, ...names.map((name) => join(acked, name))], {
        stdio: 'inherit',
      })
    } catch {
      failed++
    }
  }
  for (const pod of pods) verify(pod)
  const total = names.reduce((sum, name) => sum + readFileSync(join(acked, name), 'utf8').split('\n').length - 1, 0)
  const problems = await reader.finish(total)
  console.log(`the group read ${reader.count} records, ${problems.length} problems`)
  for (const problem of problems.slice(0, 10)) console.log(`  ${problem}`)
  failed += problems.length > 0 ? 1 : 0
  await pods[0]!.drained()
  console.log('again, from table files alone:')
  verify(pods[1]!)
} catch (error) {
  failed++
  console.log(error)
} finally {
  for (const { child } of loaders) child.kill('SIGKILL')
  if (failed > 0) for (const pod of pods) console.log(`${pod.settings['pod']}:\n${pod.tail(30)}`)
  await Promise.all(pods.map((pod) => pod.destroy()))
  shell(`bash "${servers}" stop "${s3Folder}"`)
  if (metadata !== '') shell(`bash "${postgres}" stop "${postgresFolder}" immediate`)
  rmSync(folder, { recursive: true, force: true })
}
console.log(`pods: ${failed === 0 ? 1 : 0} passed, ${failed} failed`)
process.exit(failed > 0 ? 1 : 0)
