import type { Input } from '../columns/input.ts'
import type { Plan } from '../columns/plan.ts'
import type { LeafSink } from '../columns/ports.ts'
import { nodeOf } from '../columns/tools.ts'
import { isMicros, isText, putNumber, wide } from '../columns/values.ts'
import type { DecodeContext, ReadMessage } from './decode.ts'
import type { ProtoField } from './schema.ts'
import { nextIs, notCanonical, sizeOf } from './wire.ts'

export interface Scalar {
  readonly read: (repetition: number) => void
  readonly absent: (repetition: number) => void
}

const ZEROS = new Uint8Array(32)

/** Scalars: what a column cannot hold becomes null there and makes the row inexact (T4). */
export function scalarReader(field: ProtoField, plan: Plan, context: DecodeContext): Scalar {
  const { input } = context
  const { hasPresence, type } = field
  const part = nodeOf(context.tree, plan.col)
  const sink = context.sink(plan.col)
  const below = part.definition - 1
  const isLong = part.type === 'long'
  const none = (repetition: number): void => sink.absent(below, repetition)
  const small = (value: number, repetition: number): void =>
    isLong ? sink.long(value >> 31, value, repetition) : sink.int(value, repetition)
  /** Without presence a default is not written. */
  const isDefault = (zero: boolean): void => {
    if (zero && !hasPresence) input.exact = false
  }
  const implicit = (put: (repetition: number) => void): ((repetition: number) => void) => (hasPresence ? none : put)
  switch (type) {
    case 'int32':
      return {
        read: (repetition) => {
          input.varint()
          const { high, low } = input
          if (high !== low >> 31) input.exact = false
          isDefault(low === 0)
          small(low, repetition)
        },
        absent: implicit((repetition) => small(0, repetition)),
      }
    case 'sint32':
      return {
        read: (repetition) => {
          input.varint()
          if (input.high !== 0) input.exact = false
          const { low } = input
          isDefault(low === 0)
          small((low >>> 1) ^ -(low & 1), repetition)
        },
        absent: implicit((repetition) => small(0, repetition)),
      }
    case 'sfixed32':
      return {
        read: (repetition) => {
          const value = input.view.getInt32(input.skip(4), true)
          isDefault(value === 0)
          small(value, repetition)
        },
        absent: implicit((repetition) => small(0, repetition)),
      }
    case 'uint32':
    case 'fixed32': {
      const isFixed = type === 'fixed32'
      return {
        read: (repetition) => {
          let low: number
          if (isFixed) low = input.view.getInt32(input.skip(4), true)
          else {
            input.varint()
            low = input.low
            if (input.high !== 0) input.exact = false
          }
          isDefault(low === 0)
          sink.long(0, low, repetition)
        },
        absent: implicit((repetition) => sink.long(0, 0, repetition)),
      }
    }
    case 'int64':
    case 'sint64':
    case 'sfixed64':
      return {
        read: (repetition) => {
          readLong(input, type)
          isDefault(input.low === 0 && input.high === 0)
          sink.long(input.high, input.low, repetition)
        },
        absent: implicit((repetition) => sink.long(0, 0, repetition)),
      }
    case 'uint64':
    case 'fixed64':
      return {
        read: (repetition) => {
          readLong(input, type)
          isDefault(input.low === 0 && input.high === 0)
          putUnsigned(sink, input, repetition)
        },
        absent: implicit((repetition) => sink.bytes(ZEROS, 0, 9, repetition)),
      }
    case 'bool':
      return {
        read: (repetition) => {
          input.varint()
          const value = input.low !== 0 || input.high !== 0
          if (input.high !== 0 || input.low > 1 || input.low < 0) input.exact = false
          isDefault(!value)
          sink.int(value ? 1 : 0, repetition)
        },
        absent: implicit((repetition) => sink.int(0, repetition)),
      }
    case 'float':
    case 'double': {
      const width = type === 'float' ? 4 : 8
      return {
        read: (repetition) => {
          const at = input.skip(width)
          let bits = 0
          for (let i = 0; i < width; i++) bits |= input.buf[at + i]
          isDefault(bits === 0)
          sink.bytes(input.buf, at, at + width, repetition)
        },
        absent: implicit((repetition) => sink.bytes(ZEROS, 0, width, repetition)),
      }
    }
    case 'string':
    case 'bytes': {
      const isString = type === 'string'
      return {
        read: (repetition) => {
          const size = sizeOf(input)
          const at = input.skip(size)
          isDefault(size === 0)
          if (!isString || isText(input.buf, at, at + size)) sink.bytes(input.buf, at, at + size, repetition)
          else {
            input.exact = false
            none(repetition)
          }
        },
        absent: implicit((repetition) => sink.bytes(ZEROS, 0, 0, repetition)),
      }
    }
    default:
      return enumReader(field, sink, input, none, isDefault)
  }
}

const unsigned = new Uint8Array(9)

/** What a decimal of 20 digits is stored as: 9 bytes, the first of which is the sign's. */
function putUnsigned(sink: LeafSink, { high, low }: Input, repetition: number): void {
  for (let i = 0; i < 4; i++) {
    unsigned[1 + i] = high >>> (24 - 8 * i)
    unsigned[5 + i] = low >>> (24 - 8 * i)
  }
  sink.bytes(unsigned, 0, 9, repetition)
}

function readLong(input: Input, type: string): void {
  if (type === 'sint64') input.zigzag()
  else if (type === 'int64' || type === 'uint64') input.varint()
  else {
    const at = input.skip(8)
    input.low = input.view.getInt32(at, true)
    input.high = input.view.getInt32(at + 4, true)
  }
}

/** An enum by name; a number that has none by its digits. */
function enumReader(
  field: ProtoField,
  sink: LeafSink,
  input: Input,
  none: (repetition: number) => void,
  isDefault: (zero: boolean) => void,
): Scalar {
  const names = new Map([...field.symbols].map(([number, name]) => [number, Buffer.from(name)]))
  const nameOf = (number: number): Uint8Array => {
    const known = names.get(number)
    if (known !== undefined) return known
    const digits = Buffer.from(String(number))
    if (names.size < 10_000) names.set(number, digits)
    return digits
  }
  const put = (number: number, repetition: number): void => {
    const name = nameOf(number)
    sink.bytes(name, 0, name.length, repetition)
  }
  return {
    read: (repetition) => {
      input.varint()
      const { high, low } = input
      if (high !== low >> 31) input.exact = false
      isDefault(low === 0)
      put(low, repetition)
    },
    absent: field.hasPresence ? none : (repetition) => put(0, repetition),
  }
}

/** google.protobuf.Timestamp: seconds and nanoseconds. Tables hold microseconds; what is finer stays in the raw bytes. */
export function timestampReader(plan: Plan, context: DecodeContext): ReadMessage {
  const { input } = context
  const sink = context.sink(plan.col)
  const { definition } = nodeOf(context.tree, plan.col)
  return (repetition) => {
    let high = 0
    let low = 0
    let nanos = 0
    if (nextIs(input, 8)) {
      input.varint()
      high = input.high
      low = input.low
      if (high === 0 && low === 0) input.exact = false
    }
    if (nextIs(input, 16)) {
      input.varint()
      nanos = input.low
      if (nanos === 0 || input.high !== 0) input.exact = false
    }
    if (input.at !== input.end) notCanonical()
    if (nanos % 1000 !== 0) input.exact = false
    if (high <= 1 && high >= -2 && nanos >= 0 && nanos < 1_000_000_000) {
      return putNumber(sink, (high * 4294967296 + (low >>> 0)) * 1_000_000 + Math.floor(nanos / 1000), repetition)
    }
    farTimestamp(wide(high, low), nanos, repetition)
  }
  function farTimestamp(seconds: bigint, nanos: number, repetition: number): void {
    const micros = BigInt.asIntN(64, seconds * 1000000n) + BigInt(Math.floor(nanos / 1000))
    const high = Number(BigInt.asIntN(32, micros >> 32n))
    const low = Number(BigInt.asIntN(32, micros))
    const isInRange = nanos >= 0 && nanos < 1_000_000_000 && seconds < 1_000_000_000_000n && seconds > -1_000_000_000_000n
    if (isInRange && isMicros(high, low)) return sink.long(high, low, repetition)
    input.exact = false
    sink.absent(definition - 1, repetition)
  }
}
