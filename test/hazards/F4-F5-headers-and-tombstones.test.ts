import { parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { expect, test } from 'vitest'
import { encodeFile } from '../unit/tables/files.ts'
import { readBack } from '../unit/tables/readBack.ts'
import { plain, type TestRow } from '../unit/tables/records.ts'

const row = (offset: number, parts: Partial<TestRow>): TestRow => ({
  offset,
  timestampMs: 1790000000000,
  timestampType: 0,
  key: Buffer.from('k'),
  value: Buffer.from('v'),
  headers: [],
  ...parts,
})
const read = (file: Buffer): Promise<Record<string, unknown>[]> =>
  parquetReadObjects({ file: Uint8Array.from(file).buffer, compressors, utf8: false })

// F4: headers were written as a client's objects, not as a struct that a strict reader knows.
test('headers are a list of structs, in order, with repeats', async () => {
  const x = Buffer.from('x')
  const headers = [
    { key: x, value: Buffer.from([1]) },
    { key: x, value: null },
    { key: x, value: Buffer.alloc(0) },
    { key: Buffer.alloc(0), value: Buffer.from([0xff]) },
  ]
  const rows = [row(0, { headers }), row(1, {})]
  const { bytes } = encodeFile([{ partition: 0, rows }])
  const objects = await read(bytes)
  expect(objects[0].kafka_headers).toEqual([
    { key: 'x', value: Uint8Array.of(1) },
    { key: 'x', value: null },
    { key: 'x', value: new Uint8Array(0) },
    { key: '', value: Uint8Array.of(0xff) },
  ])
  expect(objects[1].kafka_headers).toEqual([])
  expect(plain((await readBack(bytes)).get(0)!)).toEqual(plain(rows))
})

// F5: the first tombstone killed the sink, again after each restart.
test('a tombstone is a row with a null value, also alone, also the first', async () => {
  for (const rows of [[row(0, { value: null })], [row(0, { value: null }), row(1, {}), row(2, { value: null })]]) {
    const { bytes, stats } = encodeFile([{ partition: 0, rows }])
    const objects = await read(bytes)
    expect(
      objects.map(({ kafka_value, kafka_value_bytes, kafka_value_form }) => [kafka_value, kafka_value_bytes, kafka_value_form]),
    ).toEqual(rows.map(({ value }) => [value === null ? null : 'v', null, value === null ? 0 : 1]))
    expect(stats.nullValueCounts.get(8)).toBe(rows.filter(({ value }) => value === null).length)
    expect(plain((await readBack(bytes)).get(0)!)).toEqual(plain(rows))
  }
})
