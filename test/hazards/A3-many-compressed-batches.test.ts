import { expect, test } from 'vitest'
import { BatchBuilder } from '../../protocol/records/build.ts'
import { compressPayload } from '../../protocol/records/codecs.ts'
import { BATCH_HEADER_BYTES, batchCrc } from '../../protocol/records/header.ts'
import { setInt16, setInt32 } from '../../protocol/records/bytes.ts'
import { codecNames, recordings, recording, sets } from '../unit/records/fixtureSets.ts'
import { readRecords } from '../unit/records/help.ts'

// A3: several compressed batches in one answer, or several records in one compressed batch, were decoded in part only.

test('every recorded batch of every codec, one after the other', () => {
  const all = Buffer.concat(recordings.map(({ client, codec, set }) => recording(client, codec, set)))
  const expected = recordings.flatMap(({ set }) => sets[set].map((record) => record.v))
  expect(readRecords(all).map((record) => record.v)).toEqual(expected)
})

test('three batches of each codec with 1, 2 and 500 records in one partition', () => {
  const batches: Uint8Array[] = []
  let offset = 0
  for (let codec = 0; codec < codecNames.length; codec++) {
    for (const count of [1, 2, 500]) {
      const builder = new BatchBuilder()
      const value = Buffer.from(`${codecNames[codec]} of ${count}`)
      for (let i = 0; i < count; i++) builder.append(offset++, 1700000000000, null, 0, 0, value, 0, value.length)
      batches.push(packed(builder.finish(), codec))
    }
  }
  const records = readRecords(Buffer.concat(batches))
  expect(records.map((record) => record.offset)).toEqual(Array.from({ length: 5 * 503 }, (_, i) => i))
  expect(new Set(records.map((record) => String(record.v))).size).toBe(15)
})

function packed(batch: Uint8Array, codec: number): Uint8Array {
  const out = Buffer.concat([batch.subarray(0, BATCH_HEADER_BYTES), compressPayload(codec, batch.subarray(BATCH_HEADER_BYTES))])
  setInt32(out, 8, out.length - 12)
  setInt16(out, 21, codec)
  setInt32(out, 17, batchCrc(out))
  return out
}
