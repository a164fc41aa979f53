import { expect, test } from 'vitest'
import { BatchBuilder } from '../../protocol/records/build.ts'
import { decompressPayload } from '../../protocol/records/codecs.ts'
import { BATCH_HEADER_BYTES, CODEC_NONE, CODEC_ZSTD, batchAttributes, batchCrcValid, codecOf } from '../../protocol/records/header.ts'
import { recording } from '../unit/records/fixtureSets.ts'
import { readRecords } from '../unit/records/help.ts'

// A4: a batch that was inflated and written anew still announced the codec it once had.

test.each([CODEC_NONE, CODEC_ZSTD])('records that came as zstd, built anew with codec %i, say what they are', (codec) => {
  const records = readRecords(recording('java', 'zstd', 'many'))
  const builder = new BatchBuilder({ codec })
  for (const { offset, t, k, v } of records) builder.append(offset, t, k, 0, k!.length, v, 0, v!.length)
  const batch = builder.finish()
  expect(codecOf(batchAttributes(batch))).toBe(codec)
  expect(batchCrcValid(batch)).toBe(true)
  // A zstd frame has its magic number; records without compression begin with a length varint.
  const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
  expect(Buffer.from(batch.subarray(BATCH_HEADER_BYTES, BATCH_HEADER_BYTES + 4)).equals(zstdMagic)).toBe(codec === CODEC_ZSTD)
  expect(decompressPayload(codec, batch.subarray(BATCH_HEADER_BYTES), 1e7).length).toBeGreaterThan(10000)
  expect(readRecords(batch).map((record) => record.v)).toEqual(records.map((record) => record.v))
})
