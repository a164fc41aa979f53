import type { UnknownTag } from '../schema.ts'
import { ProtocolError } from '../protocolError.ts'

/** Encoded bytes: chunks in order, of which record slices are the caller's own memory, and their total size. */
export interface Encoded {
  chunks: Uint8Array[]
  sizeBytes: number
}

const SLAB_BYTES = 64 * 1024

const HYPHEN = 0x2d

/** The value of a hex digit by its character code, negative for what is none. */
const HEX = Int32Array.from({ length: 256 }, (_, code) => {
  const digit = String.fromCharCode(code)
  return /[0-9a-fA-F]/.test(digit) ? Number.parseInt(digit, 16) : -0x10000
})

/** A record slice below this is copied into the chunk before it: cheaper than one more buffer for the socket. */
export const COPY_BELOW_BYTES = 1024

/**
 * What generated encoders write into. Small messages share a slab and are handed out as views of it; a slab is never written again once
 * handed out, so results stay valid for as long as they are held.
 */
export class Writer {
  buf = Buffer.allocUnsafeSlow(SLAB_BYTES)
  /** Where the next byte goes. */
  at = 0
  /** Where the current chunk starts in `buf`. */
  start = 0
  /** The halves of the last int64 that took the slow way. */
  hi = 0
  lo = 0
  #chunks: Uint8Array[] = []
  #closedBytes = 0

  begin(): void {
    // the buffer of a big message goes with it: what follows must not keep it alive
    if (this.buf.length > SLAB_BYTES) {
      this.buf = Buffer.allocUnsafeSlow(SLAB_BYTES)
      this.at = 0
    }
    this.start = this.at
    this.#chunks = []
    this.#closedBytes = 0
  }

  finish(): Encoded {
    const sizeBytes = this.#closedBytes + this.at - this.start
    if (this.at > this.start) this.#chunks.push(this.buf.subarray(this.start, this.at))
    return { chunks: this.#chunks, sizeBytes }
  }

  /** Gives back the memory of a message that could not be encoded. */
  abandon(): void {
    this.at = this.start
    this.#chunks = []
  }

  /** Makes room for `bytes` after `at` in a new buffer; the current chunk moves to its start. */
  grow(bytes: number): void {
    const used = this.at - this.start
    const next = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, (used + bytes) * 2))
    this.buf.copy(next, 0, this.start, this.at)
    this.buf = next
    this.start = 0
    this.at = used
  }

  /** Writes record slices after their length prefix was written: big ones in place, small ones by copy. */
  slices(slices: Uint8Array | readonly Uint8Array[]): void {
    if (slices instanceof Uint8Array) this.#slice(slices)
    else for (const slice of slices) this.#slice(slice)
  }

  #slice(slice: Uint8Array): void {
    if (slice.length < COPY_BELOW_BYTES) return this.copy(slice)
    if (this.at > this.start) this.#chunks.push(this.buf.subarray(this.start, this.at))
    this.#closedBytes += this.at - this.start + slice.length
    this.#chunks.push(slice)
    this.start = this.at
  }

  copy(bytes: Uint8Array): void {
    if (this.at + bytes.length > this.buf.length) this.grow(bytes.length)
    this.buf.set(bytes, this.at)
    this.at += bytes.length
  }

  /** Ends a message that began with four free bytes, which take the size of the rest. */
  finishFrame(): Encoded {
    const encoded = this.finish()
    if (encoded.sizeBytes - 4 > 0x7fffffff) throw new ProtocolError('limit', `a frame of ${encoded.sizeBytes} bytes is over 2 GiB`)
    Buffer.from(encoded.chunks[0].buffer, encoded.chunks[0].byteOffset, 4).writeInt32BE(encoded.sizeBytes - 4)
    return encoded
  }

  /** A string with an int16 length; room for 2 + 3 × length bytes is there. Returns the position after it. */
  text(b: Buffer, p: number, value: string, path: string): number {
    const size = putUtf8(b, p + 2, value)
    if (size > 0x7fff) throw new ProtocolError('limit', `${path} has ${size} bytes, over 32767`)
    b[p] = size >> 8
    b[p + 1] = size
    return p + 2 + size
  }

  /** A string with a varint length; room for 5 + 3 × length bytes is there. Returns the position after it. */
  compactText(b: Buffer, p: number, value: string, path: string): number {
    if (value.length <= 42) {
      const size = putUtf8(b, p + 1, value)
      b[p] = size + 1
      return p + 1 + size
    }
    const size = Buffer.byteLength(value)
    if (size > 0x7fff) throw new ProtocolError('limit', `${path} has ${size} bytes, over 32767`)
    const start = this.uvarint(b, p, size + 1)
    return start + b.write(value, start)
  }

  /** An unsigned varint; room is there. Returns the position after it. */
  uvarint(b: Buffer, p: number, value: number): number {
    while (value > 127) {
      b[p++] = (value & 0x7f) | 0x80
      value >>>= 7
    }
    b[p++] = value
    return p
  }

  /** 16 raw bytes of a canonical uuid; room is there. */
  uuid(b: Buffer, p: number, value: string, path: string): void {
    let bad = typeof value === 'string' && value.length === 36 ? 0 : -1
    for (let i = 0; bad === 0 && i < 36; i++) {
      if (i === 8 || i === 13 || i === 18 || i === 23) {
        bad |= value.charCodeAt(i) ^ HYPHEN
      } else {
        const digits = (HEX[value.charCodeAt(i) & 0xff] << 4) | HEX[value.charCodeAt(++i) & 0xff]
        bad |= (digits & ~0xff) | ((value.charCodeAt(i - 1) | value.charCodeAt(i)) & ~0xff)
        b[p++] = digits
      }
    }
    if (bad !== 0) this.notA('uuid', path, value)
  }

  /** Splits an int64 into `hi` and `lo`: the default for undefined, saturated at the range; an error for what is no integer. */
  int64(value: number | undefined, fallback: number, path: string): void {
    const int = value === undefined ? fallback : value
    if (!Number.isInteger(int)) this.notA('integer', path, int)
    const over = int >= 2 ** 63
    const under = int < -(2 ** 63)
    this.hi = over ? 0x7fffffff : under ? -0x80000000 : Math.floor(int / 2 ** 32)
    this.lo = over ? -1 : under ? 0 : int | 0
  }

  /** The default for undefined; an error for a value outside its type. Called once a quick check has failed. */
  number(value: number | undefined, fallback: number, min: number, max: number, path: string): number {
    const int = value === undefined ? fallback : value
    if (!(Number.isInteger(int) && int >= min && int <= max)) this.notA(`integer from ${min} to ${max}`, path, int)
    return int
  }

  length(length: number, path: string): void {
    if (!(length <= 0x7fffffff)) throw new ProtocolError('limit', `${path} has a length of ${length}`)
  }

  /** The bytes that record slices hold. */
  slicesBytes(slices: Uint8Array | readonly Uint8Array[]): number {
    if (slices instanceof Uint8Array) return slices.length
    let total = 0
    for (const slice of slices) total += slice.length
    return total
  }

  /** Ends a tagged field whose one-byte size was left free `mark` bytes into the chunk; makes the size wider where needed. */
  endTagged(mark: number): void {
    const size = this.at - this.start - mark - 1
    let extra = 0
    for (let rest = size >>> 7; rest > 0; rest >>>= 7) extra++
    if (extra > 0) {
      if (this.at + extra > this.buf.length) this.grow(extra)
      const content = this.start + mark + 1
      this.buf.copyWithin(content + extra, content, this.at)
      this.at += extra
    }
    this.uvarint(this.buf, this.start + mark, size)
  }

  /** Writes the unknown tagged fields from `tags[from]` on whose tag is below `below`; returns the index of the next one. */
  unknownTags(tags: readonly UnknownTag[], from: number, below: number): number {
    let i = from
    for (; i < tags.length && tags[i].tag < below; i++) {
      const { tag, data } = tags[i]
      if (this.at + 10 > this.buf.length) this.grow(10)
      this.at = this.uvarint(this.buf, this.uvarint(this.buf, this.at, tag), data.length)
      this.copy(data)
    }
    return i
  }

  isNull(path: string): never {
    throw new ProtocolError('malformed', `${path} must not be null in this version`)
  }

  notA(type: string, path: string, value: unknown): never {
    throw new ProtocolError('malformed', `${path} is no ${type}: ${String(value)}`)
  }

  /** A value other than the default in a field that this version cannot carry. */
  absent(path: string): never {
    throw new ProtocolError('unsupported', `${path} cannot be carried by this version`)
  }
}

/** Writes UTF-8 without a length; short ASCII without a call into native code. Returns its size. */
function putUtf8(b: Buffer, p: number, value: string): number {
  const length = value.length
  if (length > 24) return b.write(value, p)
  for (let i = 0; i < length; i++) {
    const unit = value.charCodeAt(i)
    if (unit >= 0x80) return b.write(value, p)
    b[p + i] = unit
  }
  return length
}
