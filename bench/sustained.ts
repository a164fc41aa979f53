// Records to table, sustained: Frazil beside Kafka + Kafka Connect's Iceberg sink, on the same machine in the same run.
// usage: node bench/sustained.ts [--records 1000000] [--rounds 1] [--only frazil|kafka]
// JSON records of ten fields, about 200 bytes, acks=all, lz4, linger 20 ms, batch 256 KiB. Clock and CPU seconds (broker, and
// the Connect worker without its start) run from the first record sent until all rows are in the table.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from '../test/lib/broker.ts'
import { cpuSeconds, javaArgs, kafkaJars, median, root, run, shell, sleep } from './lib/process.ts'
import { createTopic, FrazilSubject, KafkaSubject, type Subject } from './lib/subjects.ts'

const { values: flags } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
})
const records = Number(flags.records)
const DISTINCT = 100_000
const PARTITIONS = 4
const LIMIT_MS = 240_000
const PRODUCER = ['acks=all', 'linger.ms=20', 'batch.size=262144', 'compression.type=lz4']
const jars = kafkaJars()
const work = mkdtempSync(join(tmpdir(), 'frazil-sustained-'))
const payload = join(work, 'payload.json')

/** Different records of ten fields; the producer draws from them at random. */
function makePayload(): number {
  let seed = 7
  const random = (): number => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648
  const pick = (...words: string[]): string => words[Math.floor(random() * words.length)]!
  const lines = Array.from({ length: DISTINCT }, (_, id) =>
    JSON.stringify({
      id,
      user: `user-${String(Math.floor(random() * 1e6)).padStart(7, '0')}`,
      event: pick('view', 'view', 'add_to_cart', 'purchase'),
      amount: Math.round(random() * 1e5) / 100,
      quantity: 1 + Math.floor(random() * 9),
      country: pick('DE', 'US', 'JP'),
      session: Math.floor(random() * 2 ** 48).toString(16),
      ts: 1_790_000_000_000 + Math.floor(random() * 86_400_000),
      ok: random() < 0.9,
      note: `${pick('alpha', 'beta')} some words about this order ${Math.floor(random() * 1e5)}`,
    }),
  )
  writeFileSync(payload, lines.join('\n') + '\n')
  return (statSync(payload).size - DISTINCT) * (records / DISTINCT)
}

const valueBytes = makePayload()

interface Measured {
  readonly megabytesPerSecond: number
  readonly cpuSecondsPerGigabyte: number
  readonly secondsBehind: number
}

async function produce(subject: Subject, topic: string): Promise<void> {
  const args = [
    '--bootstrap-server',
    subject.bootstrap,
    '--topic',
    topic,
    '--num-records',
    String(records),
    '--payload-file',
    payload,
    '--throughput',
    '-1',
    '--command-property',
    ...PRODUCER,
  ]
  await run('0,1', 'java', javaArgs(jars, '512m', 'org.apache.kafka.tools.ProducerPerformance', args), LIMIT_MS)
}

/** From the first record until `rows` says that all are in the table. */
async function measure(subject: Subject, topic: string, cpu: () => number, rows: () => Promise<number>): Promise<Measured> {
  const cpuBefore = cpu()
  const begun = performance.now()
  await produce(subject, topic)
  const produced = performance.now()
  while ((await rows()) < records) {
    if (performance.now() - begun > LIMIT_MS) throw new Error(`only ${await rows()} of ${records} rows are in the table`)
    await sleep(250)
  }
  const ended = performance.now()
  return {
    megabytesPerSecond: valueBytes / 1e3 / (ended - begun),
    cpuSecondsPerGigabyte: (cpu() - cpuBefore) / (valueBytes / 1e9),
    secondsBehind: (ended - produced) / 1000,
  }
}

async function frazil(): Promise<Measured> {
  const subject = new FrazilSubject('0,1', {})
  await subject.start()
  try {
    await createTopic(subject, 'events', PARTITIONS, { 'table.commit.interval.ms': '10000' })
    const table = `${subject.http}/iceberg/v1/namespaces/default/tables/events`
    return await measure(
      subject,
      'events',
      () => cpuSeconds(subject.pid),
      async () => {
        // the lag, not a load: a load would flush
        const lag = await subject.metric('frazil_table_lag_records')
        if (lag > 0) return 0
        const { metadata } = (await (await fetch(table)).json()) as { metadata: { snapshots: { summary: Record<string, string> }[] } }
        return Number(metadata.snapshots.at(-1)!.summary['total-records'])
      },
    )
  } finally {
    await subject.destroy()
  }
}

/** Starts a Connect worker; gives its pid and REST address. */
async function startConnect(subject: Subject): Promise<{ readonly pid: number; readonly url: string; stop(): void }> {
  const plugin = shell(`java_jars connect-iceberg "${root}/bench/lib/connect-iceberg-pom.xml"`)
  const compat = shell(`java_jars connect-compat "${root}/bench/lib/connect-compat-pom.xml"`)
  const plugins = join(work, 'plugins')
  if (!existsSync(plugins)) {
    mkdirSync(plugins)
    symlinkSync(plugin, join(plugins, 'iceberg'))
  }
  const port = await freePort()
  const file = join(work, `worker-${port}.properties`)
  const settings = {
    'bootstrap.servers': subject.bootstrap,
    'group.id': 'worker',
    'config.storage.topic': 'connect-configs',
    'offset.storage.topic': 'connect-offsets',
    'status.storage.topic': 'connect-status',
    'config.storage.replication.factor': 1,
    'offset.storage.replication.factor': 1,
    'offset.storage.partitions': 4,
    'status.storage.replication.factor': 1,
    'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
    'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
    'value.converter.schemas.enable': false,
    listeners: `http://127.0.0.1:${port}`,
    'plugin.path': plugins,
    'plugin.discovery': 'service_load',
    'connector.client.config.override.policy': 'All',
  }
  writeFileSync(
    file,
    Object.entries(settings)
      .map(([key, value]) => `${key}=${value}\n`)
      .join(''),
  )
  const child = spawn('java', javaArgs(`${jars}/*:${compat}`, '1g', 'org.apache.kafka.connect.cli.ConnectDistributed', [file], jars), {
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  const url = `http://127.0.0.1:${port}`
  for (let n = 0; ; n++) {
    const up = await fetch(`${url}/connectors`).then(
      (answer) => answer.ok,
      () => false,
    )
    if (up) break
    if (child.exitCode !== null || n > 240) throw new Error('the Connect worker does not answer')
    await sleep(500)
  }
  return { pid: child.pid!, url, stop: () => void child.kill('SIGKILL') }
}

async function kafka(): Promise<Measured> {
  const subject = new KafkaSubject('0,1', jars)
  await subject.start()
  try {
    await createTopic(subject, 'events', PARTITIONS)
    await createTopic(subject, 'control', 1)
    const warehouse = join(subject.folder, 'warehouse')
    const connect = await startConnect(subject)
    try {
      const config = {
        'connector.class': 'org.apache.iceberg.connect.IcebergSinkConnector',
        'tasks.max': '1',
        topics: 'events',
        'iceberg.tables': 'db.events',
        'iceberg.tables.auto-create-enabled': 'true',
        'iceberg.tables.evolve-schema-enabled': 'false',
        'iceberg.control.topic': 'control',
        'iceberg.control.commit.interval-ms': '10000',
        'iceberg.control.group-id-prefix': 'cg',
        'consumer.override.auto.offset.reset': 'earliest',
        'consumer.override.max.poll.records': '5000',
        'iceberg.catalog.type': 'hadoop',
        'iceberg.catalog.warehouse': `file://${warehouse}`,
      }
      const put = await fetch(`${connect.url}/connectors/sink/config`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(config),
      })
      if (!put.ok) throw new Error(await put.text())
      await sleep(5000)
      const folder = join(warehouse, 'db/events/metadata')
      const rows = async (): Promise<number> => {
        if (!existsSync(folder)) return 0
        const newest = readdirSync(folder)
          .filter((name) => name.endsWith('.metadata.json'))
          .toSorted((a, b) => statSync(join(folder, a)).mtimeMs - statSync(join(folder, b)).mtimeMs)
          .at(-1)
        const totals = [...readFileSync(join(folder, newest!), 'utf8').matchAll(/"total-records"\s*:\s*"(\d+)"/g)]
        return Number(totals.at(-1)?.[1] ?? 0)
      }
      return await measure(subject, 'events', () => cpuSeconds(subject.pid) + cpuSeconds(connect.pid), rows)
    } catch (error) {
      const status = await fetch(`${connect.url}/connectors/sink/status`).then((answer) => answer.text())
      throw new Error(`the peer failed; its connector says ${status}`, { cause: error })
    } finally {
      connect.stop()
    }
  } finally {
    await subject.destroy()
  }
}

const results: Record<string, Measured[]> = { frazil: [], kafka: [] }
for (let round = 0; round < Number(flags.rounds); round++) {
  for (const [name, measureOne] of Object.entries({ kafka, frazil })) {
    if (flags.only !== '' && flags.only !== name) continue
    const measured = await measureOne()
    results[name]!.push(measured)
    console.log(
      `round ${round + 1} ${name.padEnd(6)} MB/s ${measured.megabytesPerSecond.toFixed(1)}  CPU s/GB ${measured.cpuSecondsPerGigabyte.toFixed(1)}  behind ${measured.secondsBehind.toFixed(1)} s`,
    )
  }
}
console.log(`\n${records} records, ${(valueBytes / 1e6).toFixed(0)} MB of values; ProducerPerformance ${PRODUCER.join(' ')}`)
for (const what of ['megabytesPerSecond', 'cpuSecondsPerGigabyte', 'secondsBehind'] as const) {
  const ours = median(results['frazil']!.map((one) => one[what]))
  const theirs = median(results['kafka']!.map((one) => one[what]))
  const goal = { megabytesPerSecond: '-', cpuSecondsPerGigabyte: '≤ 0.33', secondsBehind: '-' }[what]
  console.log(
    `  ${what.padEnd(22)} frazil ${ours.toFixed(2).padStart(8)}   kafka + connect ${theirs.toFixed(2).padStart(8)}   ratio ${(ours / theirs).toFixed(2)}   goal ${goal}`,
  )
}
rmSync(work, { recursive: true, force: true })
