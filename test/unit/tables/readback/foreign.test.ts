import { afterAll, describe, expect, test } from 'vitest'
import { mergeRowFiles } from '../../../../src/tables/parquet/merge.ts'
import { FileTableReader } from '../../../../src/tables/readback/reader.ts'
import { CountingStore, encodeFile, putFile } from '../files.ts'
import { foreignFile, shuffled } from '../foreign.ts'
import { generator, mixedRows, plain, rowsOf, type TestRow } from '../records.ts'

const store = new CountingStore()
const reader = new FileTableReader({ store })
afterAll(() => reader.close())

describe('a file that another engine wrote, in another order (F7)', () => {
  const partitions = [0, 3].map((partition) => ({ partition, rows: mixedRows(700, partition + 40) }))
  const { stats } = encodeFile(partitions)
  const all = partitions.flatMap(({ partition, rows }) => rows.map((row) => ({ partition, row })))

  test('gives the same records, in offset order, with holes and all', async () => {
    const file = await putFile(store, 1, foreignFile(shuffled(all, 1)), stats)
    for (const { partition, rows } of partitions) {
      const lastOffset = rows.at(-1)!.offset
      const got: TestRow[] = []
      for (let fromOffset = 0; fromOffset <= lastOffset;) {
        const { batches, nextOffset } = await reader.read({ files: [file], partition, fromOffset, lastOffset, maxBytes: 5000 })
        got.push(...rowsOf(batches).filter((row) => row.offset >= fromOffset))
        expect(nextOffset).toBeGreaterThan(fromOffset)
        fromOffset = nextOffset
      }
      expect(plain(got)).toEqual(plain(rows))
      const late = rows.find((row) => row.timestampMs >= 1790000900000)!
      expect(await reader.findByTime({ files: [file], partition, fromOffset: 0, timestampMs: 1790000900000 })).toEqual({
        offset: late.offset,
        timestampMs: late.timestampMs,
      })
    }
  })

  test('merges into one of ours', async () => {
    const bytes = foreignFile(shuffled(all, 2))
    const parts: Uint8Array[] = []
    await mergeRowFiles(
      [{ sizeBytes: bytes.length, read: async (start, end) => bytes.subarray(start, end) }],
      (part) => void parts.push(part),
    )
    expect(Buffer.concat(parts).equals(encodeFile(partitions, { onePartitionPerRowGroup: true }).bytes)).toBe(true)
  })

  test('with one altered checksum is CORRUPT', async () => {
    const file = await putFile(store, 2, foreignFile(all, true), stats)
    const read = reader.read({ files: [file], partition: 0, fromOffset: 0, lastOffset: 10, maxBytes: 5000 })
    await expect(read).rejects.toMatchObject({ code: 'CORRUPT' })
  })
})

describe('damage in a file of ours', () => {
  const rows = mixedRows(300, 8)
  const { bytes, stats } = encodeFile([{ partition: 0, rows }], { pageRows: 50 })
  const lastOffset = rows.at(-1)!.offset
  const random = generator(14)

  test('is CORRUPT or harmless, never other bytes', async () => {
    const known = new Set(plain(rows).map((row) => JSON.stringify(row)))
    let found = 0
    for (let i = 0; i < 150; i++) {
      const damaged = Buffer.from(bytes)
      damaged[random.int(damaged.length)] ^= 1 << random.int(8)
      const file = await putFile(store, 1000 + i, damaged, stats)
      const read = reader.read({ files: [file], partition: 0, fromOffset: 0, lastOffset, maxBytes: 1 << 24 })
      const outcome = await read.then(
        ({ batches }) => (plain(rowsOf(batches)).every((row) => known.has(JSON.stringify(row))) ? 'harmless' : 'other bytes'),
        (error: { code?: string }) => error.code,
      )
      expect(outcome).toMatch(/^(harmless|CORRUPT)$/)
      if (outcome === 'CORRUPT') found++
    }
    expect(found).toBeGreaterThan(50)
  })

  test('a file that is cut off, empty or gone has its own error', async () => {
    for (const [id, cut] of [
      [2000, bytes.subarray(0, bytes.length - 3)],
      [2001, bytes.subarray(0, 4)],
      [2002, Buffer.alloc(0)],
    ] as const) {
      const file = await putFile(store, id, Buffer.from(cut), stats)
      await expect(reader.read({ files: [file], partition: 0, fromOffset: 0, lastOffset, maxBytes: 100 })).rejects.toMatchObject({
        code: 'CORRUPT',
      })
    }
    const gone = { ...(await putFile(store, 2003, bytes, stats)), key: 'tables/default/t-00000000/data/gone.parquet' }
    await expect(reader.read({ files: [gone], partition: 0, fromOffset: 0, lastOffset, maxBytes: 100 })).rejects.toMatchObject({
      code: 'STORE_NOT_FOUND',
    })
  })
})
