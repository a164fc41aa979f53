import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, test } from 'vitest'
import { crcOfRow } from '../../../../src/tables/row/crc.ts'
import { RowFileEncoder } from '../../../../src/tables/parquet/encoder.ts'
import { encodeFile } from '../files.ts'
import { batchesFrom, generator, headersWire, mixedRows, type TestRow } from '../records.ts'

const arrayBuffer = (bytes: Buffer): ArrayBuffer => Uint8Array.from(bytes).buffer
/** hyparquet's rows, text and binary both as bytes, times as microseconds. */
const RAW = {
  compressors,
  utf8: false,
  parsers: { stringFromBytes: (bytes: Uint8Array) => bytes, timestampFromMicroseconds: (micros: bigint) => micros } as never,
}

/** A row as the table shows it, built without any of our code but the checksum. */
function expected(partition: number, row: TestRow): Record<string, unknown> {
  const text = (bytes: Uint8Array): boolean => {
    try {
      return Buffer.from(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)).equals(Buffer.from(bytes))
    } catch {
      return false
    }
  }
  const bytes = (value: Uint8Array | null): Uint8Array | null => (value === null ? null : Uint8Array.from(value))
  const parts = (value: Uint8Array | null): [Uint8Array | null, Uint8Array | null, number] =>
    value === null ? [null, null, 0] : text(value) ? [bytes(value), null, 1] : [null, bytes(value), 2]
  const [key, keyBytes, keyForm] = parts(row.key)
  const [value, valueBytes, valueForm] = parts(row.value)
  const named = row.headers.every((header) => text(header.key))
  return {
    kafka_partition: partition,
    kafka_offset: BigInt(row.offset),
    kafka_timestamp: row.timestampMs === -1 ? null : BigInt(row.timestampMs) * 1000n,
    kafka_timestamp_type: row.timestampType,
    kafka_key: key,
    kafka_key_bytes: keyBytes,
    kafka_key_form: keyForm,
    kafka_value: value,
    kafka_value_bytes: valueBytes,
    kafka_value_form: valueForm,
    kafka_headers: named ? row.headers.map((header) => ({ key: bytes(header.key), value: bytes(header.value) })) : null,
    kafka_headers_bytes: named ? null : bytes(headersWire(row.headers)),
    kafka_crc: crcOfRow({ partition, ...row }),
  }
}

const view = (rows: Record<string, unknown>[]): unknown[] =>
  rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value]),
    ),
  )

describe('a file of ours, read by hyparquet', () => {
  const partitions = [
    { partition: 0, rows: mixedRows(700, 2) },
    { partition: 7, rows: mixedRows(900, 3, 2 ** 33) },
  ]
  const { bytes, stats } = encodeFile(partitions, { rowGroupRows: 500, pageRows: 90 })
  const want = partitions.flatMap(({ partition, rows }) => rows.map((row) => expected(partition, row)))

  test('has every value, as the reference writer would have written it', async () => {
    const got = await parquetReadObjects({ file: arrayBuffer(bytes), ...RAW })
    expect(view(got)).toEqual(view(want))
    // The same rows through hyparquet-writer, with the same schema, give the same values.
    const { schema } = parquetMetadata(arrayBuffer(bytes))
    const names = Object.keys(want[0])
    const reference = parquetWriteBuffer({
      schema: schema as never,
      columnData: names.map((name) => ({ name, data: want.map((row) => row[name]) as never })),
      codec: 'UNCOMPRESSED',
    })
    expect(view(await parquetReadObjects({ file: reference, ...RAW }))).toEqual(view(got))
  })

  test('carries what a manifest entry needs', () => {
    const metadata = parquetMetadata(arrayBuffer(bytes))
    expect(stats.rows).toBe(1600)
    expect(Number(metadata.num_rows)).toBe(1600)
    expect(stats.sizeBytes).toBe(bytes.length)
    expect(stats.splitOffsets.length).toBe(metadata.row_groups.length)
    expect(stats.splitOffsets[0]).toBe(4)
    const column = (name: string): unknown[] => want.map((row) => row[name])
    const nulls = (name: string): number => column(name).filter((value) => value === null).length
    expect(stats.valueCounts.get(5)).toBe(1600)
    expect(stats.nullValueCounts.get(5)).toBe(nulls('kafka_key'))
    expect(stats.nullValueCounts.get(3)).toBe(nulls('kafka_timestamp'))
    expect(stats.nullValueCounts.get(1)).toBe(0)
    const int = (map: ReadonlyMap<number, Uint8Array>, id: number): number => Buffer.from(map.get(id)!).readInt32LE()
    const long = (map: ReadonlyMap<number, Uint8Array>, id: number): bigint => Buffer.from(map.get(id)!).readBigInt64LE()
    expect([int(stats.lowerBounds, 1), int(stats.upperBounds, 1)]).toEqual([0, 7])
    const offsets = column('kafka_offset') as bigint[]
    expect([long(stats.lowerBounds, 2), long(stats.upperBounds, 2)]).toEqual([offsets[0], offsets.at(-1)])
    const times = (column('kafka_timestamp') as (bigint | null)[]).filter((value) => value !== null).sort((a, b) => Number(a - b))
    expect([long(stats.lowerBounds, 3), long(stats.upperBounds, 3)]).toEqual([times[0], times.at(-1)])
    expect(stats.lowerBounds.has(13) || stats.upperBounds.has(14)).toBe(false)
    const chunkBytes = metadata.row_groups.reduce((sum, group) => sum + Number(group.columns[7].meta_data!.total_compressed_size), 0)
    expect(stats.columnSizes.get(8)).toBe(chunkBytes)
    for (const [i, { partition, rows }] of partitions.entries()) {
      expect(stats.ranges[i]).toEqual({
        partition,
        firstOffset: rows[0].offset,
        lastOffset: rows.at(-1)!.offset,
        rows: rows.length,
        minTimestampMs: Math.min(...rows.map((row) => row.timestampMs).filter((ms) => ms !== -1)),
        maxTimestampMs: Math.max(...rows.map((row) => row.timestampMs)),
      })
    }
  })

  test('row groups state sizes, ordinals and bounds that hold', () => {
    const { row_groups } = parquetMetadata(arrayBuffer(bytes))
    row_groups.forEach((group, i) => {
      expect(group.ordinal).toBe(i)
      expect(group.file_offset).toBe(BigInt(stats.splitOffsets[i]))
      const sum = group.columns.reduce((total, column) => total + column.meta_data!.total_compressed_size, 0n)
      expect(group.total_compressed_size).toBe(sum)
      expect(group.columns.every((column) => column.meta_data!.codec === 'ZSTD')).toBe(true)
      // Page indexes are there for all chunks of a row group or for none.
      expect(new Set(group.columns.map((column) => column.offset_index_offset === undefined)).size).toBe(1)
    })
  })
})

test('offsets outside [fromOffset, toOffset] and control batches are no rows', () => {
  const rows = mixedRows(100, 5).map((row, i) => Object.assign(row, { offset: i }))
  const encoder = new RowFileEncoder()
  const batches = batchesFrom(rows, { rowsPerBatch: 100 })
  encoder.addBatches(0, 1000, batches, { fromOffset: 1010, toOffset: 1039 })
  const control = batchesFrom([{ ...rows[0], timestampType: 0, headers: [] }])
  control[22] |= 0x20
  expect(encoder.addBatches(0, 1100, control)).toEqual({ nextOffset: 1101 })
  const stats = encoder.finish()
  expect(stats.ranges).toMatchObject([{ partition: 0, firstOffset: 1010, lastOffset: 1039, rows: 30 }])
})

test('rows out of order are refused, bytes that are no batches are CORRUPT', () => {
  const batch = batchesFrom(mixedRows(5, 1))
  const code = (run: (encoder: RowFileEncoder) => void): unknown => {
    try {
      run(new RowFileEncoder())
    } catch (error) {
      return (error as { code?: string }).code
    }
    return 'nothing thrown'
  }
  const twice = (encoder: RowFileEncoder): void => {
    encoder.addBatches(1, 0, batch)
    encoder.addBatches(1, 0, batch)
  }
  const backwards = (encoder: RowFileEncoder): void => {
    encoder.addBatches(1, 0, batch)
    encoder.addBatches(0, 0, batch)
  }
  expect(code(twice)).toBe('REFUSED')
  expect(code(backwards)).toBe('REFUSED')
  expect(code((encoder) => encoder.addBatches(0, 0, batch.subarray(0, batch.length - 1)))).toBe('CORRUPT')
  expect(code((encoder) => encoder.addBatches(0, 0, Buffer.alloc(70)))).toBe('CORRUPT')
  const damaged = Buffer.from(batch)
  damaged.fill(0xff, 61, 70)
  expect(code((encoder) => encoder.addBatches(0, 0, damaged))).toBe('CORRUPT')
})

test('row groups end at their size as stored, and at their size decoded', () => {
  const random = generator(3)
  const incompressible = Array.from({ length: 400 }, (_, offset): TestRow => {
    return { offset, timestampMs: 1, timestampType: 0, key: null, value: random.bytes(2000), headers: [] }
  })
  const stored = encodeFile([{ partition: 0, rows: incompressible }], { rowGroupStoredBytes: 200_000, pageBytes: 20_000 })
  const sizes = parquetMetadata(arrayBuffer(stored.bytes)).row_groups.map((group) => Number(group.total_compressed_size))
  expect(sizes.length).toBe(Math.ceil(800_000 / 300_000) + 1)
  for (const size of sizes.slice(0, -1)) expect(size).toBeGreaterThanOrEqual(190_000)
  const zeros = incompressible.map((row) => Object.assign({}, row, { value: Buffer.alloc(2000) }))
  expect(encodeFile([{ partition: 0, rows: zeros }], { rowGroupRawBytes: 300_000 }).stats.rowGroups).toBe(3)
  expect(encodeFile([{ partition: 0, rows: zeros }]).stats.rowGroups).toBe(1)
})
