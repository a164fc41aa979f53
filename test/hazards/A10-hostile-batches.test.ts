import { gzipSync, zstdCompressSync } from 'node:zlib'
import lz4 from 'lz4-napi'
import snappy from 'snappy'
import { describe, expect, test } from 'vitest'
import { Errors } from '../../protocol/errors.ts'
import { decompressPayload } from '../../protocol/records/codecs.ts'
import { CODEC_GZIP, CODEC_LZ4, CODEC_SNAPPY, CODEC_ZSTD } from '../../protocol/records/header.ts'
import { RecordsError } from '../../protocol/records/errors.ts'
import { compressSnappy } from '../../protocol/records/snappy.ts'
import { checkBatch, validateRecords } from '../../protocol/records/validate.ts'
import { hostileCases } from '../unit/records/hostileCases.ts'
import { rules } from '../unit/records/help.ts'

// A10: a length with the high bit set is negative as int32, slips past `length < left`, and the reader panics. The same
// kind: counts, varints and header counts that lie, and few bytes that inflate to many.
// test/unit/records/hostile.test.ts holds every code against the one that Apache Kafka gave.

test.each([
  'length 0x80000000',
  'length -1',
  'count 2^31-1',
  'count and delta 2^31-1',
  'record length of eleven bytes',
  'header count -1',
  'header count 2^31-1',
])('%s is refused with an error of the client', (name) => {
  const { records } = hostileCases.find((given) => given.name === name)!
  const checked = checkBatch(records, rules())
  const error = checked.error !== 0 ? checked.error : validateRecords(records, rules()).error
  expect([Errors.CORRUPT_MESSAGE, Errors.INVALID_RECORD]).toContain(error)
})

describe('few bytes that inflate to many', () => {
  const limit = 1024 * 1024
  const zeros = Buffer.alloc(64 * 1024 * 1024)
  const bombs: [string, number, Uint8Array][] = [
    ['gzip', CODEC_GZIP, gzipSync(zeros)],
    ['zstd', CODEC_ZSTD, zstdCompressSync(zeros)],
    ['snappy, raw', CODEC_SNAPPY, snappy.compressSync(zeros)],
    ['snappy, framed', CODEC_SNAPPY, compressSnappy(zeros)],
    ['lz4', CODEC_LZ4, lz4.compressFrameSync(zeros)],
    ['lz4 that declares its size', CODEC_LZ4, withContentSize(lz4.compressFrameSync(zeros), zeros.length)],
  ]
  test.each(bombs)('%s', (_, codec, payload) => {
    expect(() => decompressPayload(codec, payload, limit)).toThrow(expect.objectContaining({ kafkaError: Errors.MESSAGE_TOO_LARGE }))
    expect(decompressPayload(codec, payload, zeros.length).length).toBe(zeros.length)
  })

  test('a snappy block that declares what it cannot hold', () => {
    const lie = Buffer.from([0x80, 0x80, 0x80, 0x10, 0, 1, 2]) // 32 MiB in seven bytes
    expect(() => decompressPayload(CODEC_SNAPPY, lie, 64 * 1024 * 1024)).toThrow(RecordsError)
  })

  test('what lies under the limit is not refused for what its blocks could hold', () => {
    const payload = Buffer.alloc(limit, 'abcdefgh')
    expect(decompressPayload(CODEC_LZ4, lz4.compressFrameSync(payload), limit).length).toBe(limit)
    expect(() => decompressPayload(CODEC_LZ4, lz4.compressFrameSync(payload), limit - 1)).toThrow(RecordsError)
  })
})

/** Sets the content size flag and field; the header checksum is the decoder's to check, the size ours. */
function withContentSize(frame: Buffer, size: number): Buffer {
  if ((frame[4] & 8) !== 0) return frame
  const field = Buffer.alloc(8)
  field.writeBigUInt64LE(BigInt(size))
  const descriptor = Buffer.concat([Buffer.from([frame[4] | 8, frame[5]]), field])
  return Buffer.concat([frame.subarray(0, 4), descriptor, Buffer.from([(xxh32(descriptor) >>> 8) & 255]), frame.subarray(7)])
}

/** xxHash32 with seed 0 of fewer than 16 bytes. */
function xxh32(bytes: Uint8Array): number {
  const rotl = (x: number, r: number): number => (x << r) | (x >>> (32 - r))
  const [p1, p2, p3, p4, p5] = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1]
  let hash = (p5 + bytes.length) | 0
  let at = 0
  for (; at + 4 <= bytes.length; at += 4) {
    const word = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)
    hash = Math.imul(rotl((hash + Math.imul(word, p3)) | 0, 17), p4)
  }
  for (; at < bytes.length; at++) hash = Math.imul(rotl((hash + Math.imul(bytes[at], p5)) | 0, 11), p1)
  hash = Math.imul(hash ^ (hash >>> 15), p2)
  hash = Math.imul(hash ^ (hash >>> 13), p3)
  return (hash ^ (hash >>> 16)) >>> 0
}
