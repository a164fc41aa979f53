import { parquetMetadata } from 'hyparquet'
import { expect, test } from 'vitest'
import { encodeFile } from '../unit/tables/files.ts'

// I4: a file without field ids gave the right number of rows, and null for every value.

test('every schema element that Iceberg knows has its id', () => {
  const { schema } = parquetMetadata(Uint8Array.from(encodeFile([]).bytes).buffer)
  const without = schema.filter((element) => element.field_id === undefined).map((element) => element.name)
  expect(without).toEqual(['table', 'list'])
  const ids = schema.flatMap((element) => (element.field_id === undefined ? [] : [element.field_id]))
  expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, i) => i + 1))
  expect(schema.find((element) => element.name === 'element')).toMatchObject({ field_id: 12, repetition_type: 'REQUIRED', num_children: 2 })
})
