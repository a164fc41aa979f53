// One copy: incompressible records through many files and merges; the folder then holds hardly more than their bytes.
// usage: node test/compat/oneCopy.ts [--bytes 2147483648]
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Kafka, logLevel } from 'kafkajs'
import { Broker } from '../lib/broker.ts'

const LIMIT = 1.15
const { values: flags } = parseArgs({ options: { bytes: { type: 'string', default: String(2 ** 31) } } })
const here = dirname(fileURLToPath(import.meta.url))
const python = execFileSync(
  'bash',
  ['-c', `set -euo pipefail; source "${here}/lib/env.sh"; python_env clients "${here}/clients/python/requirements.txt"`],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
).trim()

/** Bytes of a folder's files; files may come and go meanwhile. */
function sizeOf(folder: string): number {
  let total = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    try {
      total += statSync(join(entry.parentPath, entry.name)).size
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return total
}

const bytes = Number(flags.bytes)
const broker = new Broker({ 'wal-grace-ms': '1000' })
await broker.start()
const admin = new Kafka({ brokers: [broker.bootstrap], logLevel: logLevel.ERROR }).admin()
await admin.connect()
await admin.createTopics({
  topics: [
    {
      topic: 'copy',
      numPartitions: 4,
      configEntries: [
        { name: 'table.commit.interval.ms', value: '1000' },
        { name: 'table.file.grace.ms', value: '1000' },
      ],
    },
  ],
})
await admin.disconnect()
const begun = Date.now()
const sent = Number(
  execFileSync(python, [join(here, 'clients/python/bulk.py'), broker.bootstrap, 'copy', '4', String(bytes), '1024'], {
    encoding: 'utf8',
  }).trim(),
)
console.log(`${sent} records in ${((Date.now() - begun) / 1000).toFixed(0)} s`)
let ratio = 0
let left = 0
const deadline = Date.now() + 600_000
for (;;) {
  await new Promise((resolve) => setTimeout(resolve, 2000))
  ratio = sizeOf(join(broker.folder, 'data')) / (sent * 1024)
  left = await broker.metric('frazil_wal_objects')
  if ((left === 0 && ratio <= LIMIT) || Date.now() > deadline) break
}
const files = await broker.metric('frazil_table_files')
const ok = left === 0 && ratio <= LIMIT && ratio >= 0.95
console.log(
  `${ok ? 'ok   ' : 'FAIL '} the folder holds ${ratio.toFixed(3)} × the value bytes in ${files} table files, ${left} WAL objects left, after ${((Date.now() - begun) / 1000).toFixed(0)} s`,
)
if (!ok) console.log(broker.tail(40))
await broker.destroy()
console.log(`oneCopy: ${ok ? 1 : 0} passed, ${ok ? 0 : 1} failed`)
process.exit(ok ? 0 : 1)
