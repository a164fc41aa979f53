import type { Input } from '../columns/input.ts'
import { undecodable } from '../columns/input.ts'
import { strangersOf, type Plan } from '../columns/plan.ts'
import type { LeafSink } from '../columns/ports.ts'
import { absentOf, nodeOf, type Absent } from '../columns/tools.ts'
import type { ColumnNode } from '../columns/tree.ts'
import { isText } from '../columns/values.ts'
import type { ProtoField, ProtoMessage } from './schema.ts'
import { scalarReader, timestampReader } from './scalars.ts'
import { nextIs, notCanonical, sizeOf, wireTypeOf } from './wire.ts'

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
