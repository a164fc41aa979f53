/**
 * Big-endian integers in plain byte arrays. Written out by hand: a Buffer is not guaranteed (slices that come from a
 * worker are Uint8Array), and these inline where DataView and BigInt do not. An int64 is a JS number: exact within
 * ±2^53, the nearest double beyond.
 */

const TWO_32 = 4294967296

export function getInt16(buf: Uint8Array, at: number): number {
  return ((buf[at] << 24) >> 16) | buf[at + 1]
}

export function getInt32(buf: Uint8Array, at: number): number {
  return (buf[at] << 24) | (buf[at + 1] << 16) | (buf[at + 2] << 8) | buf[at + 3]
}

export function getInt64(buf: Uint8Array, at: number): number {
  return getInt32(buf, at) * TWO_32 + (getInt32(buf, at + 4) >>> 0)
}

export function setInt16(buf: Uint8Array, at: number, value: number): void {
  buf[at] = value >> 8
  buf[at + 1] = value
}

export function setInt32(buf: Uint8Array, at: number, value: number): void {
  buf[at] = value >> 24
  buf[at + 1] = value >> 16
  buf[at + 2] = value >> 8
  buf[at + 3] = value
}

/** `value` must be an integer within int64; `Math.floor` keeps the two halves right for negatives. */
export function setInt64(buf: Uint8Array, at: number, value: number): void {
  const high = Math.floor(value / TWO_32)
  setInt32(buf, at, high)
  setInt32(buf, at + 4, value - high * TWO_32)
}
