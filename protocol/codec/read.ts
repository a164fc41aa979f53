import type { UnknownTag } from '../schema.ts'
import { ProtocolError } from '../protocolError.ts'

/** Kafka 4.4's own limits, checked before memory is taken, and one of ours over all array elements and unknown tagged fields of a message. */
export const MAX_ARRAY_ELEMENTS = 1_000_000
export const MAX_MESSAGE_ELEMENTS = 2_000_000
export const MAX_TAGGED_FIELDS = 10_000

export const ZERO_UUID = '00000000-0000-0000-0000-000000000000'
export const EMPTY = Buffer.alloc(0)

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** What generated decoders call. Reads that move the position leave it in `at`; generated code takes it from there. */
export class Reader {
  /** The position after the last read. */
  at = 0
  /** How many array elements and unknown tagged fields the current message may still have. */
  elementsLeft = MAX_MESSAGE_ELEMENTS
  readonly empty = EMPTY

  /** An unsigned varint of at most 5 bytes and 32 bits. */
  uvarint(b: Buffer, at: number, end: number, path: string): number {
    let value = 0
    for (let i = 0; i < 5; i++) {
      if (at >= end) this.short(path, 1, 0)
      const byte = b[at++]
      value += (byte & 0x7f) * 2 ** (7 * i)
      if (byte < 0x80) {
        if (value > 0xffffffff) break
        this.at = at
        return value
      }
    }
    throw new ProtocolError('malformed', `${path} has a varint over 32 bits`)
  }

  /** UTF-8 text; short ASCII without a call into native code. */
  text(b: Buffer, start: number, end: number): string {
    if (end - start > 16) return b.toString('utf8', start, end)
    let text = ''
    for (let i = start; i < end; i++) {
      const byte = b[i]
      if (byte >= 0x80) return b.toString('utf8', start, end)
      text += String.fromCharCode(byte)
    }
    return text
  }

  uuid(b: Buffer, p: number): string {
    const first = hex[b[p]] + hex[b[p + 1]] + hex[b[p + 2]] + hex[b[p + 3]]
    const middle = `-${hex[b[p + 4]]}${hex[b[p + 5]]}-${hex[b[p + 6]]}${hex[b[p + 7]]}-${hex[b[p + 8]]}${hex[b[p + 9]]}-`
    return first + middle + hex[b[p + 10]] + hex[b[p + 11]] + hex[b[p + 12]] + hex[b[p + 13]] + hex[b[p + 14]] + hex[b[p + 15]]
  }

  /** Checks an element count against the limits and against the bytes that remain. */
  count(count: number, minBytes: number, remaining: number, path: string): void {
    if (count > MAX_ARRAY_ELEMENTS) throw new ProtocolError('limit', `${path} has ${count} elements, over ${MAX_ARRAY_ELEMENTS}`)
    if (count * minBytes > remaining) this.short(path, count * minBytes, remaining)
    this.#spend(count, path)
  }

  #spend(elements: number, path: string): void {
    this.elementsLeft -= elements
    if (this.elementsLeft < 0) throw new ProtocolError('limit', `${path} takes the message over ${MAX_MESSAGE_ELEMENTS} elements`)
  }

  tagCount(count: number, path: string): void {
    if (count > MAX_TAGGED_FIELDS) throw new ProtocolError('limit', `${path} has ${count} tagged fields, over ${MAX_TAGGED_FIELDS}`)
  }

  /** A section of tagged fields none of which this version knows; undefined when it is empty, however long its count was written. */
  unknownTags(b: Buffer, at: number, end: number, path: string): UnknownTag[] | undefined {
    const count = this.uvarint(b, at, end, path)
    this.tagCount(count, path)
    const tags: UnknownTag[] = []
    for (let i = 0; i < count; i++) {
      const tag = this.uvarint(b, this.at, end, path)
      const size = this.uvarint(b, this.at, end, path)
      tags.push(this.unknownTag(b, this.at, end, tag, size, path))
      this.at += size
    }
    return count === 0 ? undefined : tags
  }

  unknownTag(b: Buffer, at: number, end: number, tag: number, size: number, path: string): UnknownTag {
    if (size > end - at) this.short(path, size, end - at)
    this.#spend(1, path)
    return { tag, data: b.subarray(at, at + size) }
  }

  /** The bytes of `path` are not all there. */
  short(path: string, needed: number, remaining: number): never {
    throw new ProtocolError('malformed', `${path} needs ${needed} bytes, ${remaining} remain`)
  }

  /** A null where this version allows none. */
  isNull(path: string): never {
    throw new ProtocolError('malformed', `${path} must not be null in this version`)
  }

  /** A tagged field whose value does not fill its stated size. */
  tagSize(path: string): never {
    throw new ProtocolError('malformed', `the value of tagged field ${path} does not end at its size`)
  }
}
