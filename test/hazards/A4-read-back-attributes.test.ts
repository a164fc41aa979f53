import { expect, test } from 'vitest'
import { batchAttributes, batchCrcValid, codecOf } from '../../protocol/records/header.ts'
import { encodeFile } from '../unit/tables/files.ts'
import { batchesBack } from '../unit/tables/readBack.ts'
import { mixedRows, plain, rowsOf } from '../unit/tables/records.ts'

// A4: batches that were inflated and made anew went on announcing the codec they once had. Read back from a table they
// announce none, whatever they were produced with, and their bytes are so.

test.each([0, 1, 2, 3, 4])('batches produced with codec %i come back from the table as uncompressed ones', async (codec) => {
  const rows = mixedRows(200, codec + 1)
  const batches = (await batchesBack(encodeFile([{ partition: 0, rows }], { codec }).bytes)).get(0)!
  for (const batch of batches) {
    expect(codecOf(batchAttributes(batch))).toBe(0)
    expect(batchAttributes(batch) & ~0x08).toBe(0)
    expect(batchCrcValid(batch)).toBe(true)
  }
  expect(plain(rowsOf(batches))).toEqual(plain(rows))
})
