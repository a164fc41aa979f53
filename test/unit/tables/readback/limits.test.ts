import { afterAll, describe, expect, test } from 'vitest'
import { Registry } from 'prom-client'
import type { TableFile } from '../../../../src/metadata/view.ts'
import { RowFileEncoder } from '../../../../src/tables/parquet/encoder.ts'
import { mergeRowFiles } from '../../../../src/tables/parquet/merge.ts'
import { FileTableReader } from '../../../../src/tables/readback/reader.ts'
import { CountingStore, putFile } from '../files.ts'
import { batchesFrom, generator, rowsOf, type TestRow } from '../records.ts'
import { widened } from './wide.ts'

const MIB = 1024 * 1024
const readers: FileTableReader[] = []
afterAll(() => Promise.all(readers.map((reader) => reader.close())))

function open(
  store: CountingStore,
  options: { cacheBytes?: number } = {},
): { reader: FileTableReader; decodedBytes: () => Promise<number> } {
  const registry = new Registry()
  const reader = new FileTableReader({ store, registry, ...options })
  readers.push(reader)
  const decodedBytes = async (): Promise<number> =>
    (await registry.getSingleMetric('frazil_readback_decoded_bytes_total')!.get()).values[0].value
  return { reader, decodedBytes }
}

const random = generator(77)
const noise = random.bytes(4096)

/** Incompressible enough rows of 16 KiB: each value is noise under its own mask. */
function bigRows(count: number): TestRow[] {
  return Array.from({ length: count }, (_, offset) => {
    const value = Buffer.alloc(16 * 1024)
    for (let at = 0; at < value.length; at += 4)
      value.writeUInt32LE((noise.readUInt32LE((at * 31) % 4092) ^ Math.imul(offset * 7919 + at, 2654435761)) >>> 0, at)
    return { offset, timestampMs: 1790000000000 + offset, timestampType: 0, key: null, value, headers: [] }
  })
}

/** A merged file of one partition, about 60 MiB in row groups of 12. */
async function bigFile(store: CountingStore): Promise<{ file: TableFile; bytes: Buffer }> {
  const encoder = new RowFileEncoder()
  for (let at = 0; at < 3840; at += 384) {
    const rows = bigRows(3840).slice(at, at + 384)
    encoder.addBatches(0, at, batchesFrom(rows))
  }
  const { chunks, ...stats } = encoder.finish()
  const bytes = Buffer.concat(chunks)
  expect(stats.rowGroups).toBeGreaterThanOrEqual(5)
  return { file: await putFile(store, 1, bytes, stats), bytes }
}

describe('a fetch of 16 MiB from a large file', async () => {
  const store = new CountingStore()
  const { file, bytes } = await bigFile(store)
  const lastOffset = file.ranges[0].lastOffset
  const request = { files: [file], partition: 0, lastOffset, maxBytes: 16 * MIB }

  test('takes at most 4 gets cold and 2 warm, wherever it begins', async () => {
    for (const fromOffset of [0, 700, 760, 1500, 2000, 3000, 3839]) {
      const { reader } = open(store, { cacheBytes: 1 })
      let before = store.gets
      const cold = await reader.read({ ...request, fromOffset })
      expect(store.gets - before).toBeLessThanOrEqual(4)
      expect(rowsOf(cold.batches).some((row) => row.offset === fromOffset)).toBe(true)
      await reader.read({ ...request, fromOffset: 0 })
      before = store.gets
      await reader.read({ ...request, fromOffset: (fromOffset + 1900) % 3840, maxBytes: 16 * MIB })
      expect(store.gets - before).toBeLessThanOrEqual(2)
    }
  })

  test('reading all of it decodes each row group once and gets each once', async () => {
    const { reader, decodedBytes } = open(store)
    const before = { gets: store.gets, bytes: store.gotBytes }
    let served = 0
    for (let fromOffset = 0; fromOffset <= lastOffset;) {
      const { batches, nextOffset } = await reader.read({ ...request, fromOffset, maxBytes: MIB })
      served += batches.reduce((sum, batch) => sum + batch.length, 0)
      fromOffset = nextOffset
    }
    expect(store.gets - before.gets).toBeLessThanOrEqual(1 + 6)
    expect(await decodedBytes()).toBeLessThanOrEqual(served * 1.1)
    expect(store.gotBytes - before.bytes).toBeLessThanOrEqual(bytes.length * 1.1)
  })

  test('289 further columns before the log’s cost no further get', async () => {
    const wide = widened(bytes, 289)
    const wideStore = new CountingStore()
    const wideFile = { ...file, sizeBytes: wide.length }
    await wideStore.put(file.key, wide)
    for (const fromOffset of [0, 2000]) {
      const narrow = open(store)
      const other = open(wideStore)
      const before = { narrow: store.gets, wide: wideStore.gets }
      const a = await narrow.reader.read({ ...request, fromOffset, maxBytes: MIB })
      const b = await other.reader.read({ ...request, files: [wideFile], fromOffset, maxBytes: MIB })
      expect(b.batches.map((batch) => Buffer.from(batch).toString('base64').slice(0, 200))).toEqual(
        a.batches.map((batch) => Buffer.from(batch).toString('base64').slice(0, 200)),
      )
      expect(wideStore.gets - before.wide).toBeLessThanOrEqual((store.gets - before.narrow) * 1.5)
      expect(await other.decodedBytes()).toBeLessThanOrEqual((await narrow.decodedBytes()) * 1.5)
    }
  })
})

test('a first-level file of many partitions is decoded once for all of them', async () => {
  const store = new CountingStore()
  const encoder = new RowFileEncoder()
  const rows = bigRows(100)
  for (let partition = 0; partition < 16; partition++) encoder.addBatches(partition, 0, batchesFrom(rows))
  const { chunks, ...stats } = encoder.finish()
  const file = await putFile(store, 2, Buffer.concat(chunks), stats)
  const { reader, decodedBytes } = open(store)
  // All partitions at once: one flight for each footer and row group.
  let served = 0
  const all = async (partition: number): Promise<void> => {
    const offsets: number[] = []
    for (let fromOffset = 0; fromOffset < 100;) {
      const { batches, nextOffset } = await reader.read({ files: [file], partition, fromOffset, lastOffset: 99, maxBytes: 16 * MIB })
      served += batches.reduce((sum, batch) => sum + batch.length, 0)
      offsets.push(...rowsOf(batches).map((row) => row.offset))
      expect(nextOffset).toBeGreaterThan(fromOffset)
      fromOffset = nextOffset
    }
    expect(offsets).toEqual(rows.map((row) => row.offset))
  }
  await Promise.all(Array.from({ length: 16 }, (_, partition) => all(partition)))
  expect(stats.rowGroups).toBeGreaterThan(1)
  expect(store.gets).toBe(1 + stats.rowGroups)
  expect(await decodedBytes()).toBeLessThanOrEqual(served * 1.1)
})

test('times are found by row group, batch and record; the first row at or above the time', async () => {
  const store = new CountingStore()
  const rows = bigRows(60).map((row, i) =>
    Object.assign(row, { value: null, timestampMs: i === 5 ? -1 : 1000 + ((i * 37) % 60) * 10, offset: i * 3 }),
  )
  const encoder = new RowFileEncoder({ rowGroupRows: 1 })
  for (const row of rows) encoder.addBatches(2, row.offset, batchesFrom([row]))
  const { chunks, ...stats } = encoder.finish()
  const parts: Uint8Array[] = []
  const bytes = Buffer.concat(chunks)
  const merged = await mergeRowFiles(
    [{ sizeBytes: bytes.length, read: async (start, end) => bytes.subarray(start, end) }],
    (part) => void parts.push(part),
    { rowGroupRows: 1 },
  )
  const files = [await putFile(store, 3, bytes, stats), await putFile(store, 4, Buffer.concat(parts), merged)]
  const { reader } = open(store)
  for (const file of files) {
    for (const timestampMs of [-1, 0, 1000, 1005, 1300, 1590, 1591]) {
      for (const fromOffset of [0, 1, 60, 177, 178]) {
        const want = rows.find((row) => row.offset >= fromOffset && row.timestampMs >= timestampMs)
        const got = await reader.findByTime({ files: [file], partition: 2, fromOffset, timestampMs })
        expect(got).toEqual(want === undefined ? null : { offset: want.offset, timestampMs: want.timestampMs })
      }
    }
  }
})
