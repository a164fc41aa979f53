import { setInt16, setInt32, setInt64 } from './bytes.ts'
import { compressPayload } from './codecs.ts'
import { BATCH_HEADER_BYTES, BATCH_PREFIX_BYTES, CODEC_NONE, batchCrc } from './header.ts'

const INITIAL_BYTES = 64 * 1024
const DELTA_MAX = 0x7fffffff
/** Below this, a loop beats the call into TypedArray.set. */
const LOOP_COPY_BYTES = 24
/** The most that the length, attributes and the five varints of a record take. */
const RECORD_OVERHEAD_BYTES = 5 + 1 + 10 + 5 + 5 + 5 + 5

/**
 * Writes record batches of magic 2 from columns, straight into one growing buffer: no object and no intermediate copy
 * per record. Batches carry no producer id (L17). One builder serves one batch after another.
 *
 * ```
 * if (!builder.accepts(offset, timestampMs)) batches.push(builder.finish())
 * builder.append(offset, timestampMs, key, 0, key.length, value, from, to, headers, from, to)
 * ```
 */
export class BatchBuilder {
  readonly #timestampType: 0 | 1
  readonly #codec: number
  readonly #slabBytes: number
  #buf: Uint8Array
  /** Where the open batch begins in the buffer. */
  #start = 0
  #at = BATCH_HEADER_BYTES
  #count = 0
  #baseOffset = 0
  #lastOffset = 0
  #baseTimestampMs = 0
  #maxTimestampMs = -1

  /**
   * `timestampType` 1: every record of a batch has the same append time. `codec`: CODEC_NONE (default) or CODEC_ZSTD.
   * With `slabBytes` uncompressed batches are written side by side into buffers of that size and stay there: no copy when
   * one is finished, but it shares its memory with others.
   */
  constructor(
    options: { readonly timestampType?: 0 | 1; readonly codec?: number; readonly initialBytes?: number; readonly slabBytes?: number } = {},
  ) {
    this.#timestampType = options.timestampType ?? 0
    this.#codec = options.codec ?? CODEC_NONE
    this.#slabBytes = this.#codec === CODEC_NONE ? (options.slabBytes ?? 0) : 0
    const initialBytes =
      this.#slabBytes > 0 ? 0 : Math.max(options.initialBytes ?? INITIAL_BYTES, BATCH_HEADER_BYTES + RECORD_OVERHEAD_BYTES)
    this.#buf = new Uint8Array(initialBytes)
  }

  /** Records in the open batch. */
  get count(): number {
    return this.#count
  }

  /** Bytes of the open batch so far, uncompressed, header included. */
  get sizeBytes(): number {
    return this.#at - this.#start
  }

  /** Offset of the last record; of no meaning while `count` is 0. */
  get lastOffset(): number {
    return this.#lastOffset
  }

  /** False when the record must begin a new batch: its offset is too far, or its append time is another one. */
  accepts(offset: number, timestampMs: number): boolean {
    if (this.#count === 0) return true
    return offset - this.#baseOffset <= DELTA_MAX && (this.#timestampType === 0 || timestampMs === this.#maxTimestampMs)
  }

  /**
   * Appends a record that `accepts` took; offsets rise, holes are kept. `key` or `value` null is a null; else the bytes
   * [start, end) of it. `headers` [start, end) is the wire form: count varint, then each header; null means none.
   */
  append(
    offset: number,
    timestampMs: number,
    key: Uint8Array | null,
    keyStart: number,
    keyEnd: number,
    value: Uint8Array | null,
    valueStart: number,
    valueEnd: number,
    headers: Uint8Array | null = null,
    headersStart = 0,
    headersEnd = 0,
  ): void {
    if (this.#count === 0) {
      this.#baseOffset = offset
      this.#baseTimestampMs = timestampMs
      this.#maxTimestampMs = timestampMs
    } else if (timestampMs > this.#maxTimestampMs) this.#maxTimestampMs = timestampMs
    this.#lastOffset = offset
    this.#count++

    const keyBytes = key === null ? -1 : keyEnd - keyStart
    const valueBytes = value === null ? -1 : valueEnd - valueStart
    const headersBytes = headers === null ? 1 : headersEnd - headersStart
    const offsetDelta = offset - this.#baseOffset
    const timestampDelta = timestampMs - this.#baseTimestampMs
    const bodyBytes =
      1 +
      varlongBytes(timestampDelta) +
      varintBytes(offsetDelta) +
      varintBytes(keyBytes) +
      (keyBytes > 0 ? keyBytes : 0) +
      varintBytes(valueBytes) +
      (valueBytes > 0 ? valueBytes : 0) +
      headersBytes
    const needBytes = bodyBytes + 5
    if (this.#at + needBytes > this.#buf.length) this.#grow(this.#at + needBytes)

    const buf = this.#buf
    let at = putVarint(buf, this.#at, bodyBytes)
    buf[at++] = 0
    at = putVarlong(buf, at, timestampDelta)
    at = putVarint(buf, at, offsetDelta)
    at = putVarint(buf, at, keyBytes)
    if (keyBytes > 0) at = copy(buf, at, key!, keyStart, keyEnd)
    at = putVarint(buf, at, valueBytes)
    if (valueBytes > 0) at = copy(buf, at, value!, valueStart, valueEnd)
    if (headers === null) buf[at++] = 0
    else at = copy(buf, at, headers, headersStart, headersEnd)
    this.#at = at
  }

  /**
   * The finished batch, in memory of its own unless the builder has slabs; the builder is empty afterwards. Needs at least
   * one record. `lastOffset` may lie past the last record, over a hole that the batch is to cover (L18).
   */
  finish(options: { readonly leaderEpoch?: number; readonly lastOffset?: number } = {}): Uint8Array {
    let batch: Uint8Array
    if (this.#slabBytes > 0) batch = this.#buf.subarray(this.#start, this.#at)
    else if (this.#codec === CODEC_NONE) batch = this.#buf.slice(0, this.#at)
    else {
      const payload = this.#buf.subarray(BATCH_HEADER_BYTES, this.#at)
      const packed = compressPayload(this.#codec, payload)
      batch = new Uint8Array(BATCH_HEADER_BYTES + packed.length)
      batch.set(packed, BATCH_HEADER_BYTES)
    }
    const attributes = this.#codec | (this.#timestampType << 3)
    const lastOffset = options.lastOffset ?? this.#lastOffset
    writeHeader(batch, {
      baseOffset: this.#baseOffset,
      leaderEpoch: options.leaderEpoch ?? 0,
      attributes,
      lastOffsetDelta: lastOffset - this.#baseOffset,
      baseTimestampMs: this.#baseTimestampMs,
      maxTimestampMs: this.#maxTimestampMs,
      count: this.#count,
    })
    if (this.#slabBytes > 0) this.#start = this.#at
    this.#at = this.#start + BATCH_HEADER_BYTES
    this.#count = 0
    return batch
  }

  #grow(needBytes: number): void {
    if (this.#slabBytes > 0) {
      // The open batch moves on to a slab of its own; every byte of a slab that is served was written.
      const sizeBytes = this.sizeBytes
      const room = needBytes - this.#start
      const slab = Buffer.allocUnsafeSlow(room <= this.#slabBytes ? this.#slabBytes : Math.max(room, 2 * sizeBytes))
      if (this.#count > 1) slab.set(this.#buf.subarray(this.#start, this.#at))
      this.#buf = slab
      this.#start = 0
      this.#at = sizeBytes
      return
    }
    const bigger = new Uint8Array(Math.max(needBytes, this.#buf.length * 2))
    bigger.set(this.#buf.subarray(0, this.#at))
    this.#buf = bigger
  }
}

/** A batch without records over [baseOffset, lastOffset]: it lets a client's position pass a hole at the end (L18). */
export function emptyBatch(baseOffset: number, lastOffset: number, leaderEpoch: number): Uint8Array {
  const batch = new Uint8Array(BATCH_HEADER_BYTES)
  const lastOffsetDelta = lastOffset - baseOffset
  writeHeader(batch, { baseOffset, leaderEpoch, attributes: 0, lastOffsetDelta, baseTimestampMs: -1, maxTimestampMs: -1, count: 0 })
  return batch
}

function writeHeader(
  batch: Uint8Array,
  header: {
    readonly baseOffset: number
    readonly leaderEpoch: number
    readonly attributes: number
    readonly lastOffsetDelta: number
    readonly baseTimestampMs: number
    readonly maxTimestampMs: number
    readonly count: number
  },
): void {
  setInt64(batch, 0, header.baseOffset)
  setInt32(batch, 8, batch.length - BATCH_PREFIX_BYTES)
  setInt32(batch, 12, header.leaderEpoch)
  batch[16] = 2
  setInt16(batch, 21, header.attributes)
  setInt32(batch, 23, header.lastOffsetDelta)
  setInt64(batch, 27, header.baseTimestampMs)
  setInt64(batch, 35, header.maxTimestampMs)
  setInt64(batch, 43, -1)
  setInt16(batch, 51, -1)
  setInt32(batch, 53, -1)
  setInt32(batch, 57, header.count)
  setInt32(batch, 17, batchCrc(batch))
}

function copy(to: Uint8Array, at: number, from: Uint8Array, start: number, end: number): number {
  const bytes = end - start
  if (bytes <= LOOP_COPY_BYTES) for (let i = 0; i < bytes; i++) to[at + i] = from[start + i]
  else to.set(from.subarray(start, end), at)
  return at + bytes
}

/** Size of the zigzag varint of an int32. */
function varintBytes(value: number): number {
  const raw = ((value << 1) ^ (value >> 31)) >>> 0
  return raw < 0x80 ? 1 : raw < 0x4000 ? 2 : raw < 0x200000 ? 3 : raw < 0x10000000 ? 4 : 5
}

function putVarint(buf: Uint8Array, at: number, value: number): number {
  let raw = ((value << 1) ^ (value >> 31)) >>> 0
  while (raw > 0x7f) {
    buf[at++] = (raw & 0x7f) | 0x80
    raw >>>= 7
  }
  buf[at++] = raw
  return at
}

const isInt32 = (value: number): boolean => (value | 0) === value

function varlongBytes(value: number): number {
  if (isInt32(value)) return varintBytes(value)
  let raw = value >= 0 ? value * 2 : -value * 2 - 1
  let bytes = 1
  while (raw >= 0x80) {
    raw = Math.floor(raw / 0x80)
    bytes++
  }
  return bytes
}

/** Zigzag varint of an int64 within ±2^52, so that the doubled value is exact. */
function putVarlong(buf: Uint8Array, at: number, value: number): number {
  if (isInt32(value)) return putVarint(buf, at, value)
  let raw = value >= 0 ? value * 2 : -value * 2 - 1
  while (raw >= 0x80) {
    buf[at++] = (raw % 0x80) | 0x80
    raw = Math.floor(raw / 0x80)
  }
  buf[at++] = raw
  return at
}
