import { DAY_MAX, DAY_MIN } from '../columns/values.ts'

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const TIME = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):?(\d\d))$/
const DAY_MS = 86_400_000

/** Days since 1970 of a full-date (RFC 3339); null when it is none of the years 1 to 9999. */
export function dayOf(text: string): number | null {
  const found = DATE.exec(text)
  if (found === null) return null
  const ms = Date.parse(`${text}T00:00:00Z`)
  if (Number.isNaN(ms)) return null
  const day = ms / DAY_MS
  // Days that a month does not have are carried over by some parsers, and are no dates.
  return day < DAY_MIN || day > DAY_MAX || printDay(day) !== text ? null : day
}

export function printDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

/** Microseconds since 1970 of a date-time (RFC 3339, with or without the colon of its offset); null when it is none. */
export function microsOf(text: string): { readonly value: bigint; readonly isWhole: boolean } | null {
  const found = TIME.exec(text)
  if (found === null) return null
  const [, date, hour, minute, second, fraction = '', sign, offsetHour = '0', offsetMinute = '0'] = found
  const day = dayOf(date)
  if (
    day === null ||
    Number(hour) > 23 ||
    Number(minute) > 59 ||
    Number(second) > 59 ||
    Number(offsetHour) > 23 ||
    Number(offsetMinute) > 59
  )
    return null
  const offset = (sign === '-' ? -1 : 1) * (Number(offsetHour) * 60 + Number(offsetMinute))
  const seconds = day * 86_400 + Number(hour) * 3600 + Number(minute) * 60 + Number(second) - offset * 60
  const digits = fraction.padEnd(9, '0')
  const value = BigInt(seconds) * 1_000_000n + BigInt(digits.slice(0, 6))
  const floor = BigInt(DAY_MIN) * 86_400_000_000n
  if (value < floor || value >= BigInt(DAY_MAX + 1) * 86_400_000_000n) return null
  return { value, isWhole: digits.slice(6) === '000' }
}

/** The form that comes back: in UTC, with no, three or six digits of a fraction, as few as hold it. */
export function printMicros(value: bigint): string {
  const millis = Number((value - (((value % 1000n) + 1000n) % 1000n)) / 1000n)
  const rest = Number(((value % 1000n) + 1000n) % 1000n)
  const text = new Date(millis).toISOString()
  if (rest !== 0) return `${text.slice(0, -1)}${String(rest).padStart(3, '0')}Z`
  return text.endsWith('.000Z') ? `${text.slice(0, -5)}Z` : text
}
