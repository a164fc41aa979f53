import { invalidRecord } from './errors.ts'

/**
 * Walks the records of a batch (after decompression) without an object per record: `next()` moves to the next record
 * and overwrites the fields, which are offsets into `buf`. Strict: whatever does not follow the format (K: DefaultRecord)
 * throws a RecordsError with INVALID_RECORD, and nothing outside [start, end) is read.
 */
export class RecordCursor {
  buf: Uint8Array = EMPTY
  /** Position of the record in the batch, -1 before the first `next()`. */
  index = -1
  /** First byte of the record (its length varint) and the byte after its last. */
  recordStart = 0
  recordEnd = 0
  offsetDelta = 0
  timestampDeltaMs = 0
  /** -1 when the key is null. */
  keyStart = -1
  keyEnd = -1
  /** -1 when the value is null. */
  valueStart = -1
  valueEnd = -1
  headerCount = 0
  /** The first header, after the count varint. */
  headersStart = 0
  headersEnd = 0
  /** The headers with their count before them: their form on the wire, as BatchBuilder takes it. */
  headersWireStart = 0

  #at = 0
  #end = 0
  #count = 0

  /** Begins a walk over `count` records in [start, end). */
  reset(buf: Uint8Array, start: number, end: number, count: number): this {
    if (count < 0) throw invalidRecord(`Found invalid record count ${count}`)
    this.buf = buf
    this.#at = start
    this.#end = end
    this.#count = count
    this.index = -1
    return this
  }

  /** false after the last record; by then nothing may be left over. */
  next(): boolean {
    if (this.index + 1 >= this.#count) {
      if (this.#at !== this.#end) throw invalidRecord('Incorrect declared batch size, records still remaining')
      return false
    }
    this.index++
    const buf = this.buf
    this.recordStart = this.#at
    const bodyBytes = this.#varint(this.#end)
    const end = this.#at + bodyBytes
    if (bodyBytes < 0 || end > this.#end) throw invalidRecord(`Invalid record size: ${bodyBytes} bytes, ${this.#end - this.#at} are left`)
    if (bodyBytes === 0) throw invalidRecord('Found invalid record structure')
    this.#at++ // attributes: no bit is in use, and Kafka does not look
    this.timestampDeltaMs = this.#varlong(end)
    this.offsetDelta = this.#varint(end)

    const keyBytes = this.#varint(end)
    if (keyBytes < 0) {
      if (keyBytes < -1) throw invalidRecord(`Found invalid key size ${keyBytes}`)
      this.keyStart = this.keyEnd = -1
    } else {
      this.keyStart = this.#at
      this.keyEnd = this.#skip(keyBytes, end)
    }
    const valueBytes = this.#varint(end)
    if (valueBytes < 0) {
      if (valueBytes < -1) throw invalidRecord(`Found invalid value size ${valueBytes}`)
      this.valueStart = this.valueEnd = -1
    } else {
      this.valueStart = this.#at
      this.valueEnd = this.#skip(valueBytes, end)
    }

    this.headersWireStart = this.#at
    const headerCount = this.#at < end && buf[this.#at] === 0 ? (this.#at++, 0) : this.#varint(end)
    if (headerCount < 0 || headerCount > end - this.#at) throw invalidRecord(`Found invalid number of record headers ${headerCount}`)
    this.headerCount = headerCount
    this.headersStart = this.#at
    for (let i = 0; i < headerCount; i++) {
      const nameBytes = this.#varint(end)
      if (nameBytes < 0) throw invalidRecord(`Invalid negative header key size ${nameBytes}`)
      this.#skip(nameBytes, end)
      const headerBytes = this.#varint(end)
      if (headerBytes < -1) throw invalidRecord(`Found invalid header value size ${headerBytes}`)
      if (headerBytes > 0) this.#skip(headerBytes, end)
    }
    this.headersEnd = this.#at
    if (this.#at !== end)
      throw invalidRecord(`Invalid record size: ${bodyBytes} bytes are declared, ${this.#at - end + bodyBytes} were read`)
    this.recordEnd = end
    return true
  }

  #skip(bytes: number, end: number): number {
    if (bytes > end - this.#at) throw invalidRecord('Found invalid record structure')
    return (this.#at += bytes)
  }

  /** Zigzag varint of at most 5 bytes, as an int32. */
  #varint(end: number): number {
    const buf = this.buf
    if (this.#at >= end) throw invalidRecord('Found invalid record structure')
    let byte = buf[this.#at++]
    if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1)
    let raw = byte & 0x7f
    for (let shift = 7; shift < 35; shift += 7) {
      if (this.#at >= end) throw invalidRecord('Found invalid record structure')
      byte = buf[this.#at++]
      raw |= (byte & 0x7f) << shift
      if (byte < 0x80) return (raw >>> 1) ^ -(raw & 1)
    }
    throw invalidRecord('Varint is too long')
  }

  /** Zigzag varint of at most 10 bytes; exact within ±2^53. */
  #varlong(end: number): number {
    const buf = this.buf
    let low = 0 // bits 0..27
    let middle = 0 // bits 28..55
    let high = 0 // bits 56..69
    for (let i = 0; i < 10; i++) {
      if (this.#at >= end) throw invalidRecord('Found invalid record structure')
      const byte = buf[this.#at++]
      const bits = byte & 0x7f
      if (i < 4) low |= bits << (7 * i)
      else if (i < 8) middle |= bits << (7 * (i - 4))
      else high |= bits << (7 * (i - 8))
      if (byte < 0x80) {
        if (i < 4) return (low >>> 1) ^ -(low & 1)
        const half = (low >>> 1) + middle * 0x8000000 + (high & 0xff) * 0x80000000000000
        return (low & 1) === 0 ? half : -half - 1
      }
    }
    throw invalidRecord('Varlong is too long')
  }
}

const EMPTY = new Uint8Array(0)

/** Called once a record, with the one cursor of the walk; its fields are overwritten by the next record. */
export type RecordVisitor = (record: RecordCursor) => void

/** Walks the `count` records of a decompressed payload. Errors: RecordsError, INVALID_RECORD. */
export function walkRecords(payload: Uint8Array, count: number, visitor: RecordVisitor): void {
  const cursor = new RecordCursor().reset(payload, 0, payload.length, count)
  while (cursor.next()) visitor(cursor)
}

/** A header of a record as offsets into the buffer; `valueStart` -1 is a null value. */
export type HeaderVisitor = (nameStart: number, nameEnd: number, valueStart: number, valueEnd: number) => void

/** Visits `headerCount` headers from `start` on. The cursor has checked them, so they are trusted here. */
export function walkHeaders(buf: Uint8Array, start: number, headerCount: number, visitor: HeaderVisitor): void {
  let at = start
  const varint = (): number => {
    let raw = 0
    for (let shift = 0; ; shift += 7) {
      const byte = buf[at++]
      raw |= (byte & 0x7f) << shift
      if (byte < 0x80 || shift === 28) return (raw >>> 1) ^ -(raw & 1)
    }
  }
  for (let i = 0; i < headerCount; i++) {
    const nameBytes = varint()
    const nameStart = at
    at += nameBytes
    const valueBytes = varint()
    if (valueBytes < 0) {
      visitor(nameStart, nameStart + nameBytes, -1, -1)
      continue
    }
    visitor(nameStart, nameStart + nameBytes, at, at + valueBytes)
    at += valueBytes
  }
}
