import { undecodable } from '../columns/input.ts'
import type { Plan } from '../columns/plan.ts'
import { nodeOf } from '../columns/tools.ts'
import { decimalBytes, primitiveOf } from '../columns/types.ts'
import {
  DAY_MAX,
  DAY_MICROS,
  DAY_MIN,
  MILLIS_MAX,
  MILLIS_MIN,
  bigEndian,
  isMicros,
  isText,
  putDecimal,
  putMillis,
  putNumber,
  putWide,
  readUuid,
  signedBytes,
  wide,
} from '../columns/values.ts'
import type { Decode, DecodeContext } from './decode.ts'
import type { AvroNode } from './schema.ts'

const TWO_32 = 4294967296

/**
 * Decoders of single values. What a column cannot hold (T4) becomes null there and makes the row inexact: text that is no
 * UTF-8, times beyond the years 1 to 9999, decimals that are too large.
 */
export function leafDecoder(node: AvroNode, plan: Plan, context: DecodeContext): Decode {
  const { input } = context
  const part = nodeOf(context.tree, plan.col)
  const sink = context.sink(plan.col)
  const below = part.definition - 1
  const type = primitiveOf(part.type as string)
  const poison = (repetition: number): void => {
    input.exact = false
    sink.absent(below, repetition)
  }
  switch (plan.as) {
    case 'boolean':
      return (repetition) => {
        const value = input.buf[input.skip(1)]
        if (value > 1) undecodable()
        sink.int(value, repetition)
      }
    case 'int':
      return type.kind === 'long'
        ? (repetition) => {
            const value = int(input)
            sink.long(value >> 31, value, repetition)
          }
        : (repetition) => sink.int(int(input), repetition)
    case 'date':
      return (repetition) => {
        const value = int(input)
        if (value < DAY_MIN || value > DAY_MAX) poison(repetition)
        else sink.int(value, repetition)
      }
    case 'timeMillis':
      return (repetition) => {
        const value = int(input)
        if (value < 0 || value >= 86_400_000) poison(repetition)
        else putNumber(sink, value * 1000, repetition)
      }
    case 'long':
      return (repetition) => {
        input.zigzag()
        sink.long(input.high, input.low, repetition)
      }
    case 'timeMicros':
      return (repetition) => {
        input.zigzag()
        const value = input.high * TWO_32 + (input.low >>> 0)
        if (value < 0 || value >= DAY_MICROS) poison(repetition)
        else sink.long(input.high, input.low, repetition)
      }
    case 'micros':
      return (repetition) => {
        input.zigzag()
        if (isMicros(input.high, input.low)) sink.long(input.high, input.low, repetition)
        else poison(repetition)
      }
    case 'millis':
      return (repetition) => {
        input.zigzag()
        const value = input.high * TWO_32 + (input.low >>> 0)
        if (value < MILLIS_MIN || value > MILLIS_MAX) poison(repetition)
        else putMillis(sink, value, repetition)
      }
    case 'nanos':
      return (repetition) => {
        input.zigzag()
        const nanos = wide(input.high, input.low)
        const rest = ((nanos % 1000n) + 1000n) % 1000n
        // Tables hold microseconds: what is finer stays in the raw bytes.
        if (rest !== 0n) input.exact = false
        putWide(sink, (nanos - rest) / 1000n, repetition)
      }
    case 'float':
    case 'double': {
      const width = plan.as === 'float' ? 4 : 8
      return (repetition) => {
        const at = input.skip(width)
        sink.bytes(input.buf, at, at + width, repetition)
      }
    }
    case 'string':
      return (repetition) => {
        const size = input.length()
        const at = input.skip(size)
        if (isText(input.buf, at, at + size)) sink.bytes(input.buf, at, at + size, repetition)
        else poison(repetition)
      }
    case 'bytes':
      return (repetition) => {
        const size = input.length()
        const at = input.skip(size)
        sink.bytes(input.buf, at, at + size, repetition)
      }
    case 'fixed':
    case 'bytesOfFixed':
      return (repetition) => {
        const at = input.skip(node.size)
        sink.bytes(input.buf, at, at + node.size, repetition)
      }
    case 'uuidText': {
      const uuid = new Uint8Array(16)
      return (repetition) => {
        const size = input.length()
        const at = input.skip(size)
        if (readUuid(input.buf, at, at + size, uuid)) sink.bytes(uuid, 0, 16, repetition)
        else poison(repetition)
      }
    }
    case 'enum': {
      const symbols = node.symbols.map((symbol) => Buffer.from(symbol))
      return (repetition) => {
        const index = input.length()
        if (index >= symbols.length) undecodable()
        const symbol = symbols[index]
        sink.bytes(symbol, 0, symbol.length, repetition)
      }
    }
    case 'decimalBytes':
    case 'decimalFixed': {
      const width = decimalBytes(type.precision)
      const isFixed = plan.as === 'decimalFixed'
      return (repetition) => {
        const size = isFixed ? node.size : input.length()
        const at = input.skip(size)
        if (size > 64) return poison(repetition)
        const value = bigEndian(input.buf, at, at + size)
        if (!isFixed && signedBytes(value) !== size) input.exact = false
        if (!putDecimal(sink, value, type.precision, width, repetition)) poison(repetition)
      }
    }
    default:
      throw new TypeError(`no decoder for ${plan.as}`)
  }
}

function int(input: DecodeContext['input']): number {
  input.zigzag()
  const { high, low } = input
  if (high !== low >> 31) undecodable()
  return low
}
