// Foreign clients against one broker: every reader gets byte-identical records from every writer.
// usage: node test/compat/matrix.ts [--bootstrap HOST:PORT] [--only REGEX] [--records N]
// Without --bootstrap it starts Frazil itself and reads three times: from memory, from WAL objects after kill -9, and
// from table files after the WAL is gone. With it, any Kafka can be judged (once).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Kafka, logLevel } from 'kafkajs'
import { Broker } from '../lib/broker.ts'
import { installClients, runClient, topicName, type Client } from './clients.ts'
import { expectedLines, makeRecords, PARTITIONS, writeRecords, type TestRecord } from './records.ts'

const { values: flags } = parseArgs({
  options: {
    bootstrap: { type: 'string' },
    only: { type: 'string', default: '.' },
    records: { type: 'string', default: '2100' },
  },
})
let passed = 0
let failed = 0

async function check(name: string, body: () => Promise<void>): Promise<void> {
  const begun = Date.now()
  try {
    await body()
    passed++
    console.log(`ok    ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`)
  } catch (error) {
    failed++
    console.log(`FAIL  ${name}: ${(error as Error).message}`)
  }
}

function same(got: string, want: readonly string[], what: string): void {
  if (got !== want.join('\n')) throw new Error(`${what}: got ${got.replace(/\n/g, ' / ')}, want ${want.join(' / ')}`)
}

interface Written {
  readonly topic: string
  readonly writer: Client
  readonly records: readonly TestRecord[]
  readonly shape: 'full' | 'plain'
}

const clients = installClients(new RegExp(flags.only))
const broker = flags.bootstrap === undefined ? new Broker({ 'wal-grace-ms': '1000', 'group.initial.rebalance.delay.ms': '100' }) : null
await broker?.start()
const bootstrap = flags.bootstrap ?? broker!.bootstrap
const work = mkdtempSync(join(tmpdir(), 'frazil-compat-'))
const sets = { full: makeRecords(Number(flags.records), 'full'), plain: makeRecords(Number(flags.records), 'plain') }
const written: Written[] = []

const admin = new Kafka({ brokers: [bootstrap], clientId: 'matrix', logLevel: logLevel.ERROR }).admin()
await admin.connect()
for (const writer of clients) {
  if (writer.writes === null) continue
  const shape = writer.writes
  // one topic a writer; each codec and acks mode writes its slice of the records
  const cells = writer.codecs
    .map((codec): readonly [string, string] => [codec, 'all'])
    .concat(writer.acks.filter((acks) => acks !== 'all').map((acks): readonly [string, string] => ['none', acks]))
  const topic = topicName(writer.name)
  const configEntries = broker === null ? [] : [{ name: 'table.commit.interval.ms', value: '60000' }]
  await admin.createTopics({ topics: [{ topic, numPartitions: PARTITIONS, replicationFactor: 1, configEntries }] })
  const records: TestRecord[] = []
  for (const [n, [codec, acks]] of cells.entries()) {
    await check(`write: ${writer.name}, ${codec}, acks ${acks}`, async () => {
      const size = Math.ceil(sets[shape].length / cells.length)
      const slice = sets[shape].slice(n * size, (n + 1) * size)
      const file = join(work, `${writer.name}-${n}`)
      writeRecords(file, slice)
      records.push(...slice)
      const idempotent = writer.idempotent && acks === 'all' && codec !== 'gzip'
      await runClient(writer, 'produce', { bootstrap, topic, records: file, codec, acks, idempotent })
      await arrived(topic, records.length)
    })
  }
  written.push({ topic, writer, records, shape })
}
await admin.disconnect()

/** Without acks the client is done before the broker is. */
async function arrived(topic: string, count: number): Promise<void> {
  const deadline = Date.now() + 30_000
  for (;;) {
    const ends = await admin.fetchTopicOffsets(topic)
    const total = ends.reduce((sum, end) => sum + Number(end.high), 0)
    if (total === count) return
    if (total > count || Date.now() > deadline) throw new Error(`the topic has ${total} records, not ${count}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function read(reader: Client, from: Written, starts: readonly number[], group?: string): Promise<void> {
  const counts = expectedLines(from.records, 'none', starts).map((line) => line.split(' ')[1])
  const options: Record<string, string> = {
    bootstrap,
    topic: from.topic,
    counts: counts.join(','),
    ...(group === undefined ? {} : { group }),
  }
  if (starts.length > 0) options['start'] = starts.join(',')
  same(
    await runClient(reader, 'consume', options),
    expectedLines(from.records, reader.headers, starts),
    `${reader.name} reads ${from.topic}`,
  )
}

/** Clients with headers as a map cannot show repeated keys, so they read plain records only. */
const readable = (reader: Client, from: Written): boolean => from.shape === 'plain' || reader.name !== 'platformatic'

async function readAll(phase: string): Promise<void> {
  for (const reader of clients) {
    if (reader.reads === null) continue
    for (const from of written) {
      if (readable(reader, from)) await check(`read, ${phase}: ${reader.name} from ${from.writer.name}`, () => read(reader, from, []))
    }
    const first = written.find((from) => readable(reader, from))
    if (first === undefined) continue
    if (reader.reads === 'seek') await check(`seek, ${phase}: ${reader.name}`, () => read(reader, first, [7, 111, 150]))
    if (reader.groups)
      await check(`group, ${phase}: ${reader.name}`, () => read(reader, first, [], `g-${reader.name}-${phase.replace(/\W/g, '')}`))
    if (reader.timeLookup) {
      await check(`time, ${phase}: ${reader.name}`, async () => {
        const own = first.records.filter((record) => record.partition === 1)
        const wanted = own[Math.floor(own.length / 2)]!.timestampMs
        same(
          await runClient(reader, 'time', { bootstrap, topic: first.topic, partition: '1', timestamp: String(wanted) }),
          [String(own.findIndex((record) => record.timestampMs >= wanted))],
          'first offset at or after the time',
        )
      })
    }
  }
}

await readAll('from memory')
if (broker !== null) {
  await broker.restart('SIGKILL')
  await readAll('from WAL objects')
  const tables = (await (await fetch(`${broker.http}/iceberg/v1/namespaces/default/tables`)).json()) as { identifiers: { name: string }[] }
  for (const { name } of tables.identifiers) await fetch(`${broker.http}/iceberg/v1/namespaces/default/tables/${name}`)
  await broker.drained()
  await broker.restart('SIGKILL')
  await readAll('from table files')
  if (failed > 0) console.log(broker.tail(40))
  await broker.destroy()
}
rmSync(work, { recursive: true, force: true })
console.log(`compat: ${passed} passed, ${failed} failed`)
process.exit(failed > 0 ? 1 : 0)
