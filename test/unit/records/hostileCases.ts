import { gzipSync } from 'node:zlib'
import { BatchBuilder } from '../../../protocol/records/build.ts'
import { getInt16, setInt16, setInt32, setInt64 } from '../../../protocol/records/bytes.ts'
import { BATCH_HEADER_BYTES, batchCrc } from '../../../protocol/records/header.ts'

/** A `records` field of a Produce request that a broker must refuse, or must not. Sent to Apache Kafka 4.4.0 once: its
 * answers stand in test/fixtures/records/kafka-answers.json under the same names. */
export interface HostileCase {
  readonly name: string
  readonly topic: 'plain' | 'compact' | 'append' | 'small'
  readonly version: number
  readonly records: Uint8Array
}

const text = new TextEncoder()

function good(count = 3, options: { codec?: number; timestampMs?: number; keys?: boolean } = {}): Uint8Array {
  const builder = new BatchBuilder({ codec: options.codec })
  for (let i = 0; i < count; i++) {
    const value = text.encode(`value ${i}`)
    const key = options.keys === false ? null : value
    builder.append(i, options.timestampMs ?? 1700000000000 + i, key, 0, value.length, value, 0, value.length)
  }
  return withEpoch(builder.finish())
}

function withEpoch(batch: Uint8Array): Uint8Array {
  setInt32(batch, 12, -1)
  return batch
}

/** Changes a good batch; the CRC fits again unless `keepCrc`. */
function edit(change: (batch: Uint8Array) => void, batch = good(), keepCrc = false): Uint8Array {
  change(batch)
  if (!keepCrc) setInt32(batch, 17, batchCrc(batch))
  return batch
}

/** A batch around raw bytes in place of its records. */
function raw(payload: readonly number[] | Uint8Array, count = 1, codec = 0): Uint8Array {
  const batch = new Uint8Array(BATCH_HEADER_BYTES + payload.length)
  batch.set(good(1).subarray(0, BATCH_HEADER_BYTES))
  batch.set(payload, BATCH_HEADER_BYTES)
  setInt32(batch, 8, batch.length - 12)
  setInt16(batch, 21, codec)
  setInt32(batch, 23, count - 1)
  setInt32(batch, 57, count)
  setInt32(batch, 17, batchCrc(batch))
  return batch
}

const join = (...parts: Uint8Array[]): Uint8Array => Buffer.concat(parts)
/** Length, attributes, timestamp delta 0, offset delta 0, null key, value 'a', no headers. */
const tiny = [14, 0, 0, 0, 1, 2, 97, 0]
const zigzag = (n: number): number => (n << 1) ^ (n >> 31)
const TEN_FF = [255, 255, 255, 255, 255, 255, 255, 255, 255, 255]
const legacyV1 = Buffer.concat([
  Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 23, 1, 2, 3, 4, 1, 0, 0, 0, 1, 139, 207, 229, 104, 0]),
  Buffer.from([255, 255, 255, 255, 0, 0, 0, 1, 97]),
])
const legacyV0 = Buffer.concat([
  Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 1, 2, 3, 4, 0, 0]),
  Buffer.from([255, 255, 255, 255, 0, 0, 0, 1, 97]),
])

const plain: Record<string, Uint8Array> = {
  good: good(),
  'empty records': new Uint8Array(0),
  'eleven bytes': good().subarray(0, 11),
  'sixteen bytes': good().subarray(0, 16),
  'truncated batch': good().subarray(0, 80),
  'length 0x80000000': edit((b) => setInt32(b, 8, -2147483648), good(), true),
  'length -1': edit((b) => setInt32(b, 8, -1), good(), true),
  'length 0': edit((b) => setInt32(b, 8, 0), good(), true),
  'length 13': edit((b) => setInt32(b, 8, 13), good(), true),
  'length below the header': edit((b) => setInt32(b, 8, 20), good(), true).subarray(0, 32),
  'length past the end': edit((b) => setInt32(b, 8, b.length), good(), true),
  'magic 0': legacyV0,
  'magic 1': legacyV1,
  'magic 3': edit((b) => (b[16] = 3)),
  'magic -1': edit((b) => (b[16] = 255)),
  'two batches': join(good(), good()),
  'fragment behind': join(good(), new Uint8Array(5)),
  'incomplete batch behind': join(good(), good().subarray(0, 70)),
  'garbage behind': join(good(), new Uint8Array(40)),
  'crc wrong': edit((b) => (b[17] ^= 1), good(), true),
  'payload flipped': edit((b) => (b[70] ^= 1), good(), true),
  'base offset 5': edit((b) => setInt64(b, 0, 5)),
  'base offset -1': edit((b) => setInt64(b, 0, -1)),
  'codec 5': edit((b) => setInt16(b, 21, 5)),
  'codec 7': edit((b) => setInt16(b, 21, 7)),
  'count 0': edit((b) => setInt32(b, 57, 0)),
  'count -1': edit((b) => setInt32(b, 57, -1)),
  'count 2^31-1': edit((b) => setInt32(b, 57, 0x7fffffff)),
  'count and delta 2^31-1': edit((b) => (setInt32(b, 57, 0x7fffffff), setInt32(b, 23, 0x7ffffffe))),
  'count too high': edit((b) => (setInt32(b, 57, 4), setInt32(b, 23, 3))),
  'count too low': edit((b) => (setInt32(b, 57, 2), setInt32(b, 23, 1))),
  'last offset delta too high': edit((b) => setInt32(b, 23, 7)),
  'last offset delta -1': edit((b) => setInt32(b, 23, -1)),
  control: edit((b) => setInt16(b, 21, 0x20)),
  'control, transactional': edit((b) => setInt16(b, 21, 0x30)),
  'unused attribute bits': edit((b) => setInt16(b, 21, 0x7f80)),
  'delete horizon bit': edit((b) => setInt16(b, 21, 0x40)),
  'producer id without sequence': edit((b) => (setInt64(b, 43, 7), setInt16(b, 51, 0))),
  'sequence -5': edit((b) => (setInt64(b, 43, 7), setInt16(b, 51, 0), setInt32(b, 53, -5))),
  'log append time bit': edit((b) => setInt16(b, 21, getInt16(b, 21) | 8)),
  'log append time bit without a timestamp': edit((b) => (setInt16(b, 21, 8), setInt64(b, 27, -1), setInt64(b, 35, -1))),
  'max timestamp lies': edit((b) => setInt64(b, 35, 1)),
  'timestamp in an hour and more': good(3, { timestampMs: 4102444800000 }),
  'timestamp none': good(3, { timestampMs: -1 }),
  'timestamp -5': good(3, { timestampMs: -5 }),
  tiny: raw(tiny),
  'record length longer than the rest': raw([40, ...tiny.slice(1)]),
  'record length shorter': raw([12, ...tiny.slice(1)]),
  'record length 0': raw([0]),
  'record length -1': raw([1]),
  'record length 2^31-1': raw([254, 255, 255, 255, 15, ...tiny.slice(1)]),
  'record length of eleven bytes': raw([...TEN_FF, 1, ...tiny.slice(1)]),
  'no payload': raw([]),
  'record attributes set': raw([14, 255, 0, 0, 1, 2, 97, 0]),
  'offset delta 5': raw([14, 0, 0, 10, 1, 2, 97, 0]),
  'offset delta -1': raw([14, 0, 0, 1, 1, 2, 97, 0]),
  'timestamp delta of eleven bytes': raw([zigzag(17), 0, ...TEN_FF, 1, 0, 1, 2, 97, 0]),
  'key size -2': raw([14, 0, 0, 0, 3, 2, 97, 0]),
  'key past the record': raw([14, 0, 0, 0, 60, 2, 97, 0]),
  'value past the record': raw([14, 0, 0, 0, 1, 60, 97, 0]),
  'value size -2': raw([12, 0, 0, 0, 1, 3, 0]),
  'header count -1': raw([14, 0, 0, 0, 1, 2, 97, 1]),
  'header count 2^31-1': raw([22, 0, 0, 0, 1, 2, 97, 254, 255, 255, 255, 15]),
  'header name null': raw([18, 0, 0, 0, 1, 2, 97, 2, 1, 1]),
  'header value past the record': raw([20, 0, 0, 0, 1, 2, 97, 2, 2, 120, 60]),
  'header name past the record': raw([18, 0, 0, 0, 1, 2, 97, 2, 60, 1]),
  'header value size -2': raw([20, 0, 0, 0, 1, 2, 97, 2, 2, 120, 3]),
  'record trails': raw([...tiny, 0, 0, 0]),
  'gzip of garbage': raw([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 1, 1),
  'gzip truncated': raw(gzipSync(Uint8Array.from(tiny)).subarray(0, 20), 1, 1),
  'gzip good': raw(gzipSync(Uint8Array.from(tiny)), 1, 1),
  'gzip record trails': raw(gzipSync(Uint8Array.from([...tiny, 0, 0])), 1, 1),
  'gzip of too few records': raw(gzipSync(Uint8Array.from(tiny)), 2, 1),
  'gzip header count -1': raw(gzipSync(Uint8Array.from([14, 0, 0, 0, 1, 2, 97, 1])), 1, 1),
  'gzip offset delta 5': raw(gzipSync(Uint8Array.from([14, 0, 0, 10, 1, 2, 97, 0])), 1, 1),
  'gzip record length of eleven bytes': raw(gzipSync(Uint8Array.from([...TEN_FF, 1, ...tiny])), 1, 1),
  'snappy of garbage': raw([255, 255, 255, 255, 15, 1, 2], 1, 2),
  'lz4 of garbage': raw([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 1, 3),
  'zstd of garbage': raw([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 1, 4),
  'gzip of nothing': raw([], 1, 1),
  'snappy of nothing': raw([], 1, 2),
  'lz4 of nothing': raw([], 1, 3),
  'zstd of nothing': raw([], 1, 4),
}

export const hostileCases: readonly HostileCase[] = [
  ...Object.entries(plain).map(([name, records]) => ({ name, topic: 'plain' as const, version: 8, records })),
  { name: 'zstd with Produce 3', topic: 'plain', version: 3, records: good(3, { codec: 4 }) },
  { name: 'zstd with Produce 7', topic: 'plain', version: 7, records: good(3, { codec: 4 }) },
  { name: 'compact: keys', topic: 'compact', version: 8, records: good() },
  { name: 'compact: no keys', topic: 'compact', version: 8, records: good(5, { keys: false }) },
  { name: 'compact: no keys, zstd', topic: 'compact', version: 8, records: good(2, { keys: false, codec: 4 }) },
  { name: 'append: create time', topic: 'append', version: 8, records: good() },
  { name: 'append: far timestamp', topic: 'append', version: 8, records: good(3, { timestampMs: 4102444800000 }) },
  { name: 'append: bit set', topic: 'append', version: 8, records: edit((b) => setInt16(b, 21, 8)) },
  { name: 'small: over the limit', topic: 'small', version: 8, records: good(200) },
  { name: 'small: over the limit, crc wrong', topic: 'small', version: 8, records: edit((b) => (b[17] ^= 1), good(200), true) },
  { name: 'small: at the limit', topic: 'small', version: 8, records: good(3) },
]

/** `max.message.bytes` of the topic `small`: exactly the size of its good batch. */
export const SMALL_MAX_BYTES = good(3).length
