import { afterAll, describe, expect, test } from 'vitest'
import { RowFileEncoder } from '../../../../src/tables/parquet/encoder.ts'
import { FileTableReader } from '../../../../src/tables/readback/reader.ts'
import { CountingStore, encodeFile, putFile } from '../files.ts'
import { batchesFrom, mixedRows, plain, rowsOf, type TestRow } from '../records.ts'

const store = new CountingStore()
const reader = new FileTableReader({ store })
afterAll(() => reader.close())

async function readAll(
  files: Parameters<typeof reader.read>[0]['files'],
  partition: number,
  lastOffset: number,
  maxBytes = 1 << 20,
): Promise<TestRow[]> {
  const rows: TestRow[] = []
  for (let fromOffset = 0, turns = 0; fromOffset <= lastOffset; turns++) {
    if (turns > 10_000) throw new Error('reading does not come to an end')
    const { batches, nextOffset } = await reader.read({ files, partition, fromOffset, lastOffset, maxBytes })
    expect(nextOffset).toBeGreaterThan(fromOffset)
    rows.push(...rowsOf(batches).filter((row) => row.offset >= fromOffset))
    fromOffset = nextOffset
  }
  return rows
}

describe('rows come back byte for byte', () => {
  for (const codec of [0, 4]) {
    test(`all kinds of rows, three partitions, small pages and row groups, codec ${codec}`, async () => {
      const partitions = [0, 1, 5].map((partition) => ({ partition, rows: mixedRows(3000, partition + 7, partition * 100) }))
      const { bytes, stats } = encodeFile(partitions, { codec, pageRows: 70, rowGroupRows: 500 })
      const file = await putFile(store, codec, bytes, stats)
      expect(stats.rows).toBe(9000)
      expect(stats.rowGroups).toBeGreaterThan(10)
      for (const { partition, rows } of partitions) {
        const last = rows[rows.length - 1].offset
        expect(plain(await readAll([file], partition, last))).toEqual(plain(rows))
        expect(plain(await readAll([file], partition, last, 1))).toEqual(plain(rows))
      }
    })
  }

  test('rows of one extent scattered over three files are merged on offset (T10)', async () => {
    const rows = mixedRows(2000, 99)
    const parts: TestRow[][] = [[], [], []]
    rows.forEach((row, i) => parts[i < 500 ? 0 : i % 3].push(row))
    const files = await Promise.all(
      parts.map(async (part, i) => {
        const { bytes, stats } = encodeFile([{ partition: 3, rows: part }], { rowGroupRows: 300 })
        return putFile(store, 100 + i, bytes, stats)
      }),
    )
    const last = rows[rows.length - 1].offset
    expect(plain(await readAll(files, 3, last))).toEqual(plain(rows))
    expect(plain(await readAll(files, 3, last, 2000))).toEqual(plain(rows))
  })

  test('a read inside a range serves nothing above it and says where holes end', async () => {
    const rows = mixedRows(400, 3).filter((row) => row.offset < 50 || row.offset > 90)
    const { bytes, stats } = encodeFile([{ partition: 0, rows }])
    const file = await putFile(store, 200, bytes, stats)
    const { batches, nextOffset } = await reader.read({ files: [file], partition: 0, fromOffset: 20, lastOffset: 85, maxBytes: 1 << 20 })
    expect(plain(rowsOf(batches).filter((row) => row.offset >= 20))).toEqual(
      plain(rows.filter((row) => row.offset >= 20 && row.offset <= 85)),
    )
    expect(nextOffset).toBe(86)
    const none = await reader.read({ files: [file], partition: 4, fromOffset: 0, lastOffset: 85, maxBytes: 1 << 20 })
    expect(none).toEqual({ batches: [], nextOffset: 86 })
  })

  test('offsets above 2^31 and two billions apart stay what they are', async () => {
    const offsets = [0, 3_000_000_000, 9_007_199_254_740_000]
    const rows = offsets.map((offset) => mixedRows(1, 5, offset)[0])
    const encoder = new RowFileEncoder()
    for (const row of rows) encoder.addBatches(0, row.offset, batchesFrom([row]))
    const { chunks, ...stats } = encoder.finish()
    const file = await putFile(store, 201, Buffer.concat(chunks), stats)
    expect(plain(await readAll([file], 0, rows[2].offset))).toEqual(plain(rows))
  })

  test('the test batches themselves say what the rows are', () => {
    const rows = mixedRows(500, 11)
    expect(plain(rowsOf([batchesFrom(rows)]))).toEqual(plain(rows))
  })
})
