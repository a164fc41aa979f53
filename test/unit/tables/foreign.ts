import { parquetMetadata } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { validUtf8 } from '../../../src/tables/parquet/utf8.ts'
import { crcOfRow } from '../../../src/tables/row/crc.ts'
import { encodeFile } from './files.ts'
import { generator, headersWire, type TestRow } from './records.ts'

/** The rows in any order as another engine might write them: other encodings, other order, other row groups. */
export function foreignFile(rows: readonly { partition: number; row: TestRow }[], damage = false): Buffer {
  const { schema } = parquetMetadata(Uint8Array.from(encodeFile([]).bytes).buffer)
  const text = (bytes: Uint8Array | null): boolean => bytes !== null && validUtf8(bytes, 0, bytes.length)
  const named = (row: TestRow): boolean => row.headers.every((header) => text(header.key))
  const form = (bytes: Uint8Array | null): number => (bytes === null ? 0 : text(bytes) ? 1 : 2)
  const columns: [string, (row: TestRow, partition: number) => unknown][] = [
    ['kafka_partition', (_row, partition) => partition],
    ['kafka_offset', (row) => BigInt(row.offset)],
    ['kafka_timestamp', (row) => (row.timestampMs === -1 ? null : BigInt(row.timestampMs) * 1000n)],
    ['kafka_timestamp_type', (row) => row.timestampType],
    ['kafka_key', (row) => (text(row.key) ? row.key : null)],
    ['kafka_key_bytes', (row) => (text(row.key) ? null : row.key)],
    ['kafka_key_form', (row) => form(row.key)],
    ['kafka_value', (row) => (text(row.value) ? row.value : null)],
    ['kafka_value_bytes', (row) => (text(row.value) ? null : row.value)],
    ['kafka_value_form', (row) => form(row.value)],
    ['kafka_headers', (row) => (named(row) ? row.headers : null)],
    ['kafka_headers_bytes', (row) => (named(row) ? null : headersWire(row.headers))],
    ['kafka_crc', (row, partition) => crcOfRow({ partition, ...row }) + (damage && row.offset === rows[0].row.offset ? 1 : 0)],
  ]
  const columnData = columns.map(([name, value]) => ({ name, data: rows.map(({ row, partition }) => value(row, partition)) as never }))
  return Buffer.from(parquetWriteBuffer({ schema: schema as never, columnData, rowGroupSize: 300 }))
}

export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = generator(seed)
  return items
    .map((item) => ({ item, at: random.int(1 << 30) }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
