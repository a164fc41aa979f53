import { crc32c } from '@node-rs/crc32'
import { getInt16, getInt32, getInt64, setInt16, setInt32, setInt64 } from './bytes.ts'

/**
 * The header of a record batch, magic 2 (K: DefaultRecordBatch):
 * baseOffset@0(8) length@8(4) partitionLeaderEpoch@12(4) magic@16(1) crc@17(4) attributes@21(2) lastOffsetDelta@23(4)
 * baseTimestamp@27(8) maxTimestamp@35(8) producerId@43(8) producerEpoch@51(2) baseSequence@53(4) count@57(4) records@61.
 * The CRC covers byte 21 to the end: base offset and leader epoch can be set without touching it.
 *
 * Accessors trust their caller: `at` must be the first byte of a whole batch (validate.ts has checked it once).
 */
export const BATCH_HEADER_BYTES = 61
/** Base offset and length: what stands before the `length` bytes. */
export const BATCH_PREFIX_BYTES = 12
/** The lowest base offset to the first byte that the CRC covers. */
export const CRC_START = 21

export const CODEC_NONE = 0
export const CODEC_GZIP = 1
export const CODEC_SNAPPY = 2
export const CODEC_LZ4 = 3
export const CODEC_ZSTD = 4

const CODEC_MASK = 0x07
const LOG_APPEND_TIME_BIT = 0x08
const TRANSACTIONAL_BIT = 0x10
const CONTROL_BIT = 0x20

/** All fields. Times are milliseconds since 1970; -1 stands for none in times, producer id, epoch and sequence. */
export interface BatchHeader {
  readonly baseOffset: number
  /** The whole batch, header included: the wire's `length` + 12. */
  readonly sizeBytes: number
  readonly leaderEpoch: number
  readonly magic: number
  /** CRC-32C as an unsigned number. */
  readonly crc: number
  readonly attributes: number
  readonly lastOffsetDelta: number
  readonly baseTimestampMs: number
  readonly maxTimestampMs: number
  readonly producerId: number
  readonly producerEpoch: number
  readonly baseSequence: number
  readonly count: number
}

export function readBatchHeader(buf: Uint8Array, at = 0): BatchHeader {
  return {
    baseOffset: getInt64(buf, at),
    sizeBytes: getInt32(buf, at + 8) + BATCH_PREFIX_BYTES,
    leaderEpoch: getInt32(buf, at + 12),
    magic: (buf[at + 16] << 24) >> 24,
    crc: getInt32(buf, at + 17) >>> 0,
    attributes: getInt16(buf, at + 21),
    lastOffsetDelta: getInt32(buf, at + 23),
    baseTimestampMs: getInt64(buf, at + 27),
    maxTimestampMs: getInt64(buf, at + 35),
    producerId: getInt64(buf, at + 43),
    producerEpoch: getInt16(buf, at + 51),
    baseSequence: getInt32(buf, at + 53),
    count: getInt32(buf, at + 57),
  }
}

/** 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd; 5 to 7 are no codec. */
export const codecOf = (attributes: number): number => attributes & CODEC_MASK
/** 0 create time, 1 log append time. */
export const timestampTypeOf = (attributes: number): 0 | 1 => ((attributes & LOG_APPEND_TIME_BIT) === 0 ? 0 : 1)
export const isTransactional = (attributes: number): boolean => (attributes & TRANSACTIONAL_BIT) !== 0
export const isControl = (attributes: number): boolean => (attributes & CONTROL_BIT) !== 0

export const batchBaseOffset = (buf: Uint8Array, at = 0): number => getInt64(buf, at)
export const batchSizeBytes = (buf: Uint8Array, at = 0): number => getInt32(buf, at + 8) + BATCH_PREFIX_BYTES
export const batchAttributes = (buf: Uint8Array, at = 0): number => getInt16(buf, at + 21)
/** Offsets that the batch spans, holes included. */
export const batchOffsetCount = (buf: Uint8Array, at = 0): number => getInt32(buf, at + 23) + 1
export const batchLastOffset = (buf: Uint8Array, at = 0): number => getInt64(buf, at) + getInt32(buf, at + 23)
export const batchBaseTimestampMs = (buf: Uint8Array, at = 0): number => getInt64(buf, at + 27)
export const batchMaxTimestampMs = (buf: Uint8Array, at = 0): number => getInt64(buf, at + 35)
export const batchProducerId = (buf: Uint8Array, at = 0): number => getInt64(buf, at + 43)
export const batchRecordCount = (buf: Uint8Array, at = 0): number => getInt32(buf, at + 57)

/**
 * The size of the batch that begins at `at`, or -1 when [at, end) does not hold a whole batch of magic 2: the step of
 * every walk over stored batches.
 */
export function wholeBatchBytes(buf: Uint8Array, at: number, end = buf.length): number {
  if (end - at < BATCH_HEADER_BYTES || buf[at + 16] !== 2) return -1
  const sizeBytes = batchSizeBytes(buf, at)
  return sizeBytes < BATCH_HEADER_BYTES || sizeBytes > end - at ? -1 : sizeBytes
}

/** Sets what the sequencer decided: 12 bytes outside the CRC. */
export function patchBatch(buf: Uint8Array, at: number, baseOffset: number, leaderEpoch: number): void {
  setInt64(buf, at, baseOffset)
  setInt32(buf, at + 12, leaderEpoch)
}

/** CRC-32C over byte 21 to the end, as an unsigned number. Nothing is copied. */
export function batchCrc(buf: Uint8Array, at = 0): number {
  return crc32c(buf.subarray(at + CRC_START, at + batchSizeBytes(buf, at)))
}

export function batchCrcValid(buf: Uint8Array, at = 0): boolean {
  return batchCrc(buf, at) === getInt32(buf, at + 17) >>> 0
}

/** Makes the batch one of LogAppendTime: every record in it has `timeMs` from now on. New CRC. */
export function stampLogAppendTime(buf: Uint8Array, at: number, timeMs: number): void {
  setInt16(buf, at + 21, getInt16(buf, at + 21) | LOG_APPEND_TIME_BIT)
  setMaxTimestamp(buf, at, timeMs)
}

/** Corrects the largest timestamp of a CreateTime batch whose producer lied. New CRC. */
export function setMaxTimestamp(buf: Uint8Array, at: number, timeMs: number): void {
  setInt64(buf, at + 35, timeMs)
  setInt32(buf, at + 17, batchCrc(buf, at))
}
