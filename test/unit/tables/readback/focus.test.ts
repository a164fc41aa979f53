import { afterAll, describe, expect, test } from 'vitest'
import { Registry } from 'prom-client'
import type { TableFile } from '../../../../src/metadata/view.ts'
import { RowFileEncoder } from '../../../../src/tables/parquet/encoder.ts'
import { FileTableReader } from '../../../../src/tables/readback/reader.ts'
import { CountingStore, putFile } from '../files.ts'
import { batchesFrom, generator, rowsOf, type TestRow } from '../records.ts'

const KIB = 1024
const ROWS = 64
const PARTITIONS = 40
const readers: FileTableReader[] = []
afterAll(() => Promise.all(readers.map((reader) => reader.close())))

const random = generator(5)
const rows: TestRow[] = Array.from({ length: ROWS }, (_, offset) => ({
  offset,
  timestampMs: 1790000000000 + offset,
  timestampType: 0,
  key: null,
  value: random.bytes(16 * KIB),
  headers: [],
}))

/** Files of all partitions: each has the rows [from, to) of each. */
async function files(store: CountingStore, parts: number, onePartitionPerRowGroup: boolean): Promise<TableFile[]> {
  const made: TableFile[] = []
  const step = ROWS / parts
  for (let from = 0; from < ROWS; from += step) {
    const encoder = new RowFileEncoder({ onePartitionPerRowGroup })
    for (let partition = 0; partition < PARTITIONS; partition++) {
      encoder.addBatches(partition, from, batchesFrom(rows.slice(from, from + step)))
    }
    const { chunks, ...stats } = encoder.finish()
    made.push(await putFile(store, 10 + made.length, Buffer.concat(chunks), stats))
  }
  return made
}

/** Reads all partitions as one client does: round after round, what is there; waits only when nothing is. */
async function readAll(reader: FileTableReader, made: readonly TableFile[], partitions: readonly number[]): Promise<number> {
  const next = new Map(partitions.map((partition) => [partition, 0]))
  let served = 0
  for (let round = 0; next.size > 0; round++) {
    expect(round).toBeLessThan(5_000)
    const waits: ((done: () => void) => () => void)[] = []
    let some = false
    for (const [partition, fromOffset] of next) {
      const of = made.filter(({ ranges }) => ranges[0].firstOffset <= fromOffset && ranges[0].lastOffset >= fromOffset)
      const lastOffset = of[0].ranges[0].lastOffset
      const read = reader.readNow({ files: of, partition, fromOffset, lastOffset, maxBytes: 200 * KIB, minOne: true })
      if (read === null) throw new Error('a read failed')
      if ('whenReady' in read) {
        waits.push((done) => read.whenReady(done))
        continue
      }
      some = true
      const fresh = rowsOf(read.batches).filter(({ offset }) => offset >= fromOffset)
      expect(fresh.map(({ offset }) => offset)).toEqual(fresh.map((_, i) => fromOffset + i))
      served += read.batches.reduce((sum, batch) => sum + batch.length, 0)
      if (read.nextOffset >= ROWS) next.delete(partition)
      else next.set(partition, read.nextOffset)
    }
    if (!some) {
      await new Promise<void>((resolve) => {
        const stops = waits.map((wait) =>
          wait(() => {
            for (const stop of stops) stop()
            resolve()
          }),
        )
      })
    }
  }
  return served
}

describe.each([
  ['row groups of one partition each', 1, true],
  ['files of many partitions', 8, false],
] as const)('%s, more of them than memory has room for', (_, parts, onePartitionPerRowGroup) => {
  test('are decoded at most twice over, and each partition gets to its end', async () => {
    const store = new CountingStore()
    const made = await files(store, parts, onePartitionPerRowGroup)
    // 40 MiB are read with room for four.
    const registry = new Registry()
    const reader = new FileTableReader({ store, registry, cacheBytes: 4 * 1100 * KIB })
    readers.push(reader)
    const partitions = Array.from({ length: PARTITIONS }, (__, i) => i)
    const served = await readAll(reader, made, partitions)
    const metric = async (name: string): Promise<number> => (await registry.getSingleMetric(name)!.get()).values[0].value
    expect(served).toBeGreaterThanOrEqual(PARTITIONS * ROWS * 16 * KIB)
    expect(await metric('frazil_readback_decoded_bytes_total')).toBeLessThanOrEqual(served * 2)
    expect(await metric('frazil_readback_cache_bytes')).toBeLessThanOrEqual(12 * 1024 * KIB)
  })
})

test('partitions that nobody reads hold no room in a file of many', async () => {
  const store = new CountingStore()
  const made = await files(store, 8, false)
  const reader = new FileTableReader({ store, cacheBytes: 1 })
  readers.push(reader)
  expect(await readAll(reader, made, [3])).toBeGreaterThanOrEqual(ROWS * 16 * KIB)
})
