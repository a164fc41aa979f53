import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { constants, zstdCompressSync } from 'node:zlib'
import { parquetMetadata } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { BatchBuilder } from '../protocol/records/build.ts'
import { RowFileEncoder } from '../src/tables/parquet/encoder.ts'
import { RowGroupReader } from '../src/tables/parquet/rowGroupReader.ts'
import { batchesOf } from '../src/tables/readback/batches.ts'
import { indexFile, unpackPlaces } from '../src/tables/parquet/fileIndex.ts'

/**
 * Rows and MiB of values per CPU second: record batches into table files, and back.
 * `node bench/parquet.ts [--mib 128] [--value-bytes 1024] [--level 1]`
 */
const option = (name: string, fallback: number): number => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? fallback : Number(process.argv[at + 1])
}
const MIB = option('mib', 128)
const VALUE_BYTES = option('value-bytes', 1024)
const LEVEL = option('level', 1)
const BATCH_BYTES = 1024 * 1024
const MIB_BYTES = 1024 * 1024

/** CPU time of this process, all threads: a busy machine does not change what a core can do. */
const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

const WORDS = ['alpha', 'beta', 'gamma', 'delta', 'user', 'click', 'order', 'item', 'price', 'hello', 'stream', 'table']
let seed = 1
const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647

function jsonValue(i: number): Buffer {
  let text = `{"id":"${Math.floor(random() * 1e15).toString(36)}","n":${i},"user":${Math.floor(random() * 1e6)},"price":${(random() * 1000).toFixed(2)},"text":"`
  while (text.length < VALUE_BYTES - 10) text += WORDS[Math.floor(random() * WORDS.length)] + Math.floor(random() * 100) + ' '
  return Buffer.from(text.slice(0, VALUE_BYTES - 2) + '"}')
}

function batches(value: (i: number) => Buffer, totalBytes: number): { bytes: Uint8Array[]; rows: number } {
  const builder = new BatchBuilder()
  const bytes: Uint8Array[] = []
  const rows = Math.floor(totalBytes / VALUE_BYTES)
  for (let i = 0; i < rows; i++) {
    const key = Buffer.from(`key-${i % 5000}`)
    const body = value(i)
    builder.append(i, 1790000000000 + i, key, 0, key.length, body, 0, body.length)
    if (builder.sizeBytes >= BATCH_BYTES || i === rows - 1) bytes.push(builder.finish())
  }
  return { bytes, rows }
}

function encode(
  input: { bytes: Uint8Array[]; rows: number },
  repeats: number,
  sink: (bytes: Uint8Array) => void = () => {},
): { seconds: number; sizeBytes: number; rows: number } {
  const begun = cpuSeconds()
  let sizeBytes = 0
  const encoder = new RowFileEncoder({ zstdLevel: LEVEL, sink })
  let offset = 0
  for (let r = 0; r < repeats; r++) {
    for (const bytes of input.bytes) offset = encoder.addBatches(0, offset, bytes).nextOffset
  }
  sizeBytes = encoder.finish().sizeBytes
  return { seconds: cpuSeconds() - begun, sizeBytes, rows: offset }
}

/** Decodes a file as a worker does, row group by row group; seconds. */
function decode(file: Buffer): number {
  const begun = cpuSeconds()
  const index = indexFile(file)
  for (const group of index.groups) {
    const bytes = file.subarray(group.start, group.end)
    batchesOf(new RowGroupReader(group.rows, unpackPlaces(group.places!), bytes, group.start))
  }
  return cpuSeconds() - begun
}

/** The same rows through hyparquet-writer, the reference: row objects are not counted, only the writing. */
function reference(rows: number, value: (i: number) => Buffer): number {
  const values = Array.from({ length: rows }, (_, i) => value(i))
  const text = values.every((bytes) => isUtf8(bytes))
  const { schema } = parquetMetadata(Uint8Array.from(Buffer.concat(new RowFileEncoder().finish().chunks)).buffer)
  const column = (name: string, data: unknown[]) => ({ name, data: data as never })
  const all = (item: unknown): unknown[] => Array.from({ length: rows }, () => item)
  const columnData = [
    column('kafka_partition', all(0)),
    column(
      'kafka_offset',
      Array.from(values, (_, i) => BigInt(i)),
    ),
    column(
      'kafka_timestamp',
      Array.from(values, (_, i) => 1790000000000000n + BigInt(i) * 1000n),
    ),
    column('kafka_timestamp_type', all(0)),
    column(
      'kafka_key',
      Array.from(values, (_, i) => Buffer.from(`key-${i % 5000}`)),
    ),
    column('kafka_key_bytes', all(null)),
    column('kafka_key_form', all(1)),
    column('kafka_value', text ? values : all(null)),
    column('kafka_value_bytes', text ? all(null) : values),
    column('kafka_value_form', all(text ? 1 : 2)),
    column('kafka_headers', all([])),
    column('kafka_headers_bytes', all(null)),
    column(
      'kafka_crc',
      Array.from(values, (_, i) => Math.imul(i, 2654435761)),
    ),
  ]
  const begun = cpuSeconds()
  const compressors = { ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: LEVEL } }) }
  parquetWriteBuffer({ schema: schema as never, columnData, codec: 'ZSTD', compressors: compressors as never, rowGroupSize: 12_000 })
  return cpuSeconds() - begun
}

const UNIQUE_MIB = 32
const rate = (rows: number, seconds: number): string =>
  `${Math.round(rows / seconds).toLocaleString('en')} rows/s, ${((rows * VALUE_BYTES) / MIB_BYTES / seconds).toFixed(0)} MiB/s`
for (const [name, value] of [
  ['random', () => randomBytes(VALUE_BYTES)],
  ['json', jsonValue],
] as const) {
  const input = batches(value, Math.min(MIB, UNIQUE_MIB) * MIB_BYTES)
  encode(input, 1)
  const { seconds, sizeBytes, rows } = encode(input, Math.max(1, Math.round(MIB / UNIQUE_MIB)))
  const label = `${name} ${VALUE_BYTES} B`
  console.log(`encode ${label}: ${rate(rows, seconds)}, stored ${((sizeBytes / rows / VALUE_BYTES) * 100).toFixed(1)} % of value bytes`)
  const peerRows = Math.min(input.rows, 16_000)
  console.log(`  hyparquet-writer ${label}: ${rate(peerRows, reference(peerRows, value))}`)
  const parts: Uint8Array[] = []
  encode(input, 1, (bytes) => parts.push(bytes))
  const file = Buffer.concat(parts)
  decode(file)
  console.log(`decode ${label}: ${rate(input.rows, Math.min(decode(file), decode(file), decode(file)))}`)
}
