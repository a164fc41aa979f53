import { expect, test } from 'vitest'
import { freeBytes } from '../../../../src/tables/parquet/pageReader.ts'
import { indexFile, openGroup } from '../../../../src/tables/parquet/fileIndex.ts'
import { encodeFile } from '../files.ts'
import { batchesOf } from '../../../../src/tables/readback/batches.ts'
import { generator, plain, rowsOf, type TestRow } from '../records.ts'

test('only what fills its memory is freed', () => {
  const whole = new Uint8Array(100_000).fill(1)
  const part = new Uint8Array(100_000).fill(2)
  freeBytes(part.subarray(1))
  freeBytes(whole)
  expect([whole.length, part.length, part[1]]).toEqual([0, 100_000, 2])
})

test('a row group is decoded from memory that it does not free; pages of their own are given back', async () => {
  const random = generator(3)
  const letters = (): Buffer => Buffer.from(random.bytes(40_000).map((byte) => 65 + (byte % 26)))
  const rows: TestRow[] = Array.from({ length: 40 }, (_, offset) => ({
    offset,
    timestampMs: 1790000000000 + offset,
    timestampType: 0,
    key: Buffer.from(`key ${offset}`),
    value: letters(),
    headers: [],
  }))
  const { bytes } = encodeFile([{ partition: 0, rows }], { pageRows: 10 })
  const index = indexFile(bytes)
  const [group] = index.groups
  const own = Uint8Array.from(bytes.subarray(group.start, group.end))
  for (let again = 0; again < 2; again++) {
    const source = await openGroup(group, index.footer, own)
    const pages: Uint8Array[] = []
    const next = source.next.bind(source)
    const counted = Object.assign(source, {
      next: () => {
        if (source.rows > 0) pages.push(source.value.bytes)
        return next()
      },
    })
    expect(plain(batchesOf(counted).batches.flatMap((batch) => rowsOf([batch])))).toEqual(plain(rows))
    expect(pages.length).toBe(4)
    expect(pages.every(({ length }) => length === 0)).toBe(true)
    expect(own.length).toBe(group.end - group.start)
  }
})
