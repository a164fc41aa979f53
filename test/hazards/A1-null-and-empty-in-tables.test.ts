import { parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { expect, test } from 'vitest'
import { encodeFile } from '../unit/tables/files.ts'
import { readBack } from '../unit/tables/readBack.ts'
import { plain, type TestRow } from '../unit/tables/records.ts'

// A1: a null value was written as empty bytes, and the writer's own reader undid it. So the file is read by another
// reader too, and there null and empty must differ.

const bytes = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text))
const combinations: [string | null, string | null][] = [
  ['k', null],
  ['k', ''],
  [null, 'v'],
  [null, null],
  ['', ''],
  ['', null],
]
const rows = combinations.map(([key, value], offset): TestRow => ({
  offset,
  timestampMs: 1,
  timestampType: 0,
  key: bytes(key),
  value: bytes(value),
  headers: [],
}))

test('null and empty, of keys and values, stay apart in the table and back', async () => {
  const { bytes: file } = encodeFile([{ partition: 0, rows }])
  const objects = await parquetReadObjects({ file: Uint8Array.from(file).buffer, compressors })
  expect(objects.map((row) => [row.kafka_key, row.kafka_value])).toEqual(combinations)
  expect(objects.map((row) => [row.kafka_key_form, row.kafka_value_form])).toEqual(
    combinations.map((pair) => pair.map((part) => (part === null ? 0 : 1))),
  )
  expect(plain((await readBack(file)).get(0)!)).toEqual(plain(rows))
})
