// kill -9 at random moments of a loaded run: no acknowledged record missing or doubled, in the log or in the table.
// usage: node test/compat/kill9.ts [--kills 10] [--seed N]
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Kafka, logLevel } from 'kafkajs'
import { Broker } from '../lib/broker.ts'

const { values: flags } = parseArgs({ options: { kills: { type: 'string', default: '10' }, seed: { type: 'string' } } })
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
const python = (name: string, requirements: string): string =>
  execFileSync('bash', ['-c', `set -euo pipefail; source "${here}/lib/env.sh"; python_env ${name} "${requirements}"`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()

const clients = python('clients', join(here, 'clients/python/requirements.txt'))
const readers = python('readers', join(here, '../readers/python/requirements.txt'))
const PARTITIONS = 4
const topic = 'kill9'
const broker = new Broker({ 'wal-grace-ms': '500', 'snapshot-bytes': '262144', 'convert-bytes': '1048576', 'wal-evacuate-ms': '2000' })
await broker.start()
const admin = new Kafka({ brokers: [broker.bootstrap], logLevel: logLevel.ERROR }).admin()
await admin.connect()
await admin.createTopics({
  topics: [
    {
      topic,
      numPartitions: PARTITIONS,
      configEntries: [
        { name: 'table.commit.interval.ms', value: '700' },
        { name: 'table.file.grace.ms', value: '1000' },
      ],
    },
  ],
})
await admin.disconnect()

const acked = join(broker.folder, 'acked')
mkdirSync(acked)
const names = ['a', 'b']
const loaders = names.map((name) => {
  const child = spawn(
    clients,
    [
      join(here, 'clients/python/loader.py'),
      '--bootstrap',
      broker.bootstrap,
      '--topic',
      topic,
      '--partitions',
      String(PARTITIONS),
      '--producer',
      name,
      '--acked',
      join(acked, name),
    ],
    { stdio: ['pipe', 'inherit', 'inherit'] },
  )
  return { child, done: new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1))) }
})
console.log(`kill -9 ${flags.kills} times, seed ${seed}`)
for (let kill = 0; kill < Number(flags.kills); kill++) {
  await sleep(300 + random() * 2500)
  await broker.restart('SIGKILL')
}
await sleep(1000)
for (const { child } of loaders) child.stdin.end()
const codes = await Promise.all(loaders.map(({ done }) => done))
let failed = codes.filter((code) => code !== 0).length
const verify = (): void => {
  try {
    execFileSync(
      readers,
      [
        join(here, '../readers/python/verify_load.py'),
        '--bootstrap',
        broker.bootstrap,
        '--http',
        broker.http,
        '--topic',
        topic,
        '--table',
        topic,
        '--partitions',
        String(PARTITIONS),
        ...names.map((name) => join(acked, name)),
      ],
      { stdio: 'inherit' },
    )
  } catch {
    failed++
  }
}
verify()
await broker.drained()
await broker.restart('SIGKILL')
console.log('again, from table files alone:')
verify()
if (failed > 0) console.log(broker.tail(40))
await broker.destroy()
console.log(`kill9: ${failed === 0 ? 1 : 0} passed, ${failed} failed`)
process.exit(failed > 0 ? 1 : 0)
