import { randomBytes } from 'node:crypto'
import { BatchBuilder } from '../protocol/records/build.ts'
import { RowFileEncoder } from '../src/tables/parquet/encoder.ts'
import { RowGroupReader } from '../src/tables/parquet/rowGroupReader.ts'
import { batchesOf } from '../src/tables/readback/batches.ts'
import { indexFile, unpackPlaces } from '../src/tables/parquet/fileIndex.ts'

/**
 * Rows per second and MiB of values per second, one core: record batches into table files, and back.
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
  const begun = performance.now()
  let sizeBytes = 0
  const encoder = new RowFileEncoder({ zstdLevel: LEVEL, sink })
  let offset = 0
  for (let r = 0; r < repeats; r++) {
    for (const bytes of input.bytes) offset = encoder.addBatches(0, offset, bytes).nextOffset
  }
  sizeBytes = encoder.finish().sizeBytes
  return { seconds: (performance.now() - begun) / 1000, sizeBytes, rows: offset }
}

/** Decodes a file as a worker does, row group by row group; seconds. */
function decode(file: Buffer): number {
  const begun = performance.now()
  const index = indexFile(file)
  for (const group of index.groups) {
    const bytes = file.subarray(group.start, group.end)
    batchesOf(new RowGroupReader(group.rows, unpackPlaces(group.places!), bytes, group.start))
  }
  return (performance.now() - begun) / 1000
}

const UNIQUE_MIB = 32
for (const [name, value] of [
  ['random', () => randomBytes(VALUE_BYTES)],
  ['json', jsonValue],
] as const) {
  const input = batches(value, Math.min(MIB, UNIQUE_MIB) * 1024 * 1024)
  const repeats = Math.max(1, Math.round(MIB / UNIQUE_MIB))
  encode(input, 1)
  const { seconds, sizeBytes, rows } = encode(input, repeats)
  const valueMib = (rows * VALUE_BYTES) / 1024 / 1024
  console.log(
    `encode ${name} ${VALUE_BYTES} B: ${Math.round(rows / seconds).toLocaleString('en')} rows/s, ${(valueMib / seconds).toFixed(0)} MiB/s, stored ${((sizeBytes / rows / VALUE_BYTES) * 100).toFixed(1)} % of value bytes`,
  )
  const parts: Uint8Array[] = []
  encode(input, 1, (bytes) => parts.push(bytes))
  const file = Buffer.concat(parts)
  decode(file)
  let best = Infinity
  for (let i = 0; i < 3; i++) best = Math.min(best, decode(file))
  const fileMib = (input.rows * VALUE_BYTES) / 1024 / 1024
  console.log(
    `decode ${name} ${VALUE_BYTES} B: ${Math.round(input.rows / best).toLocaleString('en')} rows/s, ${(fileMib / best).toFixed(0)} MiB/s`,
  )
}
