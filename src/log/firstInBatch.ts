import { decompressPayload } from '../../protocol/records/codecs.ts'
import { BATCH_HEADER_BYTES, codecOf, readBatchHeader, timestampTypeOf } from '../../protocol/records/header.ts'
import { RecordCursor } from '../../protocol/records/walk.ts'

export interface TimedOffset {
  readonly offset: number
  readonly timestampMs: number
}

/** A validated batch was inflated within bounds once already; this only guards against a damaged one. */
const INFLATED_MAX_BYTES = 256 * 1024 * 1024

/** The first record of one stored batch with an offset from `from` on and a timestamp at or after `timestampMs`. */
export function firstInBatch(batch: Uint8Array, baseOffset: number, from: number, timestampMs: number): TimedOffset | null {
  const header = readBatchHeader(batch)
  if (timestampTypeOf(header.attributes) === 1) {
    // Every record of it has the append time.
    return header.maxTimestampMs >= timestampMs ? { offset: Math.max(baseOffset, from), timestampMs: header.maxTimestampMs } : null
  }
  const payload = decompressPayload(codecOf(header.attributes), batch.subarray(BATCH_HEADER_BYTES, header.sizeBytes), INFLATED_MAX_BYTES)
  const cursor = new RecordCursor().reset(payload, 0, payload.length, header.count)
  while (cursor.next()) {
    const at = header.baseTimestampMs + cursor.timestampDeltaMs
    const offset = baseOffset + cursor.offsetDelta
    if (at >= timestampMs && offset >= from) return { offset, timestampMs: at }
  }
  return null
}
