/**
 * Micro-benchmark of record batches: build, check, validate, walk, inflate.
 * usage: node bench/records.ts
 */
import { BatchBuilder } from '../protocol/records/build.ts'
import { setInt16, setInt32 } from '../protocol/records/bytes.ts'
import { compressPayload, decompressPayload } from '../protocol/records/codecs.ts'
import { BATCH_HEADER_BYTES, batchCrc, patchBatch } from '../protocol/records/header.ts'
import { checkBatch, validateRecords, type BatchRules } from '../protocol/records/validate.ts'
import { RecordCursor } from '../protocol/records/walk.ts'

const NOW_MS = 1700000000000
const rules: BatchRules = {
  produceVersion: 9,
  maxMessageBytes: 2 ** 31 - 1,
  segmentBytes: 2 ** 31 - 1,
  timestampType: 0,
  timestampBeforeMaxMs: 1e12,
  timestampAfterMaxMs: 1e12,
  nowMs: NOW_MS,
  compacted: false,
  inflatedMaxBytes: 64 * 1024 * 1024,
}

/** JSON-like bytes that compress to about a third. */
const source = Buffer.from(
  Array.from({ length: 4000 }, (_, i) => `{"id":${i * 7919},"name":"n${(i * 31) % 977}","ok":${i % 3 === 0}},`).join(''),
)
const key = Buffer.from('key-0001')

function build(builder: BatchBuilder, count: number, valueBytes: number): void {
  for (let i = 0; i < count; i++) {
    const from = (i * 131) % (source.length - valueBytes)
    builder.append(i, NOW_MS + i, key, 0, key.length, source, from, from + valueBytes)
  }
}

function packed(batch: Uint8Array, codec: number): Uint8Array {
  const out = Buffer.concat([batch.subarray(0, BATCH_HEADER_BYTES), compressPayload(codec, batch.subarray(BATCH_HEADER_BYTES))])
  setInt32(out, 8, out.length - 12)
  setInt16(out, 21, codec)
  setInt32(out, 17, batchCrc(out))
  return out
}

/** The shortest time of one call in seconds: what other processes take does not count. */
function shortest(call: () => unknown): number {
  const times = Array.from({ length: 31 }, () => {
    const start = performance.now()
    call()
    return (performance.now() - start) / 1000
  })
  return times.toSorted((a, b) => a - b)[0]
}

const builder = new BatchBuilder()
const cursor = new RecordCursor()
for (const [count, valueBytes] of [
  [10000, 100],
  [1000, 1024],
] as const) {
  build(builder, count, valueBytes)
  const batch = builder.finish()
  const megabytes = batch.length / 1e6
  const row = (name: string, seconds: number): void =>
    console.log(
      `${name.padEnd(34)} ${(count / seconds / 1e6).toFixed(2).padStart(8)} M records/s ${(megabytes / seconds).toFixed(0).padStart(7)} MB/s`,
    )
  console.log(`${count} records of ${valueBytes} B, ${batch.length} bytes`)
  const time = (name: string, call: () => unknown): void => row(name, shortest(call))
  time('build', () => (build(builder, count, valueBytes), builder.finish()))
  time('check header and CRC', () => checkBatch(batch, rules))
  time('validate records', () => validateRecords(batch, rules))
  time('walk', () => {
    cursor.reset(batch, BATCH_HEADER_BYTES, batch.length, count)
    while (cursor.next());
  })
  for (const [codec, name] of ['none', 'gzip', 'snappy', 'lz4', 'zstd'].entries()) {
    if (codec === 0) continue
    const small = packed(batch, codec)
    time(`inflate ${name} (${((100 * small.length) / batch.length).toFixed(0)} %)`, () =>
      decompressPayload(codec, small.subarray(BATCH_HEADER_BYTES), 1e8),
    )
    time(`validate ${name}`, () => validateRecords(small, rules))
  }
}
const batch = builder.count === 0 ? (build(builder, 10, 10), builder.finish()) : builder.finish()
const patches = 1e6
const seconds = shortest(() => {
  for (let i = 0; i < patches; i++) patchBatch(batch, 0, i, 0)
})
console.log(`patch base offset and epoch: ${((seconds / patches) * 1e9).toFixed(0)} ns`)
