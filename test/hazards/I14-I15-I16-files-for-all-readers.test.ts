import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { expect, test } from 'vitest'
import { encodeFile } from '../unit/tables/files.ts'
import { readBack } from '../unit/tables/readBack.ts'
import { mixedRows, plain, type TestRow } from '../unit/tables/records.ts'

// The same files go through pyarrow, DuckDB, Polars and Daft in test/readers/files.ts; Spark and Trino read the tables.

const buffer = (file: Buffer): ArrayBuffer => Uint8Array.from(file).buffer

// I14: a file without rows, and list columns without data.
test('a file without rows has a schema and no row group', async () => {
  const { bytes, stats } = encodeFile([])
  const metadata = parquetMetadata(buffer(bytes))
  expect(Number(metadata.num_rows)).toBe(0)
  expect(metadata.row_groups).toEqual([])
  expect(await parquetReadObjects({ file: buffer(bytes), compressors })).toEqual([])
  expect(stats).toMatchObject({ rows: 0, splitOffsets: [], lowerBounds: new Map(), upperBounds: new Map() })
  expect(await readBack(bytes)).toEqual(new Map())
})

// I15: an empty list read as null, elements of lists that were null.
test('empty headers, null headers and null header values stay apart', async () => {
  const h = (value: Buffer | null) => ({ key: Buffer.from('h'), value })
  const headers = [[], [h(null)], [h(Buffer.alloc(0))], [{ key: Buffer.from([0xff]), value: null }], [h(null), h(null)]]
  const rows = headers.map((list, offset): TestRow => ({ offset, timestampMs: 0, timestampType: 0, key: null, value: null, headers: list }))
  const { bytes } = encodeFile([{ partition: 0, rows }])
  const objects = await parquetReadObjects({ file: buffer(bytes), compressors, utf8: false })
  const shown = (value: null | Uint8Array) => ({ key: 'h', value })
  expect(objects.map((row) => row.kafka_headers)).toEqual([[], [shown(null)], [shown(new Uint8Array(0))], null, [shown(null), shown(null)]])
  expect(objects.map((row) => row.kafka_headers_bytes !== null)).toEqual([false, false, false, true, false])
  expect(plain((await readBack(bytes)).get(0)!)).toEqual(plain(rows))
})

// I16: encodings of version 2 in a file whose reader did not expect them.
test('the encodings are those that the readers were tried with', () => {
  const { row_groups } = parquetMetadata(buffer(encodeFile([{ partition: 0, rows: mixedRows(500, 1) }]).bytes))
  const used = new Set(row_groups.flatMap((group) => group.columns.flatMap((column) => column.meta_data!.encodings)))
  expect([...used].toSorted()).toEqual(['DELTA_BINARY_PACKED', 'DELTA_LENGTH_BYTE_ARRAY', 'PLAIN', 'RLE', 'RLE_DICTIONARY'])
})
