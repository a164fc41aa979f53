import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { loadSettings } from '../../../src/base/config/load.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { openBroker, type Broker } from '../../../src/wiring/broker.ts'
import { StoreMetrics } from '../../../src/storage/metrics.ts'
import type { FileResult } from '../../../src/tables/convert/tasks.ts'
import { TableWorkers } from '../../../src/tables/convert/workers.ts'
import type { ChunkPool } from '../../../src/tables/convert/chunks.ts'
import { KafkaServer } from '../../../src/server/server.ts'
import { podMetrics } from '../../../src/pods/metrics.ts'
import { topicCommand } from '../metadata/helpers.ts'
import { until, valueBatch } from '../tables/harness.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..')
const folder = mkdtempSync(join(tmpdir(), 'frazil-metrics-'))
const registry = new Registry()
let broker: Broker
let server: KafkaServer

beforeAll(async () => {
  const flags = ['--store', `file:${folder}`, '--pod', 'test', '--fsync', 'false', '--convert-workers', '1', '--read-workers', '1']
  const settings = loadSettings(flags, {}, () => null)
  broker = await openBroker({
    settings,
    clock: systemClock,
    logger: silentLogger,
    registry,
    endpoint: () => ({ host: '127.0.0.1', port: 9092 }),
    queuedBytes: () => 0,
    onStop: () => {},
  })
  // with a log of one there are none
  podMetrics(registry, { pods: () => 1, writesLog: () => true, links: () => 0 })
  const one = 1 << 20
  // made for its metrics alone: it never listens
  server = new KafkaServer({
    clock: systemClock,
    logger: silentLogger,
    registry,
    listeners: [],
    dispatch: () => Promise.resolve(null),
    limits: {
      requestMaxBytes: one,
      connectionInFlightBytes: one,
      inFlightBytes: one,
      queuedBytes: one,
      idleMs: 1000,
      connections: 1,
      connectionsPerHost: 1,
    },
  })
})

afterAll(async () => {
  await server.close(0)
  await broker.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The value of one line of /metrics, as `name{labels}`; 0 when it is not there. */
async function value(line: string): Promise<number> {
  const found = (await registry.metrics()).split('\n').find((one) => one.startsWith(`${line} `))
  return found === undefined ? 0 : Number(found.slice(line.length + 1))
}

test('docs/METRICS.md lists what a broker shows: run with -u to print it anew', async () => {
  const shown = (await registry.getMetricsAsJSON()) as unknown as { name: string; type: string; help: string }[]
  const rows = shown
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, help }) => {
      const { labelNames = [] } = registry.getSingleMetric(name) as unknown as { labelNames?: readonly string[] }
      const labels = labelNames.length === 0 ? '' : `{${labelNames.filter((label) => label !== 'le').join(',')}}`
      return `| \`${name}${labels === '{}' ? '' : labels}\` | ${type} | ${help} |`
    })
  expect(rows.filter((row) => !row.startsWith('| `frazil_'))).toEqual([])
  const page = [
    '# Metrics',
    '',
    'What `/metrics` shows (Prometheus text), units last. A test prints this page from a broker’s registry and keeps it equal.',
    '',
    '| metric | type | what |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
  await expect(page).toMatchFileSnapshot(join(root, 'docs/METRICS.md'))
})

test('produce, fetch, the table’s size and what worker threads ask of the store are counted', async () => {
  const { metadata, log } = broker.parts
  const uuid = '00000000-0000-4000-8000-000000000001'
  const made = await metadata.propose(topicCommand('counted', 1, { table: { namespace: 'default', name: 'counted', uuid } }))
  if (made.kind !== 'topic') throw new Error(JSON.stringify(made))
  const { topic } = made
  const batch = valueBatch(['a', 'b', 'c'])
  const refused = { ...valueBatch(['d']), baseSequence: 7, producerId: 1_000_000, producerEpoch: 0 }
  const { batches } = await log.append([
    { topic, partition: 0, batch },
    { topic, partition: 0, batch: refused, ready: Promise.resolve(2) },
  ])
  expect(batches.map(({ error }) => error)).toEqual([0, 2])
  expect(await value('frazil_produced_records_total')).toBe(3)
  expect(await value('frazil_produced_bytes_total')).toBe(batch.bytes.length)

  const partitions = [{ topic, partition: 0, fetchOffset: 0, maxBytes: 1 << 20 }]
  const [fetched] = await log.fetch({ partitions, minBytes: 1, maxBytes: 1 << 20, maxWaitMs: 0, signal: new AbortController().signal })
  expect(fetched.sizeBytes).toBeGreaterThan(0)
  expect(await value('frazil_fetched_bytes_total')).toBe(fetched.sizeBytes)

  expect(await value('frazil_store_requests_total{kind="put",reason="convert"}')).toBe(0)
  await broker.parts.convertTopic(topic)
  await until(() => metadata.state.table(topic)!.publication === 1, 'the publication')
  const [file] = [...metadata.state.table(topic)!.files()]
  expect(await value('frazil_table_bytes{topic="counted"}')).toBe(file!.sizeBytes)
  expect(await value('frazil_store_requests_total{kind="put",reason="convert"}')).toBe(1)
})

test('merging is counted apart from conversion, and a failed task is counted with the next one', async () => {
  const counts = new Registry()
  const spec = { kind: 'folder', path: folder, fsync: false } as const
  const back: number[] = []
  const chunks = { give: (given: readonly ArrayBuffer[]) => void back.push(...given.map((chunk) => chunk.byteLength)) } as ChunkPool
  const workers = new TableWorkers({ size: 1, spec, metrics: new StoreMetrics(counts), chunks })
  const inputs: FileResult[] = []
  const sizes: number[] = []
  for (const key of ['tables/a.parquet', 'tables/b.parquet']) {
    const bytes = Uint8Array.from(valueBatch(['x', 'y']).bytes).buffer
    const part = {
      partition: inputs.length,
      baseOffset: 0,
      fromOffset: 0,
      toOffset: 1,
      chunk: 0,
      at: 0,
      sizeBytes: bytes.byteLength,
      aborted: [],
    }
    sizes.push(bytes.byteLength)
    inputs.push(await workers.encode({ kind: 'encode', key, chunks: [bytes], parts: [part] }))
  }
  expect(back).toEqual(sizes) // the memory of what is done comes back
  const missing = workers.merge({ kind: 'merge', key: 'tables/none.parquet', inputs: [{ key: 'tables/gone.parquet', sizeBytes: 100 }] })
  await expect(missing).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
  const before = await counts.metrics()
  expect(before).toContain('{kind="put",reason="convert"} 2')
  expect(before).not.toContain('maintain')
  await workers.merge({ kind: 'merge', key: 'tables/c.parquet', inputs: inputs.map(({ key, sizeBytes }) => ({ key, sizeBytes })) })
  const after = await counts.metrics()
  expect(after).toContain('{kind="put",reason="maintain"} 1')
  expect(Number(/kind="get",reason="maintain"} (\d+)/.exec(after)?.[1])).toBeGreaterThanOrEqual(3)
  await workers.close()
})
