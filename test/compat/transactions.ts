// Transactions of Kafka's own client and of librdkafka while the broker is killed with -9: no transaction is torn, doubled or lost,
// in the log, in a copy made by transactions with group offsets, and in the tables; then Kafka's own TransactionsCommand.
// usage: node test/compat/transactions.ts [--kills 3] [--seconds 3]
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Kafka, logLevel } from 'kafkajs'
import { Broker } from '../lib/broker.ts'
import { transactionsCommand } from './transactions/command.ts'

const { values: flags } = parseArgs({ options: { kills: { type: 'string', default: '3' }, seconds: { type: 'string', default: '3' } } })
const here = dirname(fileURLToPath(import.meta.url))
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const shell = (line: string): string =>
  execFileSync('bash', ['-c', `set -euo pipefail; source "${here}/lib/env.sh"; ${line}`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()

const python = shell(`python_env clients "${here}/clients/python/requirements.txt"`)
const readers = shell(`python_env readers "${here}/../readers/python/requirements.txt"`)
const jars = shell(`java_jars client "${here}/clients/java/pom.xml"`)
const classes = join(jars, 'classes')
shell(`javac -nowarn -cp "${jars}/*" -d "${classes}" "${here}/transactions/TransactionalLoad.java"`)
const java = ['-XX:TieredStopAtLevel=1', '-Xmx128m', '-cp', `${classes}:${jars}/*`, 'TransactionalLoad']

const PARTITIONS = 4
const [topic, copy] = ['transfers', 'copies']
const broker = new Broker({ 'wal-grace-ms': '500', 'snapshot-bytes': '65536', 'wal-evacuate-ms': '2000' })
await broker.start()
const admin = new Kafka({ brokers: [broker.bootstrap], logLevel: logLevel.ERROR }).admin()
await admin.connect()
const configEntries = [{ name: 'table.commit.interval.ms', value: '700' }]
await admin.createTopics({ topics: [topic, copy].map((name) => ({ topic: name, numPartitions: PARTITIONS, configEntries })) })
await admin.disconnect()

interface Load {
  readonly child: ChildProcess
  readonly done: Promise<number>
}
function start(command: string, args: readonly string[]): Load {
  const child = spawn(command, args, { stdio: ['pipe', 'inherit', 'inherit'] })
  return { child, done: new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1))) }
}
async function end(loads: readonly Load[]): Promise<number> {
  for (const { child } of loads) child.stdin!.end()
  return (await Promise.all(loads.map(({ done }) => done))).filter((code) => code !== 0).length
}

const outcomes = join(broker.folder, 'outcomes')
mkdirSync(outcomes)
const pythonFlags = ['--bootstrap', broker.bootstrap, '--topic', topic, '--partitions', String(PARTITIONS), '--producer', 'librdkafka']
const loads = [
  start(python, [join(here, 'transactions/loader.py'), ...pythonFlags, '--outcomes', join(outcomes, 'librdkafka')]),
  start('java', [...java, 'load', broker.bootstrap, topic, String(PARTITIONS), 'java', join(outcomes, 'java')]),
]
const copier = start('java', [...java, 'copy', broker.bootstrap, topic, copy, 'copiers', 'copier'])
console.log(`kill -9 ${flags.kills} times in the middle of transactions`)
for (let kill = 0; kill <= Number(flags.kills); kill++) {
  await sleep(Number(flags.seconds) * 1000)
  if (kill < Number(flags.kills)) await broker.restart('SIGKILL')
}
let failed = await end(loads)
failed += await end([copier])
const verify = (): void => {
  const flagsOf = { bootstrap: broker.bootstrap, http: broker.http, topic, copy, partitions: String(PARTITIONS) }
  const args = Object.entries(flagsOf).flatMap(([name, value]) => [`--${name}`, value])
  try {
    const files = ['librdkafka', 'java'].map((name) => join(outcomes, name))
    execFileSync(readers, [join(here, 'transactions/verify.py'), ...args, ...files], { stdio: 'inherit' })
  } catch {
    failed++
  }
}
verify()
await broker.drained()
await broker.restart('SIGKILL')
console.log('again, from table files alone:')
verify()
failed += await transactionsCommand(broker, here, shell)
if (failed > 0) console.log(broker.tail(40))
await broker.destroy()
console.log(`transactions: ${failed === 0 ? 1 : 0} passed, ${failed} failed`)
process.exit(failed > 0 ? 1 : 0)
