import { setInt16, setInt32, setInt64 } from './bytes.ts'
import { BATCH_HEADER_BYTES, BATCH_PREFIX_BYTES, batchCrc } from './header.ts'

/** Transactional and control bit. */
const ATTRIBUTES = 0x30
const ABORT = 0
const COMMIT = 1
/** Length, attributes, timestamp delta, key, value and header count of the record, without its offset delta. */
const RECORD_BYTES = 16
const OFFSETS_MAX = 0x7fffffff

/** What a marker takes as a batch: the offset delta of its record is one byte. */
export const MARKER_BATCH_BYTES = BATCH_HEADER_BYTES + RECORD_BYTES + 1

export interface ControlBatch {
  readonly firstOffset: number
  /** That of the record; the same as `firstOffset` for the end of a transaction. */
  readonly lastOffset: number
  readonly leaderEpoch: number
  readonly timestampMs: number
  readonly producerId: number
  readonly producerEpoch: number
  readonly isCommit: boolean
}

/**
 * The control batch that ends a transaction (K: EndTransactionMarker, ControlRecordType): one record, key version 0 and type,
 * value version 0 and coordinator epoch 0, no sequence.
 */
export function controlBatch(batch: ControlBatch): Uint8Array {
  const { firstOffset, lastOffset, timestampMs } = batch
  const delta = lastOffset - firstOffset
  const deltaBytes = varintBytes(delta * 2)
  const out = new Uint8Array(BATCH_HEADER_BYTES + RECORD_BYTES + deltaBytes)
  setInt64(out, 0, firstOffset)
  setInt32(out, 8, out.length - BATCH_PREFIX_BYTES)
  setInt32(out, 12, batch.leaderEpoch)
  out[16] = 2
  setInt16(out, 21, ATTRIBUTES)
  setInt32(out, 23, delta)
  setInt64(out, 27, timestampMs)
  setInt64(out, 35, timestampMs)
  setInt64(out, 43, batch.producerId)
  setInt16(out, 51, batch.producerEpoch)
  setInt32(out, 53, -1)
  setInt32(out, 57, 1)
  let at = BATCH_HEADER_BYTES
  out[at] = (RECORD_BYTES - 1 + deltaBytes) * 2
  at += 3 // attributes and timestamp delta are 0
  at = writeVarint(out, at, delta * 2)
  out[at] = 8
  out[at + 4] = batch.isCommit ? COMMIT : ABORT
  out[at + 5] = 12
  setInt32(out, 17, batchCrc(out))
  return out
}

/**
 * A batch in the place of offsets that hold nothing and are the last ones to read: it lets a client move on behind them (L18).
 * It is the commit of nobody's transaction, which every client passes over. At most 2^31-1 offsets; the next fetch gets the rest.
 */
export function fillerBatch(firstOffset: number, lastOffset: number, leaderEpoch: number): Uint8Array {
  const last = Math.min(lastOffset, firstOffset + OFFSETS_MAX - 1)
  return controlBatch({ firstOffset, lastOffset: last, leaderEpoch, timestampMs: -1, producerId: -1, producerEpoch: -1, isCommit: true })
}

function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++
  return bytes
}

function writeVarint(out: Uint8Array, at: number, value: number): number {
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out[at++] = (rest % 0x80) | 0x80
  out[at++] = rest
  return at
}
