import { expect, test } from 'vitest'
import { RowFileEncoder } from '../../src/tables/parquet/encoder.ts'
import { batchesFrom, generator, type TestRow } from '../unit/tables/records.ts'

// K7: a writer held all rows as columns until the end: 6.7 GB for 20 million rows. Ours holds one row group as stored.

test('what is not written out yet never exceeds a row group and a page a column', () => {
  const random = generator(7)
  const noise = random.bytes(1000)
  const rows = Array.from({ length: 500 }, (_, offset): TestRow => {
    const value = Buffer.from(noise)
    value.writeUInt32LE(random.int(2 ** 31), random.int(900))
    return {
      offset,
      timestampMs: offset,
      timestampType: 0,
      key: Buffer.from(`key ${offset}`),
      value: Buffer.concat([value, random.bytes(200)]),
      headers: [],
    }
  })
  const batch = batchesFrom(rows)
  const rowGroupStoredBytes = 1024 * 1024
  let written = 0
  const encoder = new RowFileEncoder({ rowGroupStoredBytes, pageBytes: 64 * 1024, sink: (bytes) => void (written += bytes.length) })
  let heldMost = 0
  for (let offset = 0; offset < 60_000; offset += 500) {
    encoder.addBatches(0, offset, batch)
    heldMost = Math.max(heldMost, encoder.sizeBytes - written)
  }
  const { sizeBytes, rowGroups, rows: count, chunks } = encoder.finish()
  expect(count).toBe(60_000)
  expect(chunks).toEqual([])
  expect(written).toBe(sizeBytes)
  expect(rowGroups).toBeGreaterThan(5)
  expect(heldMost).toBeLessThan(rowGroupStoredBytes * 1.7)
})
