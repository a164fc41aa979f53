// Foreign engines against a topic's table: the same rows as a Kafka consumer, by offset, key, value, headers and time.
// usage: node test/readers/run.ts [--only REGEX] [--records N] [--store s3]
// --store s3: the bytes and the metadata log on a real S3 server; PyIceberg and DuckDB find it by what the catalog tells them.
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Kafka, logLevel } from 'kafkajs'
import { Broker } from '../lib/broker.ts'
import { S3Server } from '../lib/s3Server.ts'
import { installClients, runClient } from '../compat/clients.ts'
import { produceTyped } from './typed.ts'
import { makeRecords, PARTITIONS, writeRecords } from '../compat/records.ts'

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: '.' },
    records: { type: 'string', default: '3000' },
    store: { type: 'string', default: 'file' },
  },
})
const onS3 = flags.store === 's3'
/** Engines that have what they need for S3 here. */
const S3_ENGINES = /PyIceberg|DuckDB, catalog/
const here = dirname(fileURLToPath(import.meta.url))
const only = new RegExp(flags.only)
let passed = 0
let failed = 0

function shell(line: string): string {
  const script = `set -euo pipefail; source "${here}/../compat/lib/env.sh"; source "${here}/lib/engines.sh"; ${line}`
  return execFileSync('bash', ['-c', script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1 << 28,
    timeout: 400_000,
  })
}
const python = shell(`python_env readers "${here}/python/requirements.txt"`).trim()
const script = (name: string, ...args: string[]): string =>
  execFileSync(python, [join(here, 'python', name), ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    timeout: 300_000,
    stdio: ['ignore', 'pipe', 'inherit'],
  })

const TYPED_ROWS = 400
const s3 = onS3 ? await S3Server.start() : null
const broker = new Broker({ 'wal-grace-ms': '1000', ...s3?.settings('readers') })
await broker.start()
/** The same records in two tables: a plain one, and one of Iceberg v3 that is partitioned. */
const topics = ['readers.rows', 'readers.parted']
const admin = new Kafka({ brokers: [broker.bootstrap], logLevel: logLevel.ERROR }).admin()
await admin.connect()
const formats = [
  { name: 'table.commit.interval.ms', value: '1000' },
  { name: 'table.formats', value: 'iceberg,delta,paimon' },
]
await admin.createTopics({
  topics: [
    { topic: topics[0]!, numPartitions: PARTITIONS, configEntries: formats },
    {
      topic: topics[1]!,
      numPartitions: PARTITIONS,
      configEntries: [
        ...formats,
        { name: 'table.format.version', value: '3' },
        { name: 'table.partition.by', value: 'hour(kafka_timestamp), bucket(3, kafka_key), truncate(2, kafka_value)' },
      ],
    },
    { topic: 'readers.empty', numPartitions: 1, configEntries: formats },
    { topic: 'readers.typed', numPartitions: 2, configEntries: formats },
  ],
})
await admin.disconnect()
const records = makeRecords(Number(flags.records), 'full')
const writer = installClients(/^librdkafka$/)[0]!
// several files: each third is converted on its own
for (let third = 0; third < 3; third++) {
  const file = join(broker.folder, `records-${third}`)
  const size = Math.ceil(records.length / 3)
  writeRecords(file, records.slice(third * size, (third + 1) * size))
  for (const topic of topics) {
    await runClient(writer, 'produce', {
      bootstrap: broker.bootstrap,
      topic,
      records: file,
      codec: ['none', 'zstd', 'snappy'][third]!,
      acks: 'all',
      idempotent: true,
    })
    await fetch(`${broker.http}/iceberg/v1/namespaces/default/tables/${topic.replace('.', '_')}`)
  }
}
await produceTyped(broker, 'readers.typed', TYPED_ROWS, () => fetch(`${broker.http}/iceberg/v1/namespaces/default/tables/readers_typed`))
const moment = new Date(records[Math.floor(records.length / 2)]!.timestampMs).toISOString().replace('T', ' ').replace('Z', '')
const references = topics.map((topic) => script('read_consumer.py', broker.bootstrap, topic, String(PARTITIONS), moment).trim())
console.log(`reference: ${references.map((one) => one.split('\n').length - 5).join(' and ')} records by a consumer`)
const rest = `${broker.http}/iceberg`
const root = (name: string): string => {
  const tables = join(broker.folder, 'data/tables/default')
  return join(
    tables,
    readdirSync(tables).find((one) => one.startsWith(`${name}-`))!,
  )
}
const folder = (table: string): string => join(root(table), '_iceberg')

/** Waits until Delta and Paimon show what Iceberg does. */
async function followed(): Promise<void> {
  for (let turn = 0; turn < 300; turn++) {
    const metrics = await (await fetch(`${broker.http}/metrics`)).text()
    const lags = [...metrics.matchAll(/^frazil_table_replica_lag_publications\{.*\} (\d+)$/gm)].map((match) => Number(match[1]))
    if (lags.length === 8 && lags.every((lag) => lag === 0)) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('Delta or Paimon did not catch up within 30 s')
}
await followed()
const paimonPython = shell(`python_env paimon "${here}/python/requirements-paimon.txt"`).trim()
const paimon = (name: string): string =>
  execFileSync(paimonPython, [join(here, 'python', 'read_paimon.py'), join(root(name), '_paimon'), `default.${name}`, moment], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    timeout: 300_000,
    stdio: ['ignore', 'pipe', 'inherit'],
  })

const engines: Record<string, (table: string) => string> = {
  PyIceberg: (table) => script('read_pyiceberg.py', rest, 'default', table, moment),
  'DuckDB, catalog': (table) => script('read_duckdb.py', 'rest', rest, 'default', table, moment),
  'DuckDB, folder': (table) => script('read_duckdb.py', 'path', folder(table), moment),
  'Delta, delta-rs': (table) => script('read_delta.py', 'deltalake', root(table), moment),
  'Delta, DuckDB': (table) => script('read_delta.py', 'duckdb', root(table), moment),
  'Delta, Polars': (table) => script('read_delta.py', 'polars', root(table), moment),
  'Paimon, pypaimon': (table) => paimon(table),
  Spark: (table) =>
    shell(
      `py=$(spark_env); export SPARK_LOCAL_IP=127.0.0.1 JAVA_HOME=$(java_home 17 21); "$py" "${here}/python/read_spark.py" "${rest}" default ${table} "${moment}" "$FRAZIL_CACHE/java-spark"`,
    ),
  Trino: (table) => shell(`"${here}/read_trino.sh" "${rest}" default ${table} "${moment}" "${python}"`),
}
/** Engines that do not read v3 yet. */
const V2_ONLY = new Set(['Trino'])
const cases = topics.flatMap((topic, n) =>
  Object.entries(engines)
    .filter(([engine]) => n === 0 || !V2_ONLY.has(engine))
    .map(([engine, read]) => ({ name: `${engine}${n === 0 ? '' : ', v3 and partitioned'}`, read, table: topic.replace('.', '_'), n })),
)
for (const { name, read, table, n } of cases) {
  if (!only.test(name) || (onS3 && !S3_ENGINES.test(name))) continue
  const begun = Date.now()
  try {
    const got = read(table).trim().split('\n')
    const want = references[n]!.split('\n')
    const at = want.findIndex((line, n) => line !== got[n])
    if (at >= 0 || got.length !== want.length)
      throw new Error(`${got.length} lines, not ${want.length}; first difference: got ${got[at]}, want ${want[at]}`)
    passed++
    console.log(`ok    ${name}: equal rows and filters (${((Date.now() - begun) / 1000).toFixed(1)} s)`)
  } catch (error) {
    failed++
    console.log(`FAIL  ${name}: ${(error as Error).message.slice(0, 2000)}`)
  }
}
try {
  const got = script('read_duckdb.py', 'rest', rest, 'default', 'readers_empty', moment).trim()
  if (!got.startsWith('filter offsets 0')) throw new Error(got)
  const iceberg = script('read_pyiceberg.py', rest, 'default', 'readers_empty', moment).trim()
  if (iceberg !== got) throw new Error(iceberg)
  for (const engine of onS3 ? [] : ['deltalake', 'duckdb', 'polars']) {
    const delta = script('read_delta.py', engine, root('readers_empty'), moment).trim()
    if (delta !== got) throw new Error(`${engine}: ${delta}`)
  }
  const files = onS3 ? got : paimon('readers_empty').trim()
  if (files !== got) throw new Error(`pypaimon: ${files}`)
  passed++
  console.log('ok    an empty table has no rows')
} catch (error) {
  failed++
  console.log(`FAIL  an empty table: ${(error as Error).message.slice(0, 500)}`)
}
if (!onS3 && only.test('typed columns'))
  try {
    const { sha256, rows, columns } = JSON.parse(script('digest.py', 'pyiceberg', rest, 'default', 'readers_typed')) as Record<
      string,
      unknown
    >
    if (rows !== TYPED_ROWS || !(columns as string[]).includes('inner')) throw new Error(`${String(rows)} rows of ${String(columns)}`)
    const others = ['deltalake', 'duckdb', 'polars'].map((engine) => [engine, script('digest.py', engine, root('readers_typed'))] as const)
    const warehouse = join(root('readers_typed'), '_paimon')
    const files = execFileSync(paimonPython, [join(here, 'python', 'digest.py'), 'pypaimon', warehouse, 'default.readers_typed'], {
      encoding: 'utf8',
      timeout: 300_000,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    for (const [engine, line] of [...others, ['pypaimon', files] as const]) {
      const got = JSON.parse(line) as Record<string, unknown>
      if (got['sha256'] !== sha256) throw new Error(`${engine} differs: ${line.slice(0, 600)}`)
    }
    passed++
    console.log(`ok    typed columns: one digest by PyIceberg, delta-rs, DuckDB, Polars and pypaimon`)
  } catch (error) {
    failed++
    console.log(`FAIL  typed columns: ${(error as Error).message.slice(0, 2000)}`)
  }
if (failed > 0) console.log(broker.tail(40))
await broker.destroy()
s3?.stop()
console.log(`readers${onS3 ? ' on S3' : ''}: ${passed} passed, ${failed} failed`)
process.exit(failed > 0 ? 1 : 0)
