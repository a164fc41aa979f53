import type { RowCrc } from '../row/crc.ts'
import type { RowSource } from './rowGroupReader.ts'
import { corrupt } from './thriftRead.ts'

/**
 * The headers of a row in wire form (count varint, then key and value of each with their lengths), from whichever column
 * has them: `bytes` null when there are none, else [start, end) of it, the first header at `firstAt`. Reused row by row.
 */
export class HeaderWire {
  bytes: Uint8Array | null = null
  start = 0
  firstAt = 0
  end = 0
  count = 0
  #scratch = Buffer.allocUnsafeSlow(4096)
  #at = 0

  /** Reads row i of the block, and feeds the checksum when one is given. Errors: CORRUPT. */
  read(source: RowSource, i: number, crc: RowCrc | null): void {
    const { headerKeys, headerValues, headersBytes } = source
    const count = headerKeys.counts[headerKeys.at + i]
    if (headerValues.counts[headerValues.at + i] !== count) throw corrupt('header keys and values differ in number')
    if (count > 0) return this.#fromList(source, i, count, crc)
    const wireStart = count < 0 ? headersBytes.starts[headersBytes.at + i] : -1
    if (wireStart < 0) {
      this.bytes = null
      this.count = 0
      crc?.count(0)
      return
    }
    this.bytes = headersBytes.bytes
    this.start = wireStart
    this.end = wireStart + headersBytes.lengths[headersBytes.at + i]
    this.#check(crc)
  }

  #fromList(source: RowSource, i: number, count: number, crc: RowCrc | null): void {
    const { headerKeys: keys, headerValues: values } = source
    const firstKey = keys.firsts[keys.at + i]
    const firstValue = values.firsts[values.at + i]
    crc?.count(count)
    this.count = count
    this.#at = 0
    this.#varint(count)
    this.firstAt = this.#at
    for (let h = 0; h < count; h++) {
      const keyStart = keys.starts[firstKey + h]
      const keyEnd = keyStart + keys.lengths[firstKey + h]
      if (keyStart < 0) throw corrupt('a header has no key')
      const valueStart = values.starts[firstValue + h]
      const valueEnd = valueStart < 0 ? -1 : valueStart + values.lengths[firstValue + h]
      crc?.blob(keys.bytes, keyStart, keyEnd)
      crc?.blob(values.bytes, valueStart, valueEnd)
      this.#varint(keyEnd - keyStart)
      this.#copy(keys.bytes, keyStart, keyEnd)
      if (valueStart < 0) this.#varint(-1)
      else {
        this.#varint(valueEnd - valueStart)
        this.#copy(values.bytes, valueStart, valueEnd)
      }
    }
    this.bytes = this.#scratch
    this.start = 0
    this.end = this.#at
  }

  /** Walks wire bytes within their bounds; they are stored bytes, so nothing in them is trusted. */
  #check(crc: RowCrc | null): void {
    const bytes = this.bytes!
    let at = this.start
    const varint = (): number => {
      let raw = 0
      for (let shift = 0; shift < 35; shift += 7) {
        if (at >= this.end) break
        const byte = bytes[at++]
        raw |= (byte & 127) << shift
        if (byte < 128) return (raw >>> 1) ^ -(raw & 1)
      }
      throw corrupt('kafka_headers_bytes ends too early')
    }
    const blob = (length: number): void => {
      if (length < -1 || length > this.end - at) throw corrupt('kafka_headers_bytes ends too early')
      if (length < 0) return crc?.blob(bytes, -1, -1)
      crc?.blob(bytes, at, at + length)
      at += length
    }
    const count = (this.count = varint())
    this.firstAt = at
    crc?.count(count)
    for (let h = 0; h < count; h++) {
      const keyBytes = varint()
      if (keyBytes < 0) throw corrupt('a header has no key')
      blob(keyBytes)
      blob(varint())
    }
    if (at !== this.end) throw corrupt('kafka_headers_bytes goes on after its headers')
  }

  #varint(value: number): void {
    this.#room(5)
    let raw = ((value << 1) ^ (value >> 31)) >>> 0
    while (raw > 127) {
      this.#scratch[this.#at++] = (raw & 127) | 128
      raw >>>= 7
    }
    this.#scratch[this.#at++] = raw
  }

  #copy(bytes: Uint8Array, start: number, end: number): void {
    this.#room(end - start)
    this.#scratch.set(bytes.subarray(start, end), this.#at)
    this.#at += end - start
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#scratch.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#at + bytes, this.#scratch.length * 2))
    this.#scratch.copy(larger, 0, 0, this.#at)
    this.#scratch = larger
  }
}
