import { expect, it } from 'vitest'
import { Input } from '../../../src/schemas/columns/input.ts'
import { Output } from '../../../src/schemas/columns/output.ts'
import { canonicalDay, canonicalMicros, putDay, putMicros } from '../../../src/schemas/json/canonicalTimes.ts'
import { Decimal, shortFraction, shortInteger } from '../../../src/schemas/json/numbers.ts'
import { printDouble } from '../../../src/schemas/json/shape.ts'
import { dayOf, microsOf, printDay, printMicros } from '../../../src/schemas/json/times.ts'

let seed = 7
const random = (below: number): number => {
  seed = (seed * 48271) % 2147483647
  return Math.floor((seed / 2147483647) * below)
}
const inputOf = (text: string): Input => {
  const input = new Input()
  input.reset(Buffer.from(text), 0, text.length)
  return input
}
const textOf = (write: (output: Output) => void): string => {
  const output = new Output()
  write(output)
  return output.buf.subarray(0, output.at).toString()
}

it('numbers that are read without their text print as that text', () => {
  const wrong: string[] = []
  let read = 0
  for (let i = 0; i < 50_000; i++) {
    const text =
      (random(2) === 0 ? '-' : '') + String(random(10 ** random(9))) + (random(3) > 0 ? `.${String(random(10 ** (1 + random(8))))}` : '')
    const fraction = shortFraction(inputOf(text))
    const whole = shortInteger(inputOf(text))
    if (!Number.isNaN(fraction) && (printDouble(fraction, 'js') !== text || printDouble(fraction, 'python') !== text)) wrong.push(text)
    if (!Number.isNaN(whole) && String(whole) !== text) wrong.push(text)
    if (!Number.isNaN(fraction) || !Number.isNaN(whole)) read++
  }
  expect(wrong).toEqual([])
  expect(read).toBeGreaterThan(30_000)
  for (const text of [
    '-0',
    '01',
    '1e5',
    '1.50',
    '0.00001',
    '1.',
    '-',
    '',
    '1234567890123456',
    '.5',
    '1.2.3',
    '00.5',
    '-0.0',
    '1.5e3',
    '1-2',
  ]) {
    expect([text, shortFraction(inputOf(text)), shortInteger(inputOf(text))]).toEqual([text, NaN, NaN])
  }
  expect([shortInteger(inputOf('999999999999999')), shortFraction(inputOf('0.0001'))]).toEqual([999999999999999, 0.0001])
})

it('decimals are written as they print', () => {
  const decimal = new Decimal()
  const wrong: number[] = []
  let written = 0
  for (let i = 0; i < 50_000; i++) {
    const value = ((random(2) * 2 - 1) * random(2 ** 31) * (random(2) === 0 ? 1 : random(100))) / 10 ** random(8)
    if (!decimal.of(value)) continue
    written++
    const text = textOf((output) => output.decimal(value < 0 ? -decimal.whole : decimal.whole, decimal.places))
    if (text !== printDouble(value, 'js')) wrong.push(value)
  }
  expect(wrong).toEqual([])
  expect(written).toBeGreaterThan(20_000)
  for (const value of [0, 9, 10, -10, 999_999_999, 1e9, 1_000_000_001, 2 ** 31, 2 ** 32, 2 ** 52, -(2 ** 52), 1e15, 9007199254740991]) {
    expect(textOf((output) => output.decimal(value, 0))).toBe(String(value))
  }
})

it('times are read and written as dates are', () => {
  const wrong: string[] = []
  let near = 0
  for (let i = 0; i < 50_000; i++) {
    const day = random(3_652_059) - 719_162
    const date = printDay(day)
    if (canonicalDay(Buffer.from(date), 0) !== day || textOf((output) => putDay(output, day)) !== date) wrong.push(date)
    const micros = BigInt(random(2_000_000_000) - 1_000_000_000) * 8_999_999n + BigInt([0, 1, 1000, random(1_000_000)][random(4)])
    const text = printMicros(micros)
    const [high, low] = [Number(micros >> 32n), Number(BigInt.asIntN(32, micros))]
    if (textOf((output) => void (putMicros(output, high, low) || output.text(`"${text}"`))) !== `"${text}"`) wrong.push(text)
    const read = canonicalMicros(Buffer.from(text), 0, text.length)
    if (Number.isNaN(read)) continue
    near++
    if (BigInt(read) !== microsOf(text)!.value) wrong.push(text)
  }
  expect(wrong).toEqual([])
  expect(near).toBeGreaterThan(40_000)
})

it('what is no time, or has another form, is not read', () => {
  for (const text of ['2023-02-29', '2024-00-10', '2024-13-01', '2024-04-31', '0000-01-01', '2024/01/01', '2024-1-011']) {
    expect([text, canonicalDay(Buffer.from(text), 0), dayOf(text)]).toEqual([text, NaN, null])
  }
  for (const time of [
    'T24:00:00Z',
    'T00:60:00Z',
    'T00:00:60Z',
    't00:00:00Z',
    'T00:00:00z',
    'T00:00:00.000Z',
    'T00:00:00.123000Z',
    'T00:00:00.1Z',
  ]) {
    const text = `2024-01-01${time}`
    expect([text, canonicalMicros(Buffer.from(text), 0, text.length)]).toEqual([text, NaN])
  }
})
