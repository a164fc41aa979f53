import { BatchBuilder } from '../../../protocol/records/build.ts'
import { setInt16, setInt32, setInt64 } from '../../../protocol/records/bytes.ts'
import { BATCH_HEADER_BYTES, batchCrc, batchCrcValid, codecOf, readBatchHeader } from '../../../protocol/records/header.ts'
import { RecordCursor } from '../../../protocol/records/walk.ts'
import { decompressPayload } from '../../../protocol/records/codecs.ts'

const INITIAL_BYTES = 1024
const PAYLOAD_MAX_BYTES = 1 << 20

export interface BatchSpec {
  readonly values: readonly string[]
  readonly timestampMs: number
  readonly producerId: number
  readonly epoch: number
  readonly sequence: number
  readonly transactional?: boolean
  readonly codec?: number
}

/** A batch as a producer sends it. */
export function encodeBatch(spec: BatchSpec): Uint8Array {
  const builder = new BatchBuilder({ codec: spec.codec ?? 0, initialBytes: INITIAL_BYTES })
  spec.values.forEach((text, i) => {
    const value = Buffer.from(text)
    const key = i % 2 === 0 ? value.subarray(0, 2) : null
    builder.append(i, spec.timestampMs + i, key, 0, key?.length ?? 0, value, 0, value.length)
  })
  const batch = builder.finish()
  if (spec.producerId >= 0) {
    setInt64(batch, 43, spec.producerId)
    setInt16(batch, 51, spec.epoch)
    setInt32(batch, 53, spec.sequence)
    if (spec.transactional) batch[22] |= 0x10
    setInt32(batch, 17, batchCrc(batch))
  }
  return batch
}

export interface ReadRecord {
  readonly offset: number
  readonly value: string
  readonly producerId: number
  readonly isTransactional: boolean
  /** -1, or the type of a control record: 0 abort, 1 commit. */
  readonly control: number
}

export interface ReadBatches {
  readonly records: readonly ReadRecord[]
  /** Behind the last batch, whether it holds records or not; -1 without any. */
  readonly nextOffset: number
}

/** The records of whole batches. Error: a text that says what is wrong with the bytes. */
export function decodeBatches(bytes: Uint8Array): ReadBatches | string {
  let nextOffset = -1
  const records: ReadRecord[] = []
  const cursor = new RecordCursor()
  for (let at = 0; at < bytes.length;) {
    if (bytes.length - at < BATCH_HEADER_BYTES) return 'a batch is cut'
    const header = readBatchHeader(bytes, at)
    const end = at + header.sizeBytes
    if (end > bytes.length) return 'a batch is cut'
    const batch = bytes.subarray(at, end)
    if (!batchCrcValid(batch, 0)) return `the batch at ${header.baseOffset} has a bad checksum`
    const codec = codecOf(header.attributes)
    const payload = batch.subarray(BATCH_HEADER_BYTES)
    const plain = codec === 0 ? payload : decompressPayload(codec, payload, PAYLOAD_MAX_BYTES)
    cursor.reset(plain, 0, plain.length, header.count)
    while (cursor.next()) {
      const isControl = (header.attributes & 0x20) !== 0
      records.push({
        offset: header.baseOffset + cursor.offsetDelta,
        value: isControl || cursor.valueStart < 0 ? '' : Buffer.from(plain.subarray(cursor.valueStart, cursor.valueEnd)).toString('latin1'),
        producerId: header.producerId,
        isTransactional: (header.attributes & 0x10) !== 0,
        control: isControl ? (plain[cursor.keyStart + 3] ?? -1) : -1,
      })
    }
    nextOffset = header.baseOffset + header.lastOffsetDelta + 1
    at = end
  }
  return { records, nextOffset }
}
