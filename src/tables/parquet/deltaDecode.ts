import { corrupt } from './thriftRead.ts'

/** Beyond this, sums of doubles may not be exact. */
const EXACT = Number.MAX_SAFE_INTEGER / 4

/** Where a decoder stopped. */
export interface DeltaEnd {
  at: number
}

/**
 * Decodes DELTA_BINARY_PACKED integers of [at, end) into `into` (which must hold `count`), each divided by `scale`.
 * `state.at` is the first byte after them. Errors: CORRUPT, also when the header's count is not `count`.
 */
export function decodeDelta(
  buf: Uint8Array,
  state: DeltaEnd,
  end: number,
  into: Float64Array | Int32Array,
  count: number,
  scale: number,
): void {
  const start = state.at
  const reader = new VarintReader(buf, start, end)
  const block = reader.unsigned()
  const minis = reader.unsigned()
  const total = reader.unsigned()
  const mini = block / minis
  if (total !== count) throw corrupt(`a delta page has ${total} values where ${count} are expected`)
  if (block === 0 || block % 128 !== 0 || minis === 0 || mini % 32 !== 0 || block > 1 << 20)
    throw corrupt('a delta page has an impossible block size')
  let value = reader.zigzag()
  if (count > 0) into[0] = value / scale
  let exact = Math.abs(value) <= EXACT
  let done = 1
  const widths = new Uint8Array(minis)
  while (done < count && exact) {
    const least = reader.zigzag()
    exact &&= Math.abs(least) <= EXACT
    if (minis > end - reader.at) throw corrupt('a delta page ends too early')
    widths.set(buf.subarray(reader.at, reader.at + minis))
    reader.at += minis
    for (let m = 0; m < minis && done < count && exact; m++) {
      const width = widths[m]
      const take = Math.min(mini, count - done)
      if (width > 64) throw corrupt('a delta page has an impossible bit width')
      if ((mini / 8) * width > end - reader.at) throw corrupt('a delta page ends too early')
      if (width === 0) {
        for (let i = 0; i < take; i++) into[done++] = (value += least) / scale
      } else if (width <= 24) {
        let bits = 0
        let held = 0
        let at = reader.at
        const mask = (1 << width) - 1
        for (let i = 0; i < take; i++) {
          while (held < width) {
            bits |= buf[at++] << held
            held += 8
          }
          value += least + (bits & mask)
          into[done++] = value / scale
          bits >>>= width
          held -= width
        }
      } else {
        for (let i = 0; i < take; i++) {
          value += least + bitsAt(buf, reader.at, i * width, width)
          into[done++] = value / scale
          if (Math.abs(value) > EXACT) exact = false
        }
      }
      if (Math.abs(value) > EXACT) exact = false
      reader.at += (mini / 8) * width
    }
  }
  state.at = reader.at
  if (!exact) decodeDeltaWide(buf, state, start, end, into, count, scale)
}

/** `width` bits from bit `from` on, as a number; exact to 53 bits, which is all that the caller keeps. */
function bitsAt(buf: Uint8Array, at: number, from: number, width: number): number {
  let value = 0
  let scale = 1
  let got = 0
  while (got < width) {
    const bit = from + got
    const take = Math.min(8 - (bit & 7), width - got)
    value += ((buf[at + (bit >> 3)] >> (bit & 7)) & ((1 << take) - 1)) * scale
    scale *= 1 << take
    got += take
  }
  return value
}

function decodeDeltaWide(
  buf: Uint8Array,
  state: DeltaEnd,
  start: number,
  end: number,
  into: Float64Array | Int32Array,
  count: number,
  scale: number,
): void {
  const reader = new VarintReader(buf, start, end)
  const block = reader.unsigned()
  const minis = reader.unsigned()
  reader.unsigned()
  const mini = block / minis
  const divisor = BigInt(scale)
  let value = reader.zigzagWide()
  into[0] = Number(value / divisor)
  let done = 1
  while (done < count) {
    const least = reader.zigzagWide()
    const widthsAt = reader.at
    reader.at += minis
    if (reader.at > end) throw corrupt('a delta page ends too early')
    for (let m = 0; m < minis && done < count; m++) {
      const width = buf[widthsAt + m]
      if (width > 64 || (mini / 8) * width > end - reader.at) throw corrupt('a delta page ends too early')
      for (let i = 0; i < mini && done < count; i++) {
        let delta = 0n
        for (let b = 0; b < width; b++) {
          const bit = i * width + b
          delta |= BigInt((buf[reader.at + (bit >> 3)] >> (bit & 7)) & 1) << BigInt(b)
        }
        value = BigInt.asIntN(64, value + least + delta)
        into[done++] = Number(value / divisor)
      }
      reader.at += (mini / 8) * width
    }
  }
  state.at = reader.at
}

class VarintReader {
  at: number
  readonly #buf: Uint8Array
  readonly #end: number
  constructor(buf: Uint8Array, at: number, end: number) {
    this.#buf = buf
    this.at = at
    this.#end = end
  }

  unsigned(): number {
    const value = this.#wide()
    if (value > 0x7fffffffn) throw corrupt('a count in a delta page is too large')
    return Number(value)
  }

  /** The nearest double of an int64. */
  zigzag(): number {
    return Number(this.zigzagWide())
  }

  zigzagWide(): bigint {
    const raw = this.#wide()
    return (raw >> 1n) ^ -(raw & 1n)
  }

  #wide(): bigint {
    let low = 0
    let i = 0
    for (; i < 7; i++) {
      const byte = this.#next()
      low += (byte & 127) * 2 ** (7 * i)
      if (byte < 128) return BigInt(low)
    }
    let value = BigInt(low)
    for (; i < 10; i++) {
      const byte = this.#next()
      value |= BigInt(byte & 127) << BigInt(7 * i)
      if (byte < 128) return BigInt.asUintN(64, value)
    }
    throw corrupt('a varint in a delta page is too long')
  }

  #next(): number {
    if (this.at >= this.#end) throw corrupt('a delta page ends too early')
    return this.#buf[this.at++]
  }
}
