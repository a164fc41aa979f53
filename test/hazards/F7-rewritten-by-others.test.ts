import { expect, test } from 'vitest'
import { readBack } from '../unit/tables/readBack.ts'
import { foreignFile, shuffled } from '../unit/tables/foreign.ts'
import { mixedRows, plain, rowsOf } from '../unit/tables/records.ts'
import { batchesBack } from '../unit/tables/readBack.ts'

// F7: files carried meaning in the order of their rows, so that a rewrite by another engine broke consumers. Here every row
// carries its partition and offset, and its checksum: order and writer of a file do not matter.

test('a file sorted by another column, by another writer, gives the same records within each row group', async () => {
  const rows = mixedRows(250, 61)
  const file = foreignFile(
    shuffled(
      rows.map((row) => ({ partition: 1, row })),
      3,
    ),
  )
  expect(plain((await readBack(file)).get(1)!)).toEqual(plain(rows))
  const offsets = [...(await batchesBack(file)).values()].flatMap((batches) => rowsOf(batches).map((row) => row.offset))
  expect(offsets).toEqual(rows.map((row) => row.offset))
})
