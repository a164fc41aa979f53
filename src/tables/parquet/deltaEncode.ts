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
