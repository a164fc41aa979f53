import { parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { describe, expect, it } from 'vitest'
import { Errors } from '../../../../protocol/errors.ts'
import { readBatchHeader } from '../../../../protocol/records/header.ts'
import { BatchBuilder } from '../../../../protocol/records/build.ts'
import type { TopicView } from '../../../../src/metadata/view.ts'
import { currentSnapshot } from '../../../../src/tables/iceberg/table.ts'
import { EntryStatus, type ManifestEntry } from '../../../../src/tables/iceberg/types.ts'
import { FileTableReader } from '../../../../src/tables/readback/reader.ts'
import { ManualClock } from '../../wal/harness.ts'
import { rowsOf } from '../records.ts'
import { advanceUntil, bench, valueBatch, type Bench } from '../harness.ts'

const DAY_MS = 86_400_000
const FIRST_DAY = 19_000

/** Values `v0`, `v1`, … with the keys and days given. */
async function produce(
  b: Bench,
  topic: TopicView,
  partition: number,
  rows: readonly { key: string | null; day: number; value: string }[],
): Promise<void> {
  const builder = new BatchBuilder()
  rows.forEach(({ key, day, value }, i) => {
    const keyBytes = key === null ? null : Buffer.from(key)
    const bytes = Buffer.from(value)
    builder.append(i, (FIRST_DAY + day) * DAY_MS + i, keyBytes, 0, keyBytes?.length ?? 0, bytes, 0, bytes.length)
  })
  const bytes = builder.finish()
  const batch = {
    bytes,
    offsetCount: rows.length,
    maxTimestampMs: readBatchHeader(bytes).maxTimestampMs,
    producerId: -1,
    producerEpoch: -1,
    baseSequence: -1,
    appendTimeMs: -1,
  }
  const [answer] = await b.wal.append([{ topic: topic.topic, partition, batch }])
  expect(answer!.error).toBe(0)
}

async function live(b: Bench, topic: TopicView): Promise<ManifestEntry[]> {
  const table = b.table(topic)
  const loaded = (await b.tables.publisher.load(table))!
  const entries: ManifestEntry[] = []
  for (const line of loaded.lines) entries.push(...(await b.tables.publisher.cache.entries(loaded.metadata, table.location, line)))
  return entries.filter((entry) => entry.status !== EntryStatus.deleted)
}

/** Values of a partition as consumers get them from the table. */
async function consumed(b: Bench, topic: TopicView, partition: number): Promise<string[]> {
  const reader = new FileTableReader({ store: b.store, workers: 1 })
  const values: string[] = []
  const { state } = b.engine
  let offset = 0
  const { endOffset } = state.partition(topic.topic, partition)!
  while (offset < endOffset) {
    const extent = state.extentAt(topic.topic, partition, offset)
    if (extent?.kind !== 'table') throw new Error(`offset ${offset} is in no table file`)
    const files = extent.files.map((id) => state.tableFile(id)!)
    const { batches, nextOffset } = await reader.read({
      files,
      partition,
      fromOffset: offset,
      lastOffset: extent.lastOffset,
      maxBytes: 1 << 20,
    })
    for (const row of rowsOf(batches)) if (row.offset >= offset) values.push(row.value!.toString())
    expect(nextOffset).toBeGreaterThan(offset)
    offset = nextOffset
  }
  await reader.close()
  return values
}

/** [row id, offset] of the rows of a file, as a v3 reader has them. */
async function rowIds(b: Bench, { file }: ManifestEntry): Promise<[number, number][]> {
  const { body } = await b.store.get(b.store.keyOf(file.path)!)
  const buffer = body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength) as ArrayBuffer
  const rows = (await parquetReadObjects({ file: buffer, compressors })) as { _row_id?: bigint | null; kafka_offset: bigint }[]
  return rows.map((row, position) => [Number(row._row_id ?? file.firstRowId! + position), Number(row.kafka_offset)])
}

const mixed = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({
    key: (from + i) % 5 === 0 ? null : `k${(from + i) % 3}`,
    day: (from + i) % 4,
    value: `v${from + i}`,
  }))

describe('a partitioned table', () => {
  it('has files of one partition each, whose rows come back in order (T10)', async () => {
    const clock = new ManualClock()
    const b = await bench({ clock })
    const topic = await b.topic('orders', 2, { 'table.partition.by': 'day(kafka_timestamp), kafka_key', 'table.format.version': '3' })
    for (let n = 0; n < 3; n++) {
      await produce(b, topic, n % 2, mixed(n * 40, 40))
      await b.load(topic)
      await clock.advance(3000)
    }
    const entries = await live(b, topic)
    // four days, three keys and null
    expect(new Set(entries.map((entry) => JSON.stringify(entry.file.partition))).size).toBe(16)
    expect(entries.reduce((sum, entry) => sum + entry.file.recordCount, 0)).toBe(120)
    const values = (from: number): string[] => mixed(from, 40).map((row) => row.value)
    expect(await consumed(b, topic, 0)).toEqual([...values(0), ...values(80)])
    expect(await consumed(b, topic, 1)).toEqual(values(40))
    for (const { file, specId } of entries) {
      expect(specId).toBe(1)
      const [day, key] = file.partition
      expect(Number(day) - FIRST_DAY).toBeGreaterThanOrEqual(0)
      const lower = new Map(file.metrics.lowerBounds).get(5)
      expect(lower === undefined ? null : Buffer.from(lower).toString()).toBe(key)
    }
    await b.end()
  })

  it('takes rows of partitions that the topic was given later', async () => {
    const clock = new ManualClock()
    const b = await bench({ clock, level: 2 })
    const topic = await b.topic('orders', 1, { 'table.partition.by': 'bucket(2, kafka_key), identity(kafka_partition)' })
    await produce(b, topic, 0, mixed(0, 20))
    await b.load(topic)
    await produce(b, topic, 0, mixed(20, 20))
    expect(await b.engine.propose({ kind: 'createPartitions', topic: topic.topic, partitions: 3 })).toEqual({ kind: 'ok' })
    const [refused] = await b.wal.append([{ topic: topic.topic, partition: 3, batch: valueBatch(['x']) }])
    expect(refused!.error).toBe(Errors.UNKNOWN_TOPIC_OR_PARTITION)
    await produce(b, topic, 2, mixed(100, 20))
    const loaded = await b.load(topic)
    const values = (from: number): string[] => mixed(from, 20).map((row) => row.value)
    expect(await consumed(b, topic, 0)).toEqual([...values(0), ...values(20)])
    expect(await consumed(b, topic, 1)).toEqual([])
    expect(await consumed(b, topic, 2)).toEqual(values(100))
    const entries = await live(b, topic)
    expect([...new Set(entries.map((entry) => Number(entry.file.partition[1])))].toSorted()).toEqual([0, 2])
    expect(currentSnapshot(loaded.metadata)!.summary).toMatchObject({ 'total-records': '60', 'frazil.offsets.2': '0-19' })
    await b.end()
  })

  it('merges within partitions, keeps row ids, and takes another partitioning later', async () => {
    const clock = new ManualClock()
    const b = await bench({ clock })
    const topic = await b.topic('orders', 1, { 'table.partition.by': 'kafka_key', 'table.format.version': '3' })
    const flush = async (n: number): Promise<void> => {
      await produce(b, topic, 0, mixed(n * 15, 15))
      await b.load(topic)
      await clock.advance(3000)
    }
    for (let n = 0; n < 9; n++) await flush(n)
    await advanceUntil(clock, 100, () => [...b.table(topic).files()].filter((file) => file.level === 1).length === 4, 'merges')
    const merged = (await live(b, topic)).filter((entry) => entry.level === 1)
    expect(merged.map((entry) => entry.file.partition[0]).toSorted()).toEqual([null, 'k0', 'k1', 'k2'].toSorted())
    await b.engine.propose({
      kind: 'alterConfigs',
      target: { topic: topic.topic },
      set: { 'table.partition.by': 'bucket(2, kafka_key)' },
      remove: [],
    })
    await flush(9)
    const entries = await live(b, topic)
    expect(new Set(entries.map((entry) => entry.specId))).toEqual(new Set([1, 2]))
    expect(entries.reduce((sum, entry) => sum + entry.file.recordCount, 0)).toBe(150)
    expect(await consumed(b, topic, 0)).toEqual(mixed(0, 150).map((row) => row.value))
    const ids = (await Promise.all(entries.map((entry) => rowIds(b, entry)))).flat().toSorted((x, y) => x[0] - y[0])
    expect(ids.map(([, offset]) => offset).length).toBe(150)
    // no id twice, and rows that were merged have those that they got first
    expect(new Set(ids.map(([id]) => id)).size).toBe(150)
    const byBatch = Map.groupBy(ids, ([id]) => Math.floor(id / 15))
    expect(
      [...byBatch.values()].filter((rows) => new Set(rows.map(([, offset]) => Math.floor(offset / 15))).size === 1).length,
    ).toBeGreaterThanOrEqual(9)
    await b.end()
  })

  it('sends what has no place of its own to one file (hazard K2)', async () => {
    const b = await bench()
    const topic = await b.topic('orders', 1, { 'table.partition.by': 'day(kafka_timestamp)' })
    await produce(
      b,
      topic,
      0,
      Array.from({ length: 500 }, (_, i) => ({ key: null, day: i, value: `v${i}` })),
    )
    await b.load(topic)
    const entries = await live(b, topic)
    expect(entries.length).toBe(65)
    expect(entries.filter((entry) => entry.specId === 0).map((entry) => entry.file.recordCount)).toEqual([500 - 64])
    await b.end()
  })
})
