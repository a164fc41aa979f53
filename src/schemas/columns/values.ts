import { isUtf8 } from 'node:buffer'
import type { LeafSink } from './ports.ts'

/** What all three schema languages share in turning values into what columns hold: ranges, decimals, UUIDs, text. */

/** 0001-01-01 to 9999-12-31: what every engine can show (T4). Days, milliseconds and microseconds since 1970. */
export const DAY_MIN = -719162
export const DAY_MAX = 2932896
export const MILLIS_MIN = -62135596800000
export const MILLIS_MAX = 253402300799999
const MICROS_MIN_HIGH = Number((BigInt(MILLIS_MIN) * 1000n) >> 32n)
const MICROS_MAX_HIGH = Number((BigInt(MILLIS_MAX) * 1000n + 999n) >> 32n)
const MICROS_MIN = BigInt(MILLIS_MIN) * 1000n
const MICROS_MAX = BigInt(MILLIS_MAX) * 1000n + 999n
export const DAY_MICROS = 86_400_000_000

const TWO_32 = 4294967296
/** Up to here a loop over ASCII bytes beats a view and a call into native code. */
const SHORT_BYTES = 256

/** True when [start, end) is valid UTF-8. */
export function isText(buf: Uint8Array, start: number, end: number): boolean {
  if (end - start <= SHORT_BYTES) {
    let at = start
    while (at < end && buf[at] < 0x80) at++
    if (at === end) return true
  }
  return isUtf8(buf.subarray(start, end))
}

export function wide(high: number, low: number): bigint {
  return (BigInt(high) << 32n) | BigInt(low >>> 0)
}

export function putWide(sink: LeafSink, value: bigint, repetition: number): void {
  sink.long(Number(BigInt.asIntN(32, value >> 32n)), Number(BigInt.asIntN(32, value)), repetition)
}

/** A whole number that doubles hold. */
export function putNumber(sink: LeafSink, value: number, repetition: number): void {
  const high = Math.floor(value / TWO_32)
  sink.long(high, (value - high * TWO_32) | 0, repetition)
}

/** Microseconds within the range of years 1 to 9999. */
export function isMicros(high: number, low: number): boolean {
  if (high > MICROS_MIN_HIGH && high < MICROS_MAX_HIGH) return true
  const value = wide(high, low)
  return value >= MICROS_MIN && value <= MICROS_MAX
}

/** The product of milliseconds and 1000, which doubles may not hold. */
export function putMillis(sink: LeafSink, millis: number, repetition: number): void {
  if (millis < 9e12 && millis > -9e12) putNumber(sink, millis * 1000, repetition)
  else putWide(sink, BigInt(millis) * 1000n, repetition)
}

/** Milliseconds of microseconds in halves; a remainder is lost. */
export function millisOf(high: number, low: number): number {
  const micros = high * TWO_32 + (low >>> 0)
  return Number.isSafeInteger(micros) ? Math.floor(micros / 1000) : Number(wide(high, low) / 1000n)
}

/** 10^p for p up to 38. */
export const POWERS: readonly bigint[] = Array.from({ length: 39 }, (_, p) => 10n ** BigInt(p))

/** The unscaled value of a big-endian two's complement. */
export function bigEndian(buf: Uint8Array, start: number, end: number): bigint {
  let value = end > start && buf[start] > 127 ? -1n : 0n
  for (let at = start; at < end; at++) value = (value << 8n) | BigInt(buf[at])
  return value
}

/** Writes `value` as big-endian two's complement of `width` bytes. */
export function writeBigEndian(value: bigint, out: Uint8Array, at: number, width: number): void {
  let rest = value
  for (let i = width - 1; i >= 0; i--) {
    out[at + i] = Number(rest & 255n)
    rest >>= 8n
  }
}

/** Bytes of the shortest two's complement of `value`. */
export function signedBytes(value: bigint): number {
  const magnitude = value < 0n ? -value - 1n : value
  return magnitude === 0n ? 1 : Math.floor(magnitude.toString(2).length / 8) + 1
}

const decimalScratch = new Uint8Array(32)

/** Puts an unscaled decimal into a column of this precision; false, and nothing put, when it does not fit. */
export function putDecimal(sink: LeafSink, value: bigint, precision: number, width: number, repetition: number): boolean {
  const limit = POWERS[precision]
  if (value >= limit || value <= -limit) return false
  if (precision <= 9) sink.int(Number(value), repetition)
  else if (precision <= 18) putWide(sink, value, repetition)
  else {
    writeBigEndian(value, decimalScratch, 0, width)
    sink.bytes(decimalScratch, 0, width, repetition)
  }
  return true
}

const HEX = new Int8Array(256).fill(-1)
for (let i = 0; i < 16; i++) HEX['0123456789abcdef'.charCodeAt(i)] = i
const HEX_DIGITS = Buffer.from('0123456789abcdef')
const DASHES: ReadonlySet<number> = new Set([8, 13, 18, 23])

/** Reads a UUID's canonical lower-case text into 16 bytes; false when it is none. */
export function readUuid(buf: Uint8Array, start: number, end: number, out: Uint8Array): boolean {
  if (end - start !== 36) return false
  let half = 0
  for (let i = 0; i < 36; i++) {
    const byte = buf[start + i]
    if (DASHES.has(i)) {
      if (byte !== 45) return false
      continue
    }
    const digit = HEX[byte]
    if (digit < 0) return false
    if ((half & 1) === 0) out[half >> 1] = digit << 4
    else out[half >> 1] |= digit
    half++
  }
  return true
}

/** Writes the canonical text of the UUID at `start` of `from`: 36 bytes. */
export function writeUuid(from: Uint8Array, start: number, out: Uint8Array, at: number): void {
  let half = 0
  for (let i = 0; i < 36; i++) {
    if (DASHES.has(i)) {
      out[at + i] = 45
      continue
    }
    const byte = from[start + (half >> 1)]
    out[at + i] = HEX_DIGITS[(half & 1) === 0 ? byte >> 4 : byte & 15]
    half++
  }
}
