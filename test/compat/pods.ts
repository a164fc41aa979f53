// Three pods on one bucket while clients write and read: pods are killed, paused and replaced at random moments, and what lies between
// them, the store and the metadata log is slow, busy, cut or silent, with requests that are done and not answered. No acknowledged record
// is missing, doubled or out of order, in the log as each pod serves it, for a consumer group that ran all the while, and in the table.
// usage: node test/compat/pods.ts [--faults 6] [--seed N] [--rate 1000] [--log bucket|postgres] [--kinds kill,pause,leave] [--calm]
//        node test/compat/pods.ts --long [--minutes 60] [--records 10000000]
import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { Kafka, logLevel } from 'kafkajs'
import { Broker, freePort } from '../lib/broker.ts'
import { seeded } from '../lib/random.ts'
import { S3Server } from '../lib/s3Server.ts'
import { KafkaJsLoad } from './pods/kafkajsLoad.ts'
import { Network } from './pods/network.ts'
import { Reader } from './pods/reader.ts'

const { values: flags } = parseArgs({
  options: {
    faults: { type: 'string', default: '6' },
    seed: { type: 'string' },
    rate: { type: 'string' },
    log: { type: 'string', default: 'bucket' },
    kinds: { type: 'string', default: 'kill,pause,leave' },
    /** Nothing befalls the network. */
    calm: { type: 'boolean', default: false },
    /** Ends after so many minutes or records, whichever is first, however many faults there were. */
    long: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '60' },
    records: { type: 'string', default: '10000000' },
  },
})
const here = dirname(fileURLToPath(import.meta.url))
const seed = Number(flags.seed ?? Date.now() % 1_000_000)
const random = seeded(seed)
const rate = Number(flags.rate ?? (flags.long ? 2000 : 1000))
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const shell = (script: string): string =>
  execFileSync('bash', ['-c', `set -euo pipefail; source "${here}/lib/env.sh"; ${script}`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()

const python = shell(`python_env clients "${join(here, 'clients/python/requirements.txt')}"`)
const readers = shell(`python_env readers "${join(here, '../readers/python/requirements.txt')}"`)
const jars = shell(`java_jars client "${join(here, 'clients/java/pom.xml')}"`)

const folder = mkdtempSync(join(tmpdir(), 'frazil-pods-'))
const s3 = await S3Server.start()
const postgres = join(here, 'postgres/server.sh')
const postgresFolder = join(folder, 'postgres')
let postgresPort: number | null = null
if (flags.log === 'postgres') {
  chmodSync(folder, 0o755)
  shell(`bash "${postgres}" fetch`)
  postgresPort = await freePort()
  shell(`bash "${postgres}" start ${postgresPort} "${postgresFolder}"`)
}
const PARTITIONS = 6
const topic = 'pods'
const network = await Network.open(3, Number(new URL(s3.endpoint).port), postgresPort, seeded(seed + 1))
const pods = network.ways.map(({ store, metadata, link, linkPort }, pod) => {
  return new Broker({
    pod: `pod-${pod}`,
    store: 's3://frazil/cluster',
    's3-endpoint': `http://127.0.0.1:${store.port}`,
    's3-path-style': 'true',
    'pod-listener': `127.0.0.1:${linkPort}`,
    'advertised-pod-listener': `127.0.0.1:${link.port}`,
    'wal-linger-ms': '50',
    'wal-grace-ms': '2000',
    'wal-evacuate-ms': '10000',
    'convert-bytes': flags.long ? '8388608' : '1048576',
    'snapshot-bytes': '1048576',
    'group-initial-rebalance-delay-ms': '500',
    ...(metadata === null ? {} : { metadata: `postgres://frazil@127.0.0.1:${metadata.port}/postgres` }),
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
const counts = new Map<string, number>()
const add = (kind: string): void => void counts.set(kind, (counts.get(kind) ?? 0) + 1)
/** A store that cannot be reached ends a start with a sentence; whatever watches over pods starts it again. */
async function startAgain(pod: Broker): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await pod.start()
      return
    } catch (error) {
      if (tries === 20) throw error
      add('start that failed')
      console.log(`    ${pod.settings['pod']}: ${(error as Error).message.trimEnd().split('\n').at(-1)}`)
      await sleep(1000)
    }
  }
}
async function processFault(): Promise<void> {
  const pod = pods[random.int(pods.length)]!
  const kinds = flags.kinds.split(',')
  const kind = kinds[random.int(kinds.length)]!
  add(kind)
  console.log(`  ${kind} ${pod.settings['pod']}, ${reader.count} records read`)
  if (kind === 'kill') await pod.stop('SIGKILL')
  else if (kind === 'leave') {
    const { code, ms } = await pod.end('SIGTERM')
    // without a store, and without the others to ask, it goes when its time is up
    if (code !== 0 && flags.calm) failed++
    else if (code !== 0) add('leave that was cut short')
    console.log(`    left with ${code} after ${Math.round(ms)} ms`)
  } else {
    process.kill(pod.pid, 'SIGSTOP')
    await sleep(2000 + random.next() * 8000)
    process.kill(pod.pid, 'SIGCONT')
    return
  }
  await sleep(random.next() * 5000)
  await startAgain(pod)
}
let reader: Reader

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
  const until = flags.long ? `${flags.minutes} minutes or ${flags.records} records` : `${flags.faults} faults`
  console.log(`${brokers} pods, leaders ${[...leaders].sort().join()}, ${until}, log ${flags.log}, seed ${seed}`)

  const acked = join(folder, 'acked')
  mkdirSync(acked)
  const common = ['--bootstrap', bootstrap, '--topic', topic, '--partitions', String(PARTITIONS)]
  const own = ['--producer', 'librdkafka', '--acked', join(acked, 'librdkafka'), '--rate', String(rate)]
  load(python, [join(here, 'clients/python/loader.py'), ...common, ...own])
  const java = [bootstrap, topic, String(PARTITIONS), 'java', join(acked, 'java'), String(rate)]
  load('java', ['-Xmx256m', '-cp', `${jars}/*`, join(here, 'clients/java/Load.java'), ...java])
  const kafkajs = new KafkaJsLoad(kafka, { topic, partitions: PARTITIONS, name: 'kafkajs', acked: join(acked, 'kafkajs'), rate: 500 })
  kafkajs.start()
  reader = new Reader(kafka, topic)
  await reader.start()
  await sleep(5000)

  if (!flags.calm) network.start()
  const deadline = Date.now() + Number(flags.minutes) * 60_000
  const more = (fault: number): boolean =>
    flags.long ? Date.now() < deadline && reader.count < Number(flags.records) : fault < Number(flags.faults)
  for (let fault = 0; more(fault); fault++) {
    await sleep(2000 + random.next() * 4000)
    await processFault()
  }
  await network.heal()
  await sleep(2000)
  for (const { child } of loaders) child.stdin!.end('\n')
  failed += (await Promise.all(loaders.map(({ done }) => done))).filter((code) => code !== 0).length
  await kafkajs.stop()
  const list = (map: ReadonlyMap<string, number>): string => [...map].map(([kind, count]) => `${count} ${kind}`).join(', ')
  console.log(`faults of pods: ${list(counts)}`)
  console.log(`faults of the network: ${list(network.begun)}`)
  console.log(`struck: ${list(network.struck())}`)

  const names = ['librdkafka', 'java', 'kafkajs']
  /** Returns the number of acknowledged records. This process stands between the pod and its store, so it may not wait meanwhile. */
  const verify = async (pod: Broker): Promise<number> => {
    const args = ['--bootstrap', pod.bootstrap, '--http', pod.http, '--topic', topic, '--table', topic, '--partitions', String(PARTITIONS)]
    const judge = [join(here, '../readers/python/verify_load.py'), ...args, ...names.map((name) => join(acked, name))]
    const judged = await promisify(execFile)(readers, judge).catch((error: { stdout: string; stderr: string }) => {
      failed++
      return error
    })
    console.log(`${judged.stdout}${judged.stderr}`.trim())
    return Number(/^(\d+) acknowledged/m.exec(judged.stdout)?.[1] ?? NaN)
  }
  let total = 0
  for (const pod of pods) total = await verify(pod)
  const problems = await reader.finish(total)
  console.log(`the group read ${reader.count} records, ${problems.length} problems`)
  for (const problem of problems.slice(0, 10)) console.log(`  ${problem}`)
  failed += problems.length > 0 ? 1 : 0
  await pods[0]!.drained()
  console.log('again, from table files alone:')
  await verify(pods[1]!)
} catch (error) {
  failed++
  console.log(error)
} finally {
  for (const { child } of loaders) child.kill('SIGKILL')
  if (failed > 0) for (const pod of pods) console.log(`${pod.settings['pod']}:\n${pod.tail(30)}`)
  await Promise.all(pods.map((pod) => pod.destroy()))
  network.close()
  s3.stop()
  if (postgresPort !== null) shell(`bash "${postgres}" stop "${postgresFolder}" immediate`)
  rmSync(folder, { recursive: true, force: true })
}
console.log(`pods: ${failed === 0 ? 1 : 0} passed, ${failed} failed`)
process.exit(failed > 0 ? 1 : 0)
