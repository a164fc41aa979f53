import { FrazilError } from '../../base/errors.ts'
import { mismatch, type EncodeContext } from '../avro/encode.ts'
import { strangersOf, type Plan } from '../columns/plan.ts'
import type { LeafSource } from '../columns/ports.ts'
import { elementsAt, nodeOf, sameBytes, skipOf } from '../columns/tools.ts'
import { wide } from '../columns/values.ts'
import type { Output } from '../columns/output.ts'
import type { ProtoField, ProtoMessage } from './schema.ts'
import { wireTypeOf } from './wire.ts'

type Write = () => void

const TWO_32 = 4294967296

/** Makes the writer of a message's body from its plan: fields in ascending order, defaults as declared. Errors: CORRUPT. */
export function protoEncoder(message: ProtoMessage, plan: Plan, context: EncodeContext): Write {
  const fields = message.fields.map((field, i) => fieldWriter(field, plan.kids[i], context))
  const strangers = strangersOf(plan, context.tree).map(context.source)
  if (strangers.length > 0) fields.push(skipOf(strangers))
  return () => {
    for (let i = 0; i < fields.length; i++) fields[i]()
  }
}

/** Writes what `write` writes with its length before it. */
function sized(output: Output, write: Write): void {
  output.byte(0)
  const start = output.at
  write()
  const size = output.at - start
  if (size < 128) {
    output.buf[start - 1] = size
    return
  }
  const extra = Math.ceil((32 - Math.clz32(size)) / 7) - 1
  output.room(extra)
  output.buf.copyWithin(start + extra, start, output.at)
  const end = output.at + extra
  output.at = start - 1
  output.varint(0, size)
  output.at = end
}

function columnOf(plan: Plan): number {
  return plan.as === 'wrapper' ? plan.kids[0].col : plan.col
}

function fieldWriter(field: ProtoField, plan: Plan, context: EncodeContext): Write {
  if (field.label !== 'one') return listWriter(field, plan, context)
  const { output } = context
  const { definition, leaves, type } = nodeOf(context.tree, columnOf(plan))
  const sources = leaves.map(context.source)
  const [first] = sources
  const skip = skipOf(sources)
  const tag = tagOf(field)
  const write = valueWriter(field, plan, context)
  const isDefault = field.hasPresence ? null : defaultTest(field, first, type === 'long')
  return () => {
    if (first.definition[first.entry] < definition) return skip()
    if (isDefault !== null && isDefault()) return skip()
    output.varint(0, tag)
    write()
  }
}

function tagOf({ number, message, type }: ProtoField): number {
  return (number << 3) | (message === null ? wireTypeOf(type) : 2)
}

function listWriter(field: ProtoField, plan: Plan, context: EncodeContext): Write {
  const { output } = context
  const part = nodeOf(context.tree, plan.col)
  const sources = part.leaves.map(context.source)
  const [first] = sources
  const skip = skipOf(sources)
  const inner = part.repetition + 1
  const one: ProtoField = { ...field, label: 'one', hasPresence: true }
  const isMap = field.label === 'map'
  const value = valueWriter(one, plan.kids[isMap ? 1 : 0], context)
  const isPacked = !isMap && field.isPacked && field.message === null && wireTypeOf(field.type) !== 2
  let write: Write = value
  if (isMap) {
    const keyField: ProtoField = { ...one, number: 1, type: field.keyType, message: null }
    const key = valueWriter(keyField, plan.kids[0], context)
    const keyTag = tagOf(keyField)
    const valueTag = tagOf({ ...one, number: 2 })
    const entry = (): void => {
      output.varint(0, keyTag)
      key()
      output.varint(0, valueTag)
      value()
    }
    write = () => sized(output, entry)
  }
  const tag = isPacked || isMap ? (field.number << 3) | 2 : tagOf(field)
  return () => {
    const definition = first.definition[first.entry]
    if (definition < part.definition) mismatch()
    if (definition === part.definition) return skip()
    const count = elementsAt(first, inner)
    if (isPacked) {
      output.varint(0, tag)
      return sized(output, () => {
        for (let i = 0; i < count; i++) write()
      })
    }
    for (let i = 0; i < count; i++) {
      output.varint(0, tag)
      write()
    }
  }
}

/** Writes a value without its tag. */
function valueWriter(field: ProtoField, plan: Plan, context: EncodeContext): Write {
  const { output } = context
  const { message } = field
  if (message === null) return scalarWriter(field, plan, context)
  switch (plan.as) {
    case 'message': {
      const body = protoEncoder(message, plan, context)
      return () => sized(output, body)
    }
    case 'opaque': {
      const source = context.source(plan.col)
      return () => blob(output, source)
    }
    case 'empty': {
      const source = context.source(plan.col)
      return () => {
        source.entry++
        output.byte(0)
      }
    }
    case 'timestamp': {
      const source = context.source(plan.col)
      const body = timestampWriter(output, source)
      return () => sized(output, body)
    }
    case 'wrapper': {
      const body = fieldWriter({ ...message.fields[0], hasPresence: false }, plan.kids[0], context)
      return () => sized(output, body)
    }
    default:
      throw new FrazilError('CORRUPT', `a recipe has a part of the unknown kind ${plan.as}`)
  }
}

function timestampWriter(output: Output, source: LeafSource): Write {
  return () => {
    const i = indexOf(source)
    const number = source.ints[2 * i + 1] * TWO_32 + (source.ints[2 * i] >>> 0)
    if (Number.isSafeInteger(number)) {
      const whole = Math.floor(number / 1_000_000)
      const part = number - whole * 1_000_000
      const high = Math.floor(whole / TWO_32)
      if (whole !== 0) {
        output.byte(8)
        output.varint(high, (whole - high * TWO_32) | 0)
      }
      if (part !== 0) {
        output.byte(16)
        output.varint(0, part * 1000)
      }
      return
    }
    const micros = wide(source.ints[2 * i + 1], source.ints[2 * i])
    const rest = ((micros % 1000000n) + 1000000n) % 1000000n
    const seconds = (micros - rest) / 1000000n
    if (seconds !== 0n) {
      output.byte(8)
      output.varint(Number(BigInt.asIntN(32, seconds >> 32n)), Number(BigInt.asIntN(32, seconds)))
    }
    if (rest !== 0n) {
      output.byte(16)
      output.varint(0, Number(rest) * 1000)
    }
  }
}

function indexOf(source: LeafSource): number {
  const index = source.valueAt[source.entry++]
  if (index < 0) mismatch()
  return index
}

function blob(output: Output, source: LeafSource): void {
  const i = indexOf(source)
  output.varint(0, source.starts[i + 1] - source.starts[i])
  output.bytes(source.data, source.starts[i], source.starts[i + 1])
}

/** Four bytes, big-endian, of the nine that an unsigned 64-bit value is stored as. */
function half({ data, starts }: LeafSource, i: number, from: number): number {
  const at = starts[i] + from
  return (data[at] << 24) | (data[at + 1] << 16) | (data[at + 2] << 8) | data[at + 3]
}

/** True when the value at the current entry is the default, which is not written. */
function defaultTest(field: ProtoField, source: LeafSource, isLong: boolean): () => boolean {
  const at = (): number => source.valueAt[source.entry]
  const zero = field.symbols.get(0) ?? '0'
  switch (field.type) {
    case 'int32':
    case 'sint32':
    case 'sfixed32':
    case 'bool':
    case 'uint32':
    case 'fixed32':
    case 'int64':
    case 'sint64':
    case 'sfixed64':
      return isLong ? () => source.ints[2 * at()] === 0 && source.ints[2 * at() + 1] === 0 : () => source.ints[at()] === 0
    case 'string':
    case 'bytes':
      return () => source.starts[at()] === source.starts[at() + 1]
    case 'enum': {
      const zeroBytes = Buffer.from(zero)
      return () => sameBytes(zeroBytes, source.data, source.starts[at()], source.starts[at() + 1])
    }
    default:
      return () => {
        for (let i = source.starts[at()]; i < source.starts[at() + 1]; i++) if (source.data[i] !== 0) return false
        return true
      }
  }
}

function scalarWriter(field: ProtoField, plan: Plan, context: EncodeContext): Write {
  const { output } = context
  const source = context.source(plan.col)
  const isLong = nodeOf(context.tree, plan.col).type === 'long'
  const small = (): number => {
    const i = indexOf(source)
    return isLong ? source.ints[2 * i] : source.ints[i]
  }
  const fixed64 = (high: number, low: number): void => {
    output.room(8)
    output.buf.writeInt32LE(low, output.at)
    output.buf.writeInt32LE(high, output.at + 4)
    output.at += 8
  }
  const fixed32 = (value: number): void => {
    output.room(4)
    output.buf.writeInt32LE(value, output.at)
    output.at += 4
  }
  switch (field.type) {
    case 'int32':
      return () => {
        const value = small()
        output.varint(value >> 31, value)
      }
    case 'sint32':
      return () => {
        const value = small()
        output.varint(0, (value << 1) ^ (value >> 31))
      }
    case 'sfixed32':
      return () => fixed32(small())
    case 'uint32':
      return () => output.varint(0, source.ints[2 * indexOf(source)])
    case 'fixed32':
      return () => fixed32(source.ints[2 * indexOf(source)])
    case 'bool':
      return () => output.byte(source.ints[indexOf(source)])
    case 'int64':
    case 'sint64':
    case 'sfixed64':
      return () => {
        const i = indexOf(source)
        const low = source.ints[2 * i]
        const high = source.ints[2 * i + 1]
        if (field.type === 'int64') output.varint(high, low)
        else if (field.type === 'sint64') output.zigzag(high, low)
        else fixed64(high, low)
      }
    case 'uint64':
    case 'fixed64':
      return () => {
        const i = indexOf(source)
        const high = half(source, i, 1)
        const low = half(source, i, 5)
        if (field.type === 'uint64') output.varint(high, low)
        else fixed64(high, low)
      }
    case 'float':
    case 'double':
      return () => {
        const i = indexOf(source)
        output.bytes(source.data, source.starts[i], source.starts[i + 1])
      }
    case 'string':
    case 'bytes':
      return () => blob(output, source)
    default:
      return enumWriter(field, source, output)
  }
}

function enumWriter(field: ProtoField, source: LeafSource, output: Output): Write {
  const numbers = new Map([...field.symbols].map(([number, name]) => [name, number]))
  /** A short list beats a text and a map. */
  const known = [...numbers].slice(0, 32).map(([name, number]) => ({ bytes: Buffer.from(name), number }))
  return () => {
    const i = indexOf(source)
    for (let at = 0; at < known.length; at++) {
      const { bytes, number } = known[at]
      if (sameBytes(bytes, source.data, source.starts[i], source.starts[i + 1])) return output.varint(number >> 31, number)
    }
    const name = Buffer.from(source.data.subarray(source.starts[i], source.starts[i + 1])).toString('latin1')
    const number = numbers.get(name) ?? (/^-?\d+$/.test(name) ? Number(name) : mismatch())
    output.varint(number >> 31, number)
  }
}
