import type { Output } from '../columns/output.ts'

/** Times as times.ts prints them, read from bytes and written as bytes: no Date, no BigInt, no text. */

const DAY_MS = 86_400_000
/** What is read or written here: microseconds that doubles hold. */
const MICROS_MAX = 9e15

function digits(buf: Uint8Array, at: number, count: number): number {
  let value = 0
  for (let i = at; i < at + count; i++) {
    const digit = buf[i] - 48
    if (digit < 0 || digit > 9) return NaN
    value = value * 10 + digit
  }
  return value
}

const LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Days since 1970 of the date YYYY-MM-DD at `at` (years 1 to 9999); NaN when it is none. */
export function canonicalDay(buf: Uint8Array, at: number): number {
  const year = digits(buf, at, 4)
  const month = digits(buf, at + 5, 2)
  const day = digits(buf, at + 8, 2)
  if (buf[at + 4] !== 45 || buf[at + 7] !== 45 || !(year >= 1 && month >= 1 && month <= 12 && day >= 1)) return NaN
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  if (day > LENGTHS[month - 1] + (month === 2 && isLeap ? 1 : 0)) return NaN
  // Years that begin in March: leap days come last.
  const from = month > 2 ? year : year - 1
  const era = Math.floor(from / 400)
  const inEra = from - era * 400
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  return era * 146097 + inEra * 365 + Math.floor(inEra / 4) - Math.floor(inEra / 100) + dayOfYear - 719468
}

/** Microseconds since 1970 of a time in [start, end) in the form that is written; NaN for any other, and for far years. */
export function canonicalMicros(buf: Uint8Array, start: number, end: number): number {
  const size = end - start
  if (size !== 20 && size !== 24 && size !== 27) return NaN
  const day = canonicalDay(buf, start)
  const hour = digits(buf, start + 11, 2)
  const minute = digits(buf, start + 14, 2)
  const second = digits(buf, start + 17, 2)
  if (buf[start + 10] !== 84 || buf[start + 13] !== 58 || buf[start + 16] !== 58 || buf[end - 1] !== 90) return NaN
  if (!(hour < 24 && minute < 60 && second < 60)) return NaN
  let micros = 0
  if (size > 20) {
    if (buf[start + 19] !== 46) return NaN
    const shown = digits(buf, start + 20, size - 21)
    // Zeros that the shorter form leaves out.
    if (size === 24 ? shown === 0 : shown % 1000 === 0) return NaN
    micros = size === 24 ? shown * 1000 : shown
  }
  const value = (day * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000) * 1000 + micros
  return value > -MICROS_MAX && value < MICROS_MAX ? value : NaN
}

function two(output: Output, value: number): void {
  output.buf[output.at++] = 48 + ((value / 10) | 0)
  output.buf[output.at++] = 48 + (value % 10)
}

function three(output: Output, value: number): void {
  output.buf[output.at++] = 48 + ((value / 100) | 0)
  two(output, value % 100)
}

/** Writes the date of a day since 1970 (years 1 to 9999): 10 bytes, for which there is room. */
export function putDay(output: Output, day: number): void {
  const shifted = day + 719468
  const era = Math.floor(shifted / 146097)
  const inEra = shifted - era * 146097
  const yearOfEra = Math.floor((inEra - Math.floor(inEra / 1460) + Math.floor(inEra / 36524) - Math.floor(inEra / 146096)) / 365)
  const dayOfYear = inEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const part = Math.floor((5 * dayOfYear + 2) / 153)
  const month = part < 10 ? part + 3 : part - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  two(output, (year / 100) | 0)
  two(output, year % 100)
  output.buf[output.at++] = 45
  two(output, month)
  output.buf[output.at++] = 45
  two(output, dayOfYear - Math.floor((153 * part + 2) / 5) + 1)
}

/** Writes a time of microseconds since 1970 with its quotes; false, and nothing written, for far years. */
export function putMicros(output: Output, high: number, low: number): boolean {
  const value = high * 4294967296 + (low >>> 0)
  if (!(value > -MICROS_MAX && value < MICROS_MAX)) return false
  output.room(32)
  const day = Math.floor(value / (DAY_MS * 1000))
  const inDay = value - day * DAY_MS * 1000
  const seconds = Math.floor(inDay / 1_000_000)
  const micros = inDay - seconds * 1_000_000
  output.buf[output.at++] = 34
  putDay(output, day)
  output.buf[output.at++] = 84
  two(output, (seconds / 3600) | 0)
  output.buf[output.at++] = 58
  two(output, ((seconds / 60) | 0) % 60)
  output.buf[output.at++] = 58
  two(output, seconds % 60)
  if (micros > 0) {
    output.buf[output.at++] = 46
    three(output, (micros / 1000) | 0)
    if (micros % 1000 > 0) three(output, micros % 1000)
  }
  output.buf[output.at++] = 90
  output.buf[output.at++] = 34
  return true
}
