import { expect, test } from 'vitest'
import { batchOffsetCount } from '../../protocol/records/header.ts'
import { RowFileEncoder } from '../../src/tables/parquet/encoder.ts'
import { mergeRowFiles } from '../../src/tables/parquet/merge.ts'
import { batchesBack, readBack } from '../unit/tables/readBack.ts'
import { batchesFrom, mixedRows, plain } from '../unit/tables/records.ts'

// E4: the delta of an offset overflowed int32, the block looked empty, and compaction deleted live data.

test('offsets 0 and 3 · 10^9 of one partition survive conversion, merging and reading back', async () => {
  const rows = [0, 3_000_000_000, 3_000_000_001].map((offset) => mixedRows(1, 5, offset)[0])
  const files = rows.map((row) => {
    const encoder = new RowFileEncoder()
    encoder.addBatches(0, row.offset, batchesFrom([row]))
    return Buffer.concat(encoder.finish().chunks)
  })
  const parts: Uint8Array[] = []
  const stats = await mergeRowFiles(
    files.map((bytes) => ({ sizeBytes: bytes.length, read: async (start, end) => bytes.subarray(start, end) })),
    (bytes) => void parts.push(bytes),
  )
  expect(stats.ranges).toMatchObject([{ firstOffset: 0, lastOffset: 3_000_000_001, rows: 3 }])
  const merged = Buffer.concat(parts)
  expect(plain((await readBack(merged)).get(0)!)).toEqual(plain(rows))
  const spans = (await batchesBack(merged)).get(0)!.map((batch) => batchOffsetCount(batch))
  expect(spans).toEqual([1, 2])
})
