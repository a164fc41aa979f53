import { constants, gzipSync, zstdCompressSync } from 'node:zlib'
import { compressPayload } from '../../../protocol/records/codecs.ts'
import { altered, batchOf, frameOf, produceFrame, withPayload } from './client.ts'

/** What comes back: the connection closed, nothing at all (more bytes are awaited), any answer, or the error code of the one partition or topic. */
export type Outcome = 'closed' | 'silence' | 'answer' | number

export interface HostileCase {
  readonly name: string
  readonly bytes: Buffer
  /** What Apache Kafka 4.4.0 does, as `node test/compat/limits/beside.ts PORT` shows; where Frazil differs on purpose, `here` says it. */
  readonly kafka: Outcome
  readonly here?: Outcome
  /** The API and version by which an answer is decoded. */
  readonly decode?: { readonly key: number; readonly version: number }
}

const PRODUCE = { key: 0, version: 9 }
const CREATE = { key: 19, version: 5 }
const sized = (size: number, rest: Uint8Array = Buffer.alloc(0)): Buffer => {
  const head = Buffer.alloc(4)
  head.writeInt32BE(size)
  return Buffer.concat([head, rest])
}
const framed = (hex: string): Buffer => sized(hex.length / 2, Buffer.from(hex, 'hex'))
/** Size, API key, version, correlation id, client id "x", then `body`. */
function request(key: number, version: number, body: string, flexible = false): Buffer {
  const head = Buffer.alloc(8)
  head.writeInt16BE(key, 0)
  head.writeInt16BE(version, 2)
  head.writeInt32BE(7, 4)
  return framed(head.toString('hex') + '000178' + (flexible ? '00' : '') + body)
}

/** A zstd frame of some KiB that inflates to 1 GiB of zeros: one RLE block of 128 KiB, 8192 times. */
function zstdBomb(): Buffer {
  const block = Buffer.from([0b010 | 0, 0, 0, 0])
  const size = (128 * 1024) << 3
  block.writeUIntLE(size | 0b010, 0, 3)
  const blocks = Buffer.alloc(4 * 8192)
  for (let i = 0; i < 8192; i++) block.copy(blocks, i * 4)
  blocks[blocks.length - 4] |= 1
  return Buffer.concat([Buffer.from('28b52ffd0058', 'hex'), blocks])
}
/** Members of 16 MiB of zeros, one after the other: gzip readers join them. */
function gzipBomb(): Buffer {
  const member = gzipSync(Buffer.alloc(16 << 20), { level: 9 })
  return Buffer.concat(Array.from({ length: 50 }, () => member))
}
/** Compressed blocks of 4 MiB each that repeat one byte. */
function lz4Bomb(): Buffer {
  const full = 4 << 20
  const run = full - 1 - 4 - 5 // one literal, a match, the last five literals
  const more: number[] = []
  let left = run + 4 - 4 - 15
  for (; left >= 255; left -= 255) more.push(255)
  more.push(left)
  const block = Buffer.from([0x1f, 0, 1, 0, ...more, 0x50, 0, 0, 0, 0, 0])
  const length = Buffer.alloc(4)
  length.writeUInt32LE(block.length)
  const blocks = Array.from({ length: 60 }, () => Buffer.concat([length, block]))
  return Buffer.concat([Buffer.from('04224d18607073', 'hex'), ...blocks, Buffer.alloc(4)])
}
/** A raw snappy block that says it inflates to almost 4 GiB. */
const snappyLie = (): Buffer => Buffer.concat([Buffer.from('ffffffff0f', 'hex'), Buffer.from([0, 65]), Buffer.alloc(100)])
/** lz4 with a declared content size of 1 TiB. */
function lz4Lie(): Buffer {
  const frame = Buffer.from(compressPayload(3, Buffer.alloc(100)))
  const declared = Buffer.alloc(8)
  declared.writeBigUInt64LE(1n << 40n)
  const flags = frame[4] | 0x08
  return Buffer.concat([frame.subarray(0, 4), Buffer.from([flags, frame[5]]), declared, Buffer.from([0]), frame.subarray(7)])
}
/** zstd that declares 1 TiB of content in its frame header. */
const zstdLie = (): Buffer => Buffer.from('28b52ffde00000000000010000010000', 'hex')
/** zstd with a window of 2 GiB, which a decoder would have to allocate. */
const zstdWindow = (): Buffer => Buffer.from('28b52ffd00a80b000041'.repeat(1), 'hex')

export function hostileCases(topic: string): HostileCase[] {
  const good = batchOf([Buffer.from('one'), Buffer.from('two')])
  const records = good.subarray(61)
  const produce = (name: string, batch: Buffer | null, kafka: Outcome, here?: Outcome): HostileCase => ({
    name: `batch: ${name}`,
    bytes: produceFrame(topic, 0, batch),
    kafka,
    here,
    decode: PRODUCE,
  })
  const create = (name: string, topicName: string): HostileCase => ({
    name: `topic name: ${name}`,
    bytes: frameOf(19, 5, {
      topics: [{ name: topicName, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }],
      timeoutMs: 10_000,
    }),
    kafka: 17,
    decode: CREATE,
  })
  const wire = (name: string, bytes: Buffer, kafka: Outcome, here?: Outcome): HostileCase => ({ name: `wire: ${name}`, bytes, kafka, here })
  const millions = (count: string): string => count + '00'.repeat(64)
  return [
    wire('size -1', sized(-1), 'closed'),
    wire('size -2^31', sized(-0x80000000), 'closed'),
    wire('size 0', sized(0), 'closed'),
    wire('size 1', sized(1, Buffer.from([0])), 'closed'),
    wire('size 7, a header cut short', sized(7, Buffer.alloc(7)), 'closed'),
    wire('size 2^31-1', sized(0x7fffffff), 'closed'),
    wire('one byte over socket.request.max.bytes', sized(104857601), 'closed'),
    wire('half a size', Buffer.from([0, 0]), 'silence'),
    wire('half a frame', sized(1000, Buffer.alloc(500)), 'silence'),
    wire('HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'), 'closed'),
    wire('a TLS hello', Buffer.from('16030100c8010000c4030300'.repeat(64), 'hex'), 'closed'),
    wire('API key -1', request(-1, 0, ''), 'closed'),
    wire('API key 32767', request(32767, 0, ''), 'closed'),
    wire('a version of Produce that is no more', request(0, 2, ''), 'closed'),
    wire('a version of Metadata that is not yet', request(3, 99, ''), 'closed'),
    wire('a negative version', request(3, -1, ''), 'closed'),
    wire('ApiVersions in a version that is not yet', request(18, 99, '00'), 'answer'),
    wire('ApiVersions in a negative version', request(18, -7, ''), 'answer'),
    wire('a client id of 32767 bytes that are not there', framed('00030001000000017fff'), 'closed'),
    wire('a client id of length -2', framed('0003000100000001fffe'), 'closed'),
    wire('a cluster request', request(4, 0, '00'.repeat(40)), 'closed'),
    wire('Metadata of 2^31-1 topics', request(3, 1, millions('7fffffff')), 'closed'),
    wire('Metadata of -2 topics', request(3, 1, millions('fffffffe')), 'answer'),
    wire('Metadata of 1,000,000 topics that are not there', request(3, 1, millions('000f4240')), 'closed'),
    wire('Metadata with 2^32-1 tagged fields', request(3, 9, '01000000ffffffff0f', true), 'closed'),
    wire('Produce without a body', request(0, 9, '', true), 'closed'),
    wire('Produce with records of 2^31-2 bytes', request(0, 9, '00ffff000000000202740200000000ffffffff0f', true), 'closed'),
    wire(
      'Fetch of 1,000,000 partitions that are not there',
      request(1, 4, 'ffffffff0000000000000001000000010000000001000174000f4240'),
      'closed',
    ),
    wire('JoinGroup with 1,000,000 protocols that are not there', request(11, 5, '00016700002710000027100000ffff000163000f4240'), 'closed'),

    produce('null', null, 'silence', 87), // Kafka fails without an answer
    produce('empty', Buffer.alloc(0), 87),
    produce('11 bytes', good.subarray(0, 11), 87),
    produce('cut short', good.subarray(0, good.length - 1), 87),
    produce('two batches', Buffer.concat([good, good]), 87),
    produce('bytes behind it', Buffer.concat([good, Buffer.alloc(5)]), 0),
    produce(
      'length -1',
      changed(good, (b) => b.writeInt32BE(-1, 8)),
      2,
    ),
    produce(
      'length 2^31-1',
      changed(good, (b) => b.writeInt32BE(0x7fffffff, 8)),
      -1,
      87,
    ),
    produce(
      'length 0',
      changed(good, (b) => b.writeInt32BE(0, 8)),
      2,
    ),
    produce('length shorter than its header', withLength(good, 38), -1),
    produce('length a little shorter than its header', withLength(good, 39), 2),
    produce(
      'CRC wrong',
      changed(good, (b) => (b[17] ^= 1)),
      2,
    ),
    produce(
      'a flipped bit in a record',
      changed(good, (b) => (b[65] ^= 1)),
      2,
    ),
    produce(
      'magic 1',
      changed(good, (b) => (b[16] = 1)),
      87,
    ),
    produce(
      'magic 9',
      changed(good, (b) => (b[16] = 9)),
      2,
    ),
    produce(
      'count 0',
      altered(good, (b) => b.writeInt32BE(0, 57)),
      87,
    ),
    produce(
      'count -1',
      altered(good, (b) => b.writeInt32BE(-1, 57)),
      87,
    ),
    produce(
      'count 2^31-1',
      altered(good, (b) => b.writeInt32BE(0x7fffffff, 57)),
      87,
    ),
    produce(
      'count and last delta 2^31-1',
      altered(good, (b) => (b.writeInt32BE(0x7fffffff, 57), b.writeInt32BE(0x7ffffffe, 23))),
      87,
    ),
    produce(
      'count and last delta of one more',
      altered(good, (b) => (b.writeInt32BE(3, 57), b.writeInt32BE(2, 23))),
      87,
    ),
    produce(
      'count and last delta of one less',
      altered(good, (b) => (b.writeInt32BE(1, 57), b.writeInt32BE(0, 23))),
      87,
    ),
    produce(
      'base offset 5',
      changed(good, (b) => b.writeInt32BE(5, 4)),
      87,
    ),
    produce(
      'a varint of eleven bytes',
      altered(good, (b) => b.fill(0xff, 61, 72)),
      -1,
      87,
    ),
    produce(
      'a record of length -1',
      altered(good, (b) => (b[61] = 1)),
      87,
    ),
    produce(
      'a record longer than the batch',
      altered(good, (b) => (b[61] = 0x7e)),
      87,
    ),
    produce(
      'a control batch',
      altered(good, (b) => b.writeInt16BE(0x20, 21)),
      87,
    ),
    produce(
      'a producer without a sequence',
      altered(good, (b) => (b.writeInt32BE(0, 43), b.writeInt32BE(9, 47), b.writeInt16BE(0, 51))),
      87,
    ),
    produce(
      'codec 5',
      altered(good, (b) => b.writeInt16BE(5, 21)),
      -1,
    ),
    produce(
      'codec 7',
      altered(good, (b) => b.writeInt16BE(7, 21)),
      -1,
    ),
    produce('gzip that is none', withPayload(good, 1, records), -1),
    produce('snappy that is none', withPayload(good, 2, records), -1),
    produce('lz4 that is none', withPayload(good, 3, records), -1),
    produce('zstd that is none', withPayload(good, 4, records), -1),
    produce('gzip cut short', withPayload(good, 1, gzipSync(records).subarray(0, 15)), -1),
    produce(
      'zstd cut short',
      withPayload(good, 4, zstdCompressSync(records, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }).subarray(0, 20)),
      -1,
    ),
    produce('a zstd bomb of 1 GiB', withPayload(good, 4, zstdBomb()), 87, 10),
    produce('a gzip bomb of 800 MiB', withPayload(good, 1, gzipBomb()), 87, 10),
    produce('an lz4 bomb of 240 MiB', withPayload(good, 3, lz4Bomb()), 87, 10),
    produce('a zstd frame that declares 1 TiB', withPayload(good, 4, zstdLie()), -1),
    produce('a zstd frame with a window of 2 GiB', withPayload(good, 4, zstdWindow()), -1),
    produce('an lz4 frame that declares 1 TiB', withPayload(good, 3, lz4Lie()), -1, 10),
    produce('a snappy block that declares 4 GiB', withPayload(good, 2, snappyLie()), -1),
    produce('over max.message.bytes', batchOf([Buffer.alloc(1048588)]), 10),
    produce('a timestamp in the far future', batchOf([Buffer.from('x')], 8e15), 32),

    create('empty', ''),
    create('.', '.'),
    create('..', '..'),
    create('250 characters', 'x'.repeat(250)),
    create('a NUL', 'a\0b'),
    create('unicode', 'höhe'),
    create('a slash', '../../etc'),
    create('a blank', 'a b'),
    create('a line break', 'a\nb'),
  ]
}

function changed(batch: Buffer, change: (batch: Buffer) => void): Buffer {
  const copy = Buffer.from(batch)
  change(copy)
  return copy
}

function withLength(batch: Buffer, length: number): Buffer {
  const copy = Buffer.from(batch.subarray(0, length + 12))
  copy.writeInt32BE(length, 8)
  return copy
}
