import { corrupt } from './thrift.ts'

/** Values a block, and mini-blocks in it, as parquet-java writes them. */
const BLOCK = 128
const MINI_BLOCKS = 4
const MINI = BLOCK / MINI_BLOCKS
const TWO_32 = 4294967296
const EXACT = Number.MAX_SAFE_INTEGER / 4

/** Bytes that `encodeDelta` may need for `count` values. */
export function deltaRoom(count: number): number {
  return 64 + Math.ceil((count + BLOCK) / BLOCK) * (10 + MINI_BLOCKS + BLOCK * 8)
}

const deltas = new Float64Array(BLOCK)

/**
 * Appends `count` integers, each times `scale`, to `out` as DELTA_BINARY_PACKED (encoding 5) and returns the new end.
 * Values are exact within ±2^53; products may go to the ends of int64.
 */
export function encodeDelta(values: Float64Array | Int32Array, count: number, scale: number, out: Uint8Array, at: number): number {
  let min = count === 0 ? 0 : values[0]
  let max = min
  for (let i = 1; i < count; i++) {
    const value = values[i]
    if (value < min) min = value
    else if (value > max) max = value
  }
  if (Math.max(-min, max) * scale > EXACT) return encodeDeltaWide(values, count, scale, out, at)
  at = writeVarint(out, at, BLOCK)
  at = writeVarint(out, at, MINI_BLOCKS)
  at = writeVarint(out, at, count)
  at = writeZigzag(out, at, count === 0 ? 0 : values[0] * scale)
  for (let start = 1; start < count; start += BLOCK) {
    const block = Math.min(BLOCK, count - start)
    let least = Infinity
    for (let i = 0; i < block; i++) {
      const delta = (values[start + i] - values[start + i - 1]) * scale
      deltas[i] = delta
      if (delta < least) least = delta
    }
    at = writeZigzag(out, at, least)
    let widthAt = at
    at += MINI_BLOCKS
    for (let from = 0; from < BLOCK; from += MINI) {
      let most = 0
      const to = Math.min(block, from + MINI)
      for (let i = from; i < to; i++) {
        const over = (deltas[i] -= least)
        if (over > most) most = over
      }
      const width = most < TWO_32 ? 32 - Math.clz32(most) : 64 - Math.clz32(Math.floor(most / TWO_32))
      out[widthAt++] = width
      if (width > 0) at = packMini(from, to, width, out, at)
    }
  }
  return at
}

/** Bit-packs one mini-block of `deltas`, least significant bit first; values beyond `to` are zero. */
function packMini(from: number, to: number, width: number, out: Uint8Array, at: number): number {
  let bits = 0
  let held = 0
  for (let i = from; i < from + MINI; i++) {
    const value = i < to ? deltas[i] : 0
    const high = width > 32 ? Math.floor(value / TWO_32) : 0
    const low = (value - high * TWO_32) | 0
    // At most 16 bits are added at a time, so that the 7 that may be held fit beside them.
    for (let shift = 0; shift < width; shift += 16) {
      const part = shift < 32 ? low >>> shift : high >>> (shift - 32)
      const partWidth = Math.min(16, width - shift)
      bits |= (part & 0xffff) << held
      held += partWidth
      while (held >= 8) {
        out[at++] = bits
        bits >>>= 8
        held -= 8
      }
    }
  }
  return at
}

/** The same for values outside the doubles' exact range: arithmetic modulo 2^64, as the format defines it. */
function encodeDeltaWide(values: Float64Array | Int32Array, count: number, scale: number, out: Uint8Array, at: number): number {
  const wide = (i: number): bigint => BigInt(values[i]) * BigInt(scale)
  at = writeVarint(out, at, BLOCK)
  at = writeVarint(out, at, MINI_BLOCKS)
  at = writeVarint(out, at, count)
  at = writeZigzagWide(out, at, wide(0))
  for (let start = 1; start < count; start += BLOCK) {
    const block: bigint[] = []
    for (let i = start; i < Math.min(count, start + BLOCK); i++) block.push(BigInt.asIntN(64, wide(i) - wide(i - 1)))
    const least = block.reduce((a, b) => (b < a ? b : a))
    at = writeZigzagWide(out, at, least)
    let widthAt = at
    at += MINI_BLOCKS
    for (let from = 0; from < BLOCK; from += MINI) {
      const mini = block.slice(from, from + MINI).map((delta) => BigInt.asUintN(64, delta - least))
      const width = mini.reduce((a, b) => Math.max(a, b.toString(2).length), 1)
      const used = mini.some((value) => value !== 0n) ? width : 0
      out[widthAt++] = used
      let bits = 0n
      mini.forEach((value, i) => (bits |= value << BigInt(i * used)))
      for (let b = 0; b < (used * MINI) / 8; b++) out[at++] = Number((bits >> BigInt(b * 8)) & 255n)
    }
  }
  return at
}

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

function writeVarint(out: Uint8Array, at: number, value: number): number {
  let rest = value
  while (rest > 127) {
    out[at++] = (rest % 128) | 128
    rest = Math.floor(rest / 128)
  }
  out[at++] = rest
  return at
}

function writeZigzag(out: Uint8Array, at: number, value: number): number {
  return writeVarint(out, at, value < 0 ? -value * 2 - 1 : value * 2)
}

function writeZigzagWide(out: Uint8Array, at: number, value: bigint): number {
  let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n))
  while (rest > 127n) {
    out[at++] = Number(rest & 127n) | 128
    rest >>= 7n
  }
  out[at++] = Number(rest)
  return at
}
