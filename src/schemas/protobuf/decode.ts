import type { Input } from '../columns/input.ts'
import { undecodable } from '../columns/input.ts'
import { strangersOf, type Plan } from '../columns/plan.ts'
import type { LeafSink } from '../columns/ports.ts'
import { absentOf, nodeOf, type Absent } from '../columns/tools.ts'
import type { ColumnNode } from '../columns/tree.ts'
import { isMicros, isText, putDecimal, wide } from '../columns/values.ts'
import type { ProtoField, ProtoMessage } from './schema.ts'
import { NotCanonical, wireTypeOf } from './wire.ts'

export interface DecodeContext {
  readonly input: Input
  readonly tree: ReadonlyMap<number, ColumnNode>
  readonly sink: (id: number) => LeafSink
}

/** Reads a message up to `input.end`. Errors: Undecodable; NotCanonical when fields do not stand in their order. */
export type ReadMessage = (repetition: number) => void

/** One field of a message: how it is read once its tag was, and what stands for it when it is not there. */
interface FieldReader {
  readonly number: number
  readonly wireType: number
  readonly read: (repetition: number) => void
  readonly absent: (repetition: number) => void
}

function notCanonical(): never {
  throw NotCanonical
}

/**
 * Makes the reader of a message from its plan. Fields are met in ascending order, each once, as every serializer writes
 * them: then what is not met needs no list. Other bytes are put in that order first (normal.ts).
 */
export function protoDecoder(message: ProtoMessage, plan: Plan, context: DecodeContext): ReadMessage {
  const { input } = context
  const fields = message.fields.map((field, i) => fieldReader(field, plan.kids[i], context))
  const strangers = strangersOf(plan, context.tree).map(context.sink)
  const others = strangers.length === 0 ? null : absentOf(strangers)
  const definition = plan.col === 0 ? 0 : nodeOf(context.tree, plan.col).definition
  const count = fields.length
  return (repetition) => {
    let next = 0
    const { end } = input
    while (input.at < end) {
      input.varint()
      if (input.high !== 0) undecodable()
      const tag = input.low
      const number = tag >>> 3
      while (next < count && fields[next].number < number) fields[next++].absent(repetition)
      if (next < count && fields[next].number === number) {
        const field = fields[next++]
        if (field.wireType !== (tag & 7)) notCanonical()
        field.read(repetition)
      } else {
        // A field that stands here for the second time or out of order is not an unknown one.
        if (next > 0 && fields[next - 1].number >= number && fields.some((field) => field.number === number)) notCanonical()
        if (number === 0) undecodable()
        skipField(input, tag & 7)
        input.exact = false
      }
    }
    while (next < count) fields[next++].absent(repetition)
    if (others !== null) others(definition, repetition)
  }
}

/** Passes an unknown field over. */
function skipField(input: Input, wireType: number): void {
  if (wireType === 0) input.varint()
  else if (wireType === 1) input.skip(8)
  else if (wireType === 5) input.skip(4)
  else if (wireType === 2) input.skip(sizeOf(input))
  else undecodable()
}

function sizeOf(input: Input): number {
  input.varint()
  if (input.high !== 0 || input.low < 0) undecodable()
  return input.low
}

function fieldReader(field: ProtoField, plan: Plan, context: DecodeContext): FieldReader {
  const { number } = field
  if (field.label === 'map') return mapReader(field, plan, context)
  if (field.label === 'repeated') return listReader(field, plan, context)
  const { number: _, ...value } = valueReader(field, plan, context)
  return { number, ...value }
}

/** The value of a field that stands once, or of one element. */
function valueReader(field: ProtoField, plan: Plan, context: DecodeContext): FieldReader {
  const { input } = context
  const { number, message } = field
  if (message === null) {
    const { read, absent } = scalarReader(field, plan, context)
    return { number, wireType: wireTypeOf(field.type), read, absent }
  }
  const part = partOf(plan, context)
  const none = (repetition: number): void => part.absent(part.definition - 1, repetition)
  const within = (read: ReadMessage): ReadMessage => {
    return (repetition) => {
      const size = sizeOf(input)
      const outer = input.end
      if (size > outer - input.at) undecodable()
      input.end = input.at + size
      read(repetition)
      if (input.at !== input.end) undecodable()
      input.end = outer
    }
  }
  const reader = (read: ReadMessage): FieldReader => ({ number, wireType: 2, read, absent: none })
  if (plan.as === 'message') return reader(within(protoDecoder(message, plan, context)))
  if (plan.as === 'opaque') {
    const sink = context.sink(plan.col)
    return reader((repetition) => {
      const size = sizeOf(input)
      const at = input.skip(size)
      sink.bytes(input.buf, at, at + size, repetition)
    })
  }
  if (plan.as === 'empty') {
    const sink = context.sink(plan.col)
    return reader((repetition) => {
      const size = sizeOf(input)
      input.skip(size)
      if (size > 0) input.exact = false
      sink.int(1, repetition)
    })
  }
  if (plan.as === 'timestamp') return reader(within(timestampReader(plan, context)))
  // A wrapper: its only field, whose absence is the default.
  const [inner] = message.fields
  const { read, absent } = scalarReader({ ...inner, hasPresence: false }, plan.kids[0], context)
  const tag = (inner.number << 3) | wireTypeOf(inner.type)
  return reader(
    within((repetition) => {
      if (input.at === input.end) return absent(repetition)
      input.varint()
      if (input.low !== tag || input.high !== 0) notCanonical()
      read(repetition)
      if (input.at !== input.end) notCanonical()
    }),
  )
}

function partOf(plan: Plan, { tree, sink }: DecodeContext): { definition: number; repetition: number; absent: Absent; sinks: LeafSink[] } {
  const part = nodeOf(tree, plan.as === 'wrapper' ? plan.kids[0].col : plan.col)
  const sinks = part.leaves.map(sink)
  return { definition: part.definition, repetition: part.repetition, absent: absentOf(sinks), sinks }
}

function listReader(field: ProtoField, plan: Plan, context: DecodeContext): FieldReader {
  const { input } = context
  const { number } = field
  const part = partOf(plan, context)
  const inner = part.repetition + 1
  const element = valueReader({ ...field, label: 'one', hasPresence: true }, plan.kids[0], context)
  const absent = (repetition: number): void => part.absent(part.definition, repetition)
  if (field.isPacked && element.wireType !== 2) {
    const read = (repetition: number): void => {
      const size = sizeOf(input)
      const outer = input.end
      if (size > outer - input.at) undecodable()
      if (size === 0) {
        input.exact = false
        return absent(repetition)
      }
      input.end = input.at + size
      for (let level = repetition; input.at < input.end; level = inner) element.read(level)
      input.end = outer
    }
    return { number, wireType: 2, read, absent }
  }
  const tag = (number << 3) | element.wireType
  const read = (repetition: number): void => {
    element.read(repetition)
    while (nextIs(input, tag)) element.read(inner)
  }
  return { number, wireType: element.wireType, read, absent }
}

/** Passes the next tag over when it is this one, in its shortest form. */
function nextIs(input: Input, tag: number): boolean {
  const { buf, end } = input
  let { at } = input
  let rest = tag >>> 0
  while (rest > 127) {
    if (at >= end || buf[at++] !== ((rest & 127) | 128)) return false
    rest >>>= 7
  }
  if (at >= end || buf[at++] !== rest) return false
  input.at = at
  return true
}

function mapReader(field: ProtoField, plan: Plan, context: DecodeContext): FieldReader {
  const { input } = context
  const { number } = field
  const part = partOf(plan, context)
  const inner = part.repetition + 1
  const one = { ...field, label: 'one' as const, hasPresence: true }
  const key = valueReader({ ...one, type: field.keyType, message: null }, plan.kids[0], context)
  const value = valueReader(one, plan.kids[1], context)
  const keyTag = 8 | key.wireType
  const valueTag = 16 | value.wireType
  const tag = (number << 3) | 2
  const marks: number[] = []
  const absent = (repetition: number): void => part.absent(part.definition, repetition)
  const read = (repetition: number): void => {
    let mark = 0
    for (const sink of part.sinks) mark = sink.save(marks, mark, false)
    const seen = new Set<string>()
    let isWhole = true
    let level = repetition
    do {
      const size = sizeOf(input)
      const outer = input.end
      if (size > outer - input.at) undecodable()
      input.end = input.at + size
      // Both parts, in order: what serializers write. Others are put so first.
      if (!nextIs(input, keyTag)) notCanonical()
      const start = input.at
      if (field.keyType === 'string' && !isTextAhead(input)) isWhole = false
      key.read(level)
      const name = Buffer.from(input.buf.buffer, input.buf.byteOffset + start, input.at - start).toString('latin1')
      if (seen.has(name)) isWhole = false
      seen.add(name)
      if (!nextIs(input, valueTag)) notCanonical()
      value.read(level)
      if (input.at !== input.end) notCanonical()
      input.end = outer
      level = inner
    } while (nextIs(input, tag))
    if (isWhole) return
    // T4: a map with a key twice, or one that is no text, would make the table unreadable.
    mark = 0
    for (const sink of part.sinks) mark = sink.restore(marks, mark)
    input.exact = false
    part.absent(part.definition - 1, repetition)
  }
  return { number, wireType: 2, read, absent }
}

function isTextAhead(input: Input): boolean {
  const { at } = input
  const size = sizeOf(input)
  const start = input.skip(size)
  input.at = at
  return isText(input.buf, start, start + size)
}

interface Scalar {
  readonly read: (repetition: number) => void
  readonly absent: (repetition: number) => void
}

const ZEROS = new Uint8Array(32)

/** Scalars: what a column cannot hold becomes null there and makes the row inexact (T4). */
function scalarReader(field: ProtoField, plan: Plan, context: DecodeContext): Scalar {
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
          putDecimal(sink, BigInt.asUintN(64, wide(input.high, input.low)), 20, 9, repetition)
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
function timestampReader(plan: Plan, context: DecodeContext): ReadMessage {
  const { input } = context
  const sink = context.sink(plan.col)
  const { definition } = nodeOf(context.tree, plan.col)
  return (repetition) => {
    let seconds = 0n
    let nanos = 0
    if (nextIs(input, 8)) {
      input.varint()
      seconds = wide(input.high, input.low)
      if (seconds === 0n) input.exact = false
    }
    if (nextIs(input, 16)) {
      input.varint()
      nanos = input.low
      if (nanos === 0 || input.high !== 0) input.exact = false
    }
    if (input.at !== input.end) notCanonical()
    if (nanos % 1000 !== 0) input.exact = false
    const micros = BigInt.asIntN(64, seconds * 1000000n) + BigInt(Math.floor(nanos / 1000))
    const high = Number(BigInt.asIntN(32, micros >> 32n))
    const low = Number(BigInt.asIntN(32, micros))
    const isInRange = nanos >= 0 && nanos < 1_000_000_000 && seconds < 1_000_000_000_000n && seconds > -1_000_000_000_000n
    if (isInRange && isMicros(high, low)) return sink.long(high, low, repetition)
    input.exact = false
    sink.absent(definition - 1, repetition)
  }
}
