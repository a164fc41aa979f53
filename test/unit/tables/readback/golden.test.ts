import { expect, test } from 'vitest'
import { indexFile, openGroup } from '../../../../src/tables/parquet/fileIndex.ts'
import { batchesOf } from '../../../../src/tables/readback/batches.ts'
import { encodeFile } from '../files.ts'
import { goldenFile, goldenRows } from '../golden.ts'
import { plain, rowsOf, type TestRow } from '../records.ts'

test('the golden file of the first version decodes to its rows (docs/FORMATS.md, Table files)', async () => {
  const bytes = goldenFile()
  const index = indexFile(bytes)
  expect(index.groups.length).toBe(3)
  const rows = new Map<number, TestRow[]>()
  for (const group of index.groups) {
    const list = batchesOf(await openGroup(group, index.footer, bytes.subarray(group.start, group.end)))
    list.batches.forEach((batch, i) => rows.set(list.partitions[i], [...(rows.get(list.partitions[i]) ?? []), ...rowsOf([batch])]))
  }
  for (const golden of goldenRows()) expect(plain(rows.get(golden.partition)!)).toEqual(plain(golden.rows))
})

test('what is written today has the same values in the same layout', () => {
  const golden = indexFile(goldenFile())
  const today = indexFile(encodeFile(goldenRows(), { rowGroupRows: 64, pageRows: 20 }).bytes)
  // Stored sizes may move with the zstd of the runtime; rows and bounds may not.
  const view = (index: typeof golden) =>
    index.groups.map(({ rows, minPartition, maxPartition, minOffset, maxOffset, maxTimestampMs }) => [
      rows,
      minPartition,
      maxPartition,
      minOffset,
      maxOffset,
      maxTimestampMs,
    ])
  expect(view(today)).toEqual(view(golden))
})
