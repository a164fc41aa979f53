import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { ColumnId, LOG_FIELDS } from '../row/schema.ts'
import type { IcebergField } from '../../schemas/columns/types.ts'
import { columnsOf, plainColumns } from './foreignColumns.ts'
import type { Lists, RowSource, Strings } from './rowGroupReader.ts'
import { corrupt } from './thriftRead.ts'

/**
 * Rows of a row group that another engine wrote (T14), in any encoding and any order: read by hyparquet, then sorted by
 * partition and offset into one block. Slow and whole, as it is the exception; kafka_crc proves the outcome.
 */
export async function foreignRows(
  footer: Uint8Array,
  bytes: Uint8Array,
  bytesStart: number,
  firstRow: number,
  rows: number,
  userFields: readonly IcebergField[] = [],
): Promise<RowSource> {
  const metadata = parquetMetadata(footer)
  plainColumns(metadata)
  const names = new Map(metadata.schema.filter((e) => e.field_id !== undefined).map((e) => [e.field_id!, e.name]))
  const name = (id: number): string => names.get(id) ?? ''
  const file = {
    byteLength: bytesStart + bytes.length + footer.length,
    slice(start: number, end = Infinity): ArrayBuffer {
      if (start < bytesStart || end > bytesStart + bytes.length) throw corrupt('a column lies outside its row group')
      return Uint8Array.from(bytes.subarray(start - bytesStart, end - bytesStart)).buffer
    },
  }
  let objects: Record<string, unknown>[]
  try {
    objects = await parquetReadObjects({
      file,
      metadata,
      columns: [...userFields, ...LOG_FIELDS].map((field) => name(field.id)).filter((one) => one !== ''),
      rowStart: firstRow,
      rowEnd: firstRow + rows,
      compressors,
      utf8: false,
      // Text stays bytes (a decoder would drop a byte order mark), microseconds stay whole.
      parsers: { stringFromBytes: (text: Uint8Array) => text, timestampFromMicroseconds: (micros: bigint) => micros } as never,
    })
  } catch (error) {
    throw corrupt('a row group of another writer does not decode', error)
  }
  const partition = name(ColumnId.partition)
  const offset = name(ColumnId.offset)
  objects.sort((a, b) => Number(a[partition]) - Number(b[partition]) || Number(a[offset]) - Number(b[offset]))

  const ints = (id: number) => ({ at: 0, values: Int32Array.from(objects, (row) => Number(row[name(id)])) })
  const strings = (id: number): Strings => ({ at: 0, ...joined(objects.map((row) => (row[name(id)] ?? null) as Uint8Array | null)) })
  const headers = objects.map((row) => (row[name(ColumnId.headers)] ?? null) as Record<string, Uint8Array | null>[] | null)
  const lists = (field: 'key' | 'value'): Lists => {
    const counts = Int32Array.from(headers, (list) => (list === null ? -1 : list.length))
    const firsts = new Int32Array(counts.length)
    for (let i = 1; i < firsts.length; i++) firsts[i] = firsts[i - 1] + Math.max(0, counts[i - 1])
    return { at: 0, counts, firsts, ...joined(headers.flatMap((list) => (list ?? []).map((header) => header[field] ?? null))) }
  }
  let given = false
  return {
    rows: objects.length,
    partition: ints(ColumnId.partition),
    offset: { at: 0, values: Float64Array.from(objects, (row) => Number(row[offset])) },
    timestampMs: { at: 0, values: Float64Array.from(objects, (row) => milliseconds(row[name(ColumnId.timestamp)])) },
    timestampType: ints(ColumnId.timestampType),
    key: strings(ColumnId.key),
    keyBytes: strings(ColumnId.keyBytes),
    keyForm: ints(ColumnId.keyForm),
    value: strings(ColumnId.value),
    valueBytes: strings(ColumnId.valueBytes),
    valueForm: ints(ColumnId.valueForm),
    headerKeys: lists('key'),
    headerValues: lists('value'),
    headersBytes: strings(ColumnId.headersBytes),
    columns: columnsOf(userFields, names, objects),
    crc: ints(ColumnId.crc),
    next() {
      if (given) return false
      given = true
      return objects.length > 0
    },
  }
}

function milliseconds(value: unknown): number {
  if (value === null || value === undefined) return -1
  if (typeof value === 'bigint') return Number(value / 1000n)
  if (value instanceof Date) return value.getTime()
  throw corrupt('kafka_timestamp has a type that is not a timestamp')
}

function joined(values: readonly (Uint8Array | null)[]): { bytes: Uint8Array; starts: Int32Array; lengths: Int32Array } {
  const starts = new Int32Array(values.length)
  const lengths = new Int32Array(values.length)
  const parts: Uint8Array[] = []
  let at = 0
  values.forEach((value, i) => {
    starts[i] = value === null ? -1 : at
    lengths[i] = value === null ? -1 : value.length
    if (value === null) return
    parts.push(value)
    at += value.length
  })
  return { bytes: Buffer.concat(parts), starts, lengths }
}
