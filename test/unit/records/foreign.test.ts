import { describe, expect, test } from 'vitest'
import { BatchBuilder } from '../../../protocol/records/build.ts'
import { compressPayload, decompressPayload } from '../../../protocol/records/codecs.ts'
import {
  BATCH_HEADER_BYTES,
  batchCrcValid,
  batchLastOffset,
  codecOf,
  patchBatch,
  readBatchHeader,
  setMaxTimestamp,
  stampLogAppendTime,
  timestampTypeOf,
  wholeBatchBytes,
} from '../../../protocol/records/header.ts'
import { checkBatch, validateRecords } from '../../../protocol/records/validate.ts'
import { RecordCursor } from '../../../protocol/records/walk.ts'
import { codecNames, recording, recordings, sets } from './fixtureSets.ts'
import { readRecords, rules } from './help.ts'

describe.each(recordings)('$client, $codec, $set', ({ client, codec, set }) => {
  const batch = recording(client, codec, set)
  const expected = sets[set]

  test('every record comes back byte for byte', () => {
    expect(wholeBatchBytes(batch, 0)).toBe(batch.length)
    expect(readRecords(batch)).toEqual(expected.map((record, i) => Object.assign({ offset: i }, record)))
  })

  test('passes as a produced batch', () => {
    const sent = Uint8Array.from(batch)
    patchBatch(sent, 0, 0, -1)
    const checked = checkBatch(sent, rules())
    expect(checked.error).toBe(0)
    const outcome = validateRecords(sent, rules())
    expect(outcome).toMatchObject({ error: 0, message: '', maxTimestampMs: readBatchHeader(batch).maxTimestampMs })
  })

  test('a rebuilt batch holds the same records', () => {
    const header = readBatchHeader(batch)
    const payload = decompressPayload(codecOf(header.attributes), batch.subarray(BATCH_HEADER_BYTES), 1e7)
    const builder = new BatchBuilder()
    const cursor = new RecordCursor().reset(payload, 0, payload.length, header.count)
    while (cursor.next()) {
      builder.append(
        header.baseOffset + cursor.offsetDelta,
        header.baseTimestampMs + cursor.timestampDeltaMs,
        cursor.keyStart < 0 ? null : payload,
        cursor.keyStart,
        cursor.keyEnd,
        cursor.valueStart < 0 ? null : payload,
        cursor.valueStart,
        cursor.valueEnd,
        payload,
        cursor.headersWireStart,
        cursor.headersEnd,
      )
    }
    const rebuilt = builder.finish()
    expect(readRecords(rebuilt)).toEqual(readRecords(batch))
    // No client writes a record in another way: the builder's bytes are theirs.
    expect(Buffer.from(rebuilt.subarray(BATCH_HEADER_BYTES)).equals(payload)).toBe(true)
  })
})

test('the recordings use every codec, and snappy in both framings', () => {
  const used = new Set(recordings.map(({ client, codec, set }) => codecOf(readBatchHeader(recording(client, codec, set)).attributes)))
  expect([...used].sort()).toEqual([0, 1, 2, 3, 4])
  const xerial = (client: string): boolean => recording(client, 'snappy', 'many').toString('latin1', 62, 68) === 'SNAPPY'
  expect([xerial('java'), xerial('librdkafka')]).toEqual([true, false])
})

test.each(codecNames)('what we compress with %s decompresses, empty or of many blocks', (name) => {
  const codec = codecNames.indexOf(name)
  for (const size of [0, 1, 32768, 32769, 300000]) {
    const payload = Buffer.from('0123456789abcdef'.repeat(size / 16 + 1)).subarray(0, size)
    expect(Buffer.from(decompressPayload(codec, compressPayload(codec, payload), size)).equals(payload)).toBe(true)
  }
})

test('base offset and leader epoch lie outside the CRC, stamps renew it', () => {
  const batch = Uint8Array.from(recording('java', 'zstd', 'edge'))
  patchBatch(batch, 0, 2 ** 52 + 3, 7)
  expect(batchCrcValid(batch)).toBe(true)
  expect(readBatchHeader(batch)).toMatchObject({
    baseOffset: 2 ** 52 + 3,
    leaderEpoch: 7,
    producerId: 12,
    producerEpoch: 0,
    baseSequence: 0,
  })
  expect(batchLastOffset(batch)).toBe(2 ** 52 + 3 + 6)
  setMaxTimestamp(batch, 0, 1)
  expect(batchCrcValid(batch)).toBe(true)
  stampLogAppendTime(batch, 0, 1800000000000)
  expect(batchCrcValid(batch)).toBe(true)
  const header = readBatchHeader(batch)
  expect([timestampTypeOf(header.attributes), header.maxTimestampMs, codecOf(header.attributes)]).toEqual([1, 1800000000000, 4])
  batch[batch.length - 1] ^= 1
  expect(batchCrcValid(batch)).toBe(false)
})
