import { Errors } from '../errors.ts'
import { getInt32 } from './bytes.ts'
import { decompressPayload } from './codecs.ts'
import { RecordsError } from './errors.ts'
import {
  BATCH_HEADER_BYTES,
  BATCH_PREFIX_BYTES,
  CODEC_ZSTD,
  batchCrcValid,
  codecOf,
  isControl,
  readBatchHeader,
  timestampTypeOf,
  type BatchHeader,
} from './header.ts'
import { RecordCursor } from './walk.ts'

/** What a broker demands of a produced batch. Plain data: it travels to worker threads. */
export interface BatchRules {
  /** Version of the Produce request. */
  readonly produceVersion: number
  /** `max.message.bytes`: the batch as sent, header included. */
  readonly maxMessageBytes: number
  /** `segment.bytes`. */
  readonly segmentBytes: number
  /** The topic's `message.timestamp.type`: 0 CreateTime, 1 LogAppendTime. */
  readonly timestampType: 0 | 1
  readonly timestampBeforeMaxMs: number
  readonly timestampAfterMaxMs: number
  /** Wall time that timestamps are held against. */
  readonly nowMs: number
  /** `cleanup.policy` has compact: every record needs a key. */
  readonly compacted: boolean
  /** The most bytes that the records may inflate to. */
  readonly inflatedMaxBytes: number
}

/** A refused record: its position in the batch (KIP-467) and why. */
export interface RecordError {
  readonly index: number
  readonly message: string
}

export type BatchCheck =
  { readonly error: 0; readonly header: BatchHeader } | { readonly error: number; readonly message: string; readonly header: null }

export interface RecordsCheck {
  /** Kafka error code, 0 when the records are good. */
  readonly error: number
  readonly message: string
  /** Kafka lists every refused record; here at most 1,000, so that an answer stays small. */
  readonly recordErrors: readonly RecordError[]
  /** The true largest timestamp; where it differs from the header's, the producer lied: `setMaxTimestamp`. -1 for none. */
  readonly maxTimestampMs: number
  /** Bytes of the records after decompression. */
  readonly inflatedBytes: number
}

const RECORD_ERRORS_MAX = 1000
/** Header of a message of magic 0 without its prefix: the shortest that Kafka looks at. */
const LEGACY_OVERHEAD_BYTES = 14
const HEADER_UP_TO_MAGIC_BYTES = 17
const PRODUCER_ID_END_BYTES = 51
/** Tables keep microseconds, exact as JS numbers (DESIGN, the row): 1684 to 2255. */
export const TIMESTAMP_LIMIT_MS = Math.floor(Number.MAX_SAFE_INTEGER / 1000)

/**
 * The checks on a Produce request's `records` that need the header alone, in the order in which Kafka makes them
 * (K: ProduceRequest.validateRecords, UnifiedLog.analyzeAndValidateRecords, LogValidator.validateBatch), so that bytes
 * with several faults get Kafka's answer. After `error` 0 the batch is [0, header.sizeBytes); a fragment behind it that
 * is no batch is not part of it (Kafka trims it).
 */
export function checkBatch(records: Uint8Array | null, rules: BatchRules): BatchCheck {
  const version = rules.produceVersion
  const first = records === null ? 0 : nextBatchBytes(records, 0)
  if (records === null || first === 0) {
    return refuse(Errors.INVALID_RECORD, `Produce requests with version ${version} must have exactly one record batch per partition`)
  }
  if (first < 0) return refuse(Errors.CORRUPT_MESSAGE, 'The size or the magic of the record batch is invalid')
  if (records[16] !== 2) {
    return refuse(
      Errors.INVALID_RECORD,
      `Produce requests with version ${version} are only allowed to contain record batches with magic version 2`,
    )
  }
  if (version < 7 && first >= BATCH_HEADER_BYTES && codecOf(records[22]) === CODEC_ZSTD) {
    return refuse(
      Errors.UNSUPPORTED_COMPRESSION_TYPE,
      `Produce requests with version ${version} are not allowed to use ZStandard compression`,
    )
  }
  const second = nextBatchBytes(records, first)
  if (second < 0) return refuse(Errors.CORRUPT_MESSAGE, 'What follows the record batch is corrupt')
  if (second > 0) {
    return refuse(Errors.INVALID_RECORD, `Produce requests with version ${version} must have exactly one record batch per partition`)
  }
  if (getInt32(records, 0) !== 0 || getInt32(records, 4) !== 0)
    return refuse(Errors.INVALID_RECORD, 'The baseOffset of the record batch should be 0')
  if (first > rules.maxMessageBytes) {
    return refuse(
      Errors.MESSAGE_TOO_LARGE,
      `The record batch size is ${first} bytes which exceeds the maximum configured value of ${rules.maxMessageBytes}`,
    )
  }
  // Kafka reads fields up to the producer id before it looks at the size: a batch that ends before that fails there.
  if (first < BATCH_HEADER_BYTES) {
    const error = first < PRODUCER_ID_END_BYTES ? Errors.UNKNOWN_SERVER_ERROR : Errors.CORRUPT_MESSAGE
    return refuse(error, 'The record batch is shorter than its header')
  }
  if (!batchCrcValid(records)) return refuse(Errors.CORRUPT_MESSAGE, 'Record is corrupt')
  const header = readBatchHeader(records)
  return checkHeader(header, rules) ?? { error: 0, header }
}

function checkHeader(header: BatchHeader, rules: BatchRules): BatchCheck | null {
  const { attributes, count, lastOffsetDelta } = header
  if (codecOf(attributes) > CODEC_ZSTD) return refuse(Errors.UNKNOWN_SERVER_ERROR, `Unknown compression type id: ${codecOf(attributes)}`)
  if (lastOffsetDelta < 0) return refuse(Errors.INVALID_RECORD, `Batch has an invalid offset range: [0, ${lastOffsetDelta}]`)
  if (count <= 0) return refuse(Errors.INVALID_RECORD, `Invalid reported count for record batch: ${count}`)
  if (lastOffsetDelta + 1 !== count) {
    return refuse(Errors.INVALID_RECORD, `Inconsistent batch offset range [0, ${lastOffsetDelta}] and count of records ${count}`)
  }
  if (isControl(attributes)) return refuse(Errors.INVALID_RECORD, 'Clients are not allowed to write control records')
  if (header.producerId > -1 && header.baseSequence < 0) {
    return refuse(
      Errors.INVALID_RECORD,
      `Invalid sequence number ${header.baseSequence} in record batch with producerId ${header.producerId}`,
    )
  }
  if (header.sizeBytes > rules.segmentBytes) {
    return refuse(
      Errors.RECORD_LIST_TOO_LARGE,
      `The record batch of ${header.sizeBytes} bytes exceeds the segment size of ${rules.segmentBytes}`,
    )
  }
  return null
}

/**
 * Size of the batch at `at`; 0 when no whole one is there; -1 when its size or magic is impossible. A size with the
 * high bit set is negative and so below the shortest (hazard A10). K: ByteBufferLogInputStream.nextBatchSize.
 */
function nextBatchBytes(records: Uint8Array, at: number): number {
  const left = records.length - at
  if (left < BATCH_PREFIX_BYTES) return 0
  const length = getInt32(records, at + 8)
  if (length < LEGACY_OVERHEAD_BYTES) return -1
  if (left < HEADER_UP_TO_MAGIC_BYTES) return 0
  if (records[at + 16] > 2) return -1
  return length + BATCH_PREFIX_BYTES <= left ? length + BATCH_PREFIX_BYTES : 0
}

/**
 * The checks that need every record (K: LogValidator, DefaultRecord): the records are well formed, as many as the
 * header says, with nothing behind them; offset deltas count from 0; keys where the topic is compacted; timestamps in
 * range. `batch` is one batch that passed `checkBatch`. Uncompressed batches are walked where they stand; compressed
 * ones are inflated first, which is work for a worker thread (L11). Never throws for bad bytes.
 *
 * Stricter than Kafka, because a batch is stored as it came, where Kafka accepts or rewrites: deltas that do not count up
 * and sizes below -1 are INVALID_RECORD, the LogAppendTime bit from a producer is INVALID_TIMESTAMP (Kafka clears it on a
 * CreateTime topic), and so is a timestamp that no microsecond of a table can hold.
 */
export function validateRecords(batch: Uint8Array, rules: BatchRules): RecordsCheck {
  const header = readBatchHeader(batch)
  let inflatedBytes = 0
  try {
    const body = batch.subarray(BATCH_HEADER_BYTES, header.sizeBytes)
    const payload = decompressPayload(codecOf(header.attributes), body, rules.inflatedMaxBytes)
    inflatedBytes = payload.length
    return walk(payload, header, rules)
  } catch (error) {
    if (!(error instanceof RecordsError)) throw error
    return { error: error.kafkaError, message: error.message, recordErrors: [], maxTimestampMs: -1, inflatedBytes }
  }
}

function walk(payload: Uint8Array, header: BatchHeader, rules: BatchRules): RecordsCheck {
  const inflatedBytes = payload.length
  const createTime = rules.timestampType === 0
  const stamped = timestampTypeOf(header.attributes) === 1
  const baseMs = header.baseTimestampMs
  const lowestMs = Math.max(rules.nowMs - rules.timestampBeforeMaxMs, -TIMESTAMP_LIMIT_MS)
  const highestMs = Math.min(rules.nowMs + rules.timestampAfterMaxMs, TIMESTAMP_LIMIT_MS)
  const recordErrors: RecordError[] = []
  let errors = 0
  let badTimestamp = false
  let maxTimestampMs = -1
  const cursor = new RecordCursor().reset(payload, 0, payload.length, header.count)
  while (cursor.next()) {
    const index = cursor.index
    if (cursor.offsetDelta !== index) {
      return refuseAll(Errors.INVALID_RECORD, `The offset delta of record ${index} is ${cursor.offsetDelta}`, inflatedBytes)
    }
    const timestampMs = stamped ? header.maxTimestampMs : baseMs + cursor.timestampDeltaMs
    let message = ''
    if (rules.compacted && cursor.keyStart < 0) message = 'Compacted topic cannot accept message without key'
    else if (stamped) {
      badTimestamp = true
      message = 'Invalid timestamp type in message. Producer should not set timestamp type to LogAppendTime.'
    } else if (createTime && timestampMs !== -1 && !(timestampMs >= lowestMs && timestampMs <= highestMs)) {
      badTimestamp = true
      message = `Timestamp ${timestampMs} of message with offset ${index} is out of range. The timestamp should be within [${lowestMs}, ${highestMs}]`
    }
    if (message === '') {
      if (timestampMs > maxTimestampMs) maxTimestampMs = timestampMs
    } else if (errors++ < RECORD_ERRORS_MAX) recordErrors.push({ index, message })
  }
  if (errors === 0) return { error: Errors.NONE, message: '', recordErrors, maxTimestampMs, inflatedBytes }
  if (badTimestamp) {
    const message = 'One or more records have been rejected due to invalid timestamp'
    return { error: Errors.INVALID_TIMESTAMP, message, recordErrors, maxTimestampMs, inflatedBytes }
  }
  const message = `One or more records have been rejected due to ${errors} record errors in total: ${recordErrors[0].message}`
  return { error: Errors.INVALID_RECORD, message, recordErrors, maxTimestampMs, inflatedBytes }
}

function refuse(error: number, message: string): BatchCheck {
  return { error, message, header: null }
}

function refuseAll(error: number, message: string, inflatedBytes: number): RecordsCheck {
  return { error, message, recordErrors: [], maxTimestampMs: -1, inflatedBytes }
}
