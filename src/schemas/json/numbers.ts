import type { Input } from '../columns/input.ts'

/** Digits that every double tells apart: decimals of no more come back from their double as they stood. */
const DIGITS = 15
const POWERS = Array.from({ length: DIGITS + 1 }, (_, power) => 10 ** power)
/** Below this Python prints an exponent. */
const PLAIN_MIN = 1e-4

function endsNumber(byte: number): boolean {
  return byte !== 46 && byte !== 101 && byte !== 69 && byte !== 43 && byte !== 45 && !(byte >= 48 && byte <= 57)
}

/** Reads a whole number of up to 15 digits as every printer writes it; NaN, with nothing read, for all else. */
export function shortInteger(input: Input): number {
  const { buf, end } = input
  let { at } = input
  const isNegative = buf[at] === 45
  if (isNegative) at++
  const first = at
  let value = 0
  while (at < end) {
    const digit = buf[at] - 48
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
    at++
  }
  const digits = at - first
  if (digits === 0 || digits > DIGITS || (buf[first] === 48 && (digits > 1 || isNegative))) return NaN
  if (at < end && !endsNumber(buf[at])) return NaN
  input.at = at
  return isNegative ? -value : value
}

/**
 * Reads a number with a fraction, of up to 15 digits, that all printers of JSON write just so; NaN, with nothing read, for
 * all else. Both integer and power of ten are exact doubles then, so their quotient is the double nearest to the text.
 */
export function shortFraction(input: Input): number {
  const { buf, end } = input
  let { at } = input
  const isNegative = buf[at] === 45
  if (isNegative) at++
  const first = at
  let point = -1
  let whole = 0
  while (at < end) {
    const byte = buf[at]
    if (byte === 46 && point < 0) point = at
    else if (byte >= 48 && byte <= 57) whole = whole * 10 + byte - 48
    else break
    at++
  }
  const places = at - point - 1
  if (point <= first || places === 0 || buf[at - 1] === 48 || at - first - 1 > DIGITS) return NaN
  if ((buf[first] === 48 && point > first + 1) || (at < end && !endsNumber(buf[at]))) return NaN
  const value = whole / POWERS[places]
  if (value < PLAIN_MIN) return NaN
  input.at = at
  return isNegative ? -value : value
}

/** The text that numbers print as where it can be had without printing: digits, and how many of them are a fraction. */
export class Decimal {
  whole = 0
  places = 0

  /** True when `value` is a decimal of up to four places and 15 digits, which is then here. */
  of(value: number): boolean {
    const magnitude = value < 0 ? -value : value
    if (!(magnitude >= PLAIN_MIN && magnitude < 1e11)) return false
    for (let places = 0; places <= 4; places++) {
      const whole = Math.round(magnitude * POWERS[places])
      if (whole / POWERS[places] !== magnitude) continue
      this.whole = whole
      this.places = places
      return true
    }
    return false
  }
}
