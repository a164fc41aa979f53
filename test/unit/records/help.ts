import { decompressPayload } from '../../../protocol/records/codecs.ts'
import { BATCH_HEADER_BYTES, codecOf, readBatchHeader, timestampTypeOf, wholeBatchBytes } from '../../../protocol/records/header.ts'
import type { BatchRules } from '../../../protocol/records/validate.ts'
import { walkHeaders, walkRecords } from '../../../protocol/records/walk.ts'
import type { FixtureRecord } from './fixtureSets.ts'

/** A topic with Kafka's defaults, at a time near that of the recordings; changed where a test says so. */
export function rules(changes: Partial<BatchRules> = {}): BatchRules {
  return {
    produceVersion: 8,
    maxMessageBytes: 1048588,
    segmentBytes: 1073741824,
    timestampType: 0,
    timestampBeforeMaxMs: Number('9223372036854775807'),
    timestampAfterMaxMs: 3600000,
    nowMs: 1800000000000,
    compacted: false,
    inflatedMaxBytes: 64 * 1024 * 1024,
    ...changes,
  }
}

/** All records of all batches of a fetch as objects. */
export function readRecords(batches: Uint8Array): (FixtureRecord & { readonly offset: number })[] {
  const records: (FixtureRecord & { readonly offset: number })[] = []
  let at = 0
  while (at < batches.length) {
    const size = wholeBatchBytes(batches, at)
    if (size < 0) throw new Error(`no batch at ${at}`)
    const header = readBatchHeader(batches, at)
    const payload = decompressPayload(codecOf(header.attributes), batches.subarray(at + BATCH_HEADER_BYTES, at + size), 64 * 1024 * 1024)
    const slice = (start: number, end: number): Buffer | null => (start < 0 ? null : Buffer.from(payload.subarray(start, end)))
    walkRecords(payload, header.count, (cursor) => {
      const h: [Buffer, Buffer | null][] = []
      walkHeaders(payload, cursor.headersStart, cursor.headerCount, (nameStart, nameEnd, valueStart, valueEnd) =>
        h.push([slice(nameStart, nameEnd)!, slice(valueStart, valueEnd)]),
      )
      records.push({
        offset: header.baseOffset + cursor.offsetDelta,
        t: timestampTypeOf(header.attributes) === 1 ? header.maxTimestampMs : header.baseTimestampMs + cursor.timestampDeltaMs,
        k: slice(cursor.keyStart, cursor.keyEnd),
        v: slice(cursor.valueStart, cursor.valueEnd),
        h,
      })
    })
    at += size
  }
  return records
}
