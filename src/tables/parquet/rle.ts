import { corrupt } from './thriftRead.ts'

/** Bits that `max` needs. */
export function bitWidthOf(max: number): number {
  return 32 - Math.clz32(max)
}

/**
 * Appends `count` values of `bitWidth` bits to `out` as the RLE / bit-packed hybrid (Parquet encodings, RLE = 3) and
 * returns the new end. `out` must have room: see `rleRoom`. Runs of eight or more become RLE runs, the rest is
 * bit-packed in groups of eight.
 */
export function encodeRle(values: Uint8Array | Uint16Array, count: number, bitWidth: number, out: Uint8Array, at: number): number {
  const byteWidth = (bitWidth + 7) >> 3
  let literalStart = 0
  let i = 0
  while (i < count) {
    const value = values[i]
    let run = i + 1
    while (run < count && values[run] === value) run++
    // A literal run holds whole groups of eight: what it lacks comes from the front of this run.
    const lacking = (8 - ((i - literalStart) & 7)) & 7
    if (run - i - lacking >= 8) {
      const runStart = i + lacking
      if (runStart > literalStart) at = packGroups(values, literalStart, runStart, bitWidth, out, at)
      at = writeVarint(out, at, (run - runStart) * 2)
      for (let b = 0; b < byteWidth; b++) out[at++] = value >> (8 * b)
      literalStart = run
    }
    i = run
  }
  return literalStart < count ? packGroups(values, literalStart, count, bitWidth, out, at) : at
}

/** Bytes that `encodeRle` may need for `count` values. */
export function rleRoom(count: number, bitWidth: number): number {
  return 16 + count + ((count + 8) * bitWidth) / 8 + ((count / 8) | 0) * 6
}

function packGroups(values: Uint8Array | Uint16Array, start: number, end: number, bitWidth: number, out: Uint8Array, at: number): number {
  const groups = (end - start + 7) >> 3
  at = writeVarint(out, at, groups * 2 + 1)
  let bits = 0
  let held = 0
  for (let i = start; i < start + groups * 8; i++) {
    if (i < end) bits |= values[i] << held
    held += bitWidth
    while (held >= 8) {
      out[at++] = bits
      bits >>>= 8
      held -= 8
    }
  }
  return at
}

/** Decodes `count` values from [at, end) into `into`; returns how many bytes were read. Errors: CORRUPT. */
export function decodeRle(
  buf: Uint8Array,
  at: number,
  end: number,
  bitWidth: number,
  into: Uint8Array | Uint16Array | Int32Array,
  count: number,
): number {
  const begin = at
  const byteWidth = (bitWidth + 7) >> 3
  const mask = bitWidth === 32 ? -1 : (1 << bitWidth) - 1
  let done = 0
  while (done < count) {
    let header = 0
    for (let shift = 0; ; shift += 7) {
      if (at >= end || shift > 28) throw corrupt('an RLE run ends too early')
      const byte = buf[at++]
      header |= (byte & 127) << shift
      if (byte < 128) break
    }
    header >>>= 0
    if (header % 2 === 0) {
      const run = Math.min(header / 2, count - done)
      if (run === 0 || byteWidth > end - at) throw corrupt('an RLE run is empty or ends too early')
      let value = 0
      for (let b = 0; b < byteWidth; b++) value |= buf[at++] << (8 * b)
      into.fill(value, done, done + run)
      done += run
      continue
    }
    const packed = Math.min((header >>> 1) * 8, count - done)
    if (packed === 0 || Math.ceil((packed * bitWidth) / 8) > end - at) throw corrupt('a bit-packed run is empty or ends too early')
    const next = Math.min(end, at + (header >>> 1) * bitWidth)
    unpack(buf, at, bitWidth, mask, into, done, packed)
    at = next
    done += packed
  }
  return at - begin
}

function unpack(
  buf: Uint8Array,
  at: number,
  bitWidth: number,
  mask: number,
  into: Uint8Array | Uint16Array | Int32Array,
  from: number,
  count: number,
): void {
  if (bitWidth === 0) return void into.fill(0, from, from + count)
  if (bitWidth > 24) throw corrupt(`${bitWidth} bits a dictionary index are more than a row group can have`)
  let bits = 0
  let held = 0
  for (let i = from; i < from + count; i++) {
    while (held < bitWidth) {
      bits |= buf[at++] << held
      held += 8
    }
    into[i] = bits & mask
    bits >>>= bitWidth
    held -= bitWidth
  }
}

function writeVarint(out: Uint8Array, at: number, value: number): number {
  let rest = value
  while (rest > 127) {
    out[at++] = (rest & 127) | 128
    rest >>>= 7
  }
  out[at++] = rest
  return at
}
