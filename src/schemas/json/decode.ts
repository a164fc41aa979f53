import { Input, undecodable } from '../columns/input.ts'
import type { Plan } from '../columns/plan.ts'
import { strangersOf } from '../columns/plan.ts'
import type { LeafSink } from '../columns/ports.ts'
import { absentOf, nodeOf } from '../columns/tools.ts'
import type { ColumnNode } from '../columns/tree.ts'
import { isText, putNumber, putWide, readUuid } from '../columns/values.ts'
import type { JsonNode } from './schema.ts'
import { printDouble, printString, type JsonShape } from './shape.ts'
import { asciiEnd, isSpace, literalAt, skipSpace, skipText, textEnd, unescape } from './scan.ts'
import { canonicalDay, canonicalMicros } from './canonicalTimes.ts'
import { shortFraction, shortInteger } from './numbers.ts'
import { dayOf, microsOf, printDay, printMicros } from './times.ts'

export interface DecodeContext {
  readonly input: Input
  readonly tree: ReadonlyMap<number, ColumnNode>
  readonly sink: (id: number) => LeafSink
  /** null: no text of this schema was taken apart yet, so none is exact. */
  readonly shape: JsonShape | null
}

type Read = (repetition: number) => void

const NULL = Buffer.from('null')
const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')
const INT64_MAX = 2n ** 63n - 1n

/** Makes the decoder of a whole text: one value, nothing but white space around it. Errors: Undecodable. */
export function jsonDecoder(node: JsonNode, plan: Plan, context: DecodeContext): Read {
  const { input } = context
  const read = valueReader(node, plan, context, true)
  return (repetition) => {
    space(input)
    read(repetition)
    space(input)
    if (input.at !== input.end) undecodable()
  }
}

/** Passes white space over, which no shape has where this is called. */
function space(input: Input): void {
  if (input.at < input.end && isSpace(input.buf[input.at])) {
    input.exact = false
    skipSpace(input)
  }
}

/** A value that may be null. At the top there is no column to be null: null is then no value of the schema. */
function valueReader(node: JsonNode, plan: Plan, context: DecodeContext, isTop = false): Read {
  const { input } = context
  const read = kindReader(node, plan, context)
  if (isTop && node.kind === 'object' && plan.col === 0) return read
  const part = nodeOf(context.tree, plan.col)
  const absent = absentOf(part.leaves.map(context.sink))
  const below = part.definition - 1
  return (repetition) => {
    if (input.buf[input.at] === 110 && literalAt(input, NULL)) absent(below, repetition)
    else read(repetition)
  }
}

function kindReader(node: JsonNode, plan: Plan, context: DecodeContext): Read {
  if (node.kind === 'object') return objectReader(node, plan, context)
  if (node.kind === 'array') return arrayReader(node, plan, context)
  if (node.kind === 'map') return mapReader(node, plan, context)
  return scalarReader(node, plan, context)
}

function objectReader(node: JsonNode, plan: Plan, context: DecodeContext): Read {
  const { input, shape } = context
  const known = shape?.objects[node.number]
  const order = known?.order ?? []
  const nulls = new Uint8Array(node.fields.length)
  for (const index of known?.nulls ?? []) nulls[index] = 1
  const literals = node.fields.map((field) => Buffer.from(printString(field.name, shape?.ascii ?? false) + (shape?.colon ?? ':')))
  const names = new Map(node.fields.map((field, i) => [field.name, i]))
  const reads = node.fields.map((field, i) => valueReader(field.node, plan.kids[i], context))
  const absents = plan.kids.map((kid) => {
    const part = nodeOf(context.tree, kid.col)
    const absent = absentOf(part.leaves.map(context.sink))
    return (repetition: number): void => absent(part.definition - 1, repetition)
  })
  const strangers = strangersOf(plan, context.tree).map(context.sink)
  const others = strangers.length === 0 ? null : absentOf(strangers)
  const definition = plan.col === 0 ? 0 : nodeOf(context.tree, plan.col).definition
  const seen = new Uint8Array(node.fields.length)
  return (repetition) => {
    if (input.buf[input.at] !== 123) undecodable()
    input.at++
    seen.fill(0)
    if (known === undefined) input.exact = false
    let place = 0
    let isFirst = true
    for (;;) {
      if (isFirst) {
        space(input)
        if (input.buf[input.at] === 125) break
      }
      let index = -1
      for (let at = place; at < order.length; at++) {
        if (literalAt(input, literals[order[at]])) {
          index = order[at]
          place = at + 1
          space(input)
          break
        }
      }
      if (index < 0) {
        input.exact = false
        skipSpace(input)
        index = names.get(readKey(input)) ?? -1
      }
      if (index >= 0 && seen[index] === 0) {
        seen[index] = 1
        if (input.buf[input.at] === 110 && nulls[index] === 0) input.exact = false
        reads[index](repetition)
      } else if (index >= 0) undecodable()
      else skipText(input)
      isFirst = false
      if (!more(input, shape, 125)) break
    }
    input.at++
    for (let i = 0; i < seen.length; i++) {
      if (seen[i] !== 0) continue
      if (nulls[i] === 1) input.exact = false
      absents[i](repetition)
    }
    if (others !== null) others(definition, repetition)
  }
}

/** After a value: true when a comma follows, false when the closing byte stands there. */
function more(input: Input, shape: JsonShape | null, close: number): boolean {
  space(input)
  const byte = input.buf[input.at]
  if (input.at >= input.end) undecodable()
  if (byte === close) return false
  if (byte !== 44) undecodable()
  input.at++
  const hasSpace = input.buf[input.at] === 32
  if (hasSpace) input.at++
  if (hasSpace !== (shape?.comma === ', ')) input.exact = false
  space(input)
  return true
}

/** Reads a key and its colon. */
function readKey(input: Input): string {
  const start = input.at
  const end = textEnd(input)
  const key = unescape(input.buf, start, end)
  input.at = end
  skipSpace(input)
  if (input.buf[input.at] !== 58) undecodable()
  input.at++
  skipSpace(input)
  return key
}

function arrayReader(node: JsonNode, plan: Plan, context: DecodeContext): Read {
  const { input, shape } = context
  const part = nodeOf(context.tree, plan.col)
  const absent = absentOf(part.leaves.map(context.sink))
  const inner = part.repetition + 1
  const item = valueReader(node.items!, plan.kids[0], context)
  return (repetition) => {
    if (input.buf[input.at] !== 91) undecodable()
    input.at++
    space(input)
    if (input.buf[input.at] === 93) {
      input.at++
      return absent(part.definition, repetition)
    }
    let level = repetition
    for (;;) {
      item(level)
      level = inner
      if (!more(input, shape, 93)) break
    }
    input.at++
  }
}

function mapReader(node: JsonNode, plan: Plan, context: DecodeContext): Read {
  const { input, shape } = context
  const part = nodeOf(context.tree, plan.col)
  const sinks = part.leaves.map(context.sink)
  const absent = absentOf(sinks)
  const inner = part.repetition + 1
  const key = context.sink(plan.kids[0].col)
  const item = valueReader(node.items!, plan.kids[1], context)
  return (repetition) => {
    if (input.buf[input.at] !== 123) undecodable()
    input.at++
    space(input)
    if (input.buf[input.at] === 125) {
      input.at++
      return absent(part.definition, repetition)
    }
    const seen = new Set<string>()
    let level = repetition
    for (;;) {
      const start = input.at
      const end = textEnd(input)
      const name = unescape(input.buf, start, end)
      // A key twice is no value that JSON parsers agree on.
      if (seen.has(name) || !name.isWellFormed()) undecodable()
      seen.add(name)
      if (!isPrinted(name, input, start, end, shape)) input.exact = false
      const bytes = Buffer.from(name)
      key.bytes(bytes, 0, bytes.length, level)
      input.at = end
      space(input)
      if (input.buf[input.at] !== 58) undecodable()
      input.at++
      const hasSpace = input.buf[input.at] === 32
      if (hasSpace) input.at++
      if (hasSpace !== (shape?.colon === ': ')) input.exact = false
      space(input)
      item(level)
      level = inner
      if (!more(input, shape, 125)) break
    }
    input.at++
  }
}

/** True when the string prints, in this shape, as it stands at [start, end). */
function isPrinted(text: string, input: Input, start: number, end: number, shape: JsonShape | null): boolean {
  return printString(text, shape?.ascii ?? false) === Buffer.from(input.buf.buffer, input.buf.byteOffset + start, end - start).toString()
}

function scalarReader(node: JsonNode, plan: Plan, context: DecodeContext): Read {
  const { input, shape } = context
  const sink = context.sink(plan.col)
  const below = nodeOf(context.tree, plan.col).definition - 1
  const floats = shape?.floats ?? 'js'
  const poison = (repetition: number): void => {
    input.exact = false
    sink.absent(below, repetition)
  }
  switch (node.kind) {
    case 'boolean':
      return (repetition) => {
        if (literalAt(input, TRUE)) sink.int(1, repetition)
        else if (literalAt(input, FALSE)) sink.int(0, repetition)
        else undecodable()
      }
    case 'integer':
      return (repetition) => {
        const short = shortInteger(input)
        if (!Number.isNaN(short)) return putNumber(sink, short, repetition)
        const text = numberText(input)
        if (/^-?(?:0|[1-9]\d{0,14})$/.test(text)) {
          if (text === '-0') input.exact = false
          return putNumber(sink, Number(text), repetition)
        }
        if (/^-?[1-9]\d*$/.test(text)) {
          const value = BigInt(text)
          return value <= INT64_MAX && value >= -INT64_MAX - 1n ? putWide(sink, value, repetition) : poison(repetition)
        }
        const value = Number(text)
        if (!Number.isSafeInteger(value)) return poison(repetition)
        input.exact = false
        putNumber(sink, value, repetition)
      }
    case 'number': {
      const bytes = Buffer.alloc(8)
      const view = new DataView(bytes.buffer, bytes.byteOffset, 8)
      return (repetition) => {
        let short = shortFraction(input)
        if (Number.isNaN(short) && floats === 'js') short = shortInteger(input)
        if (!Number.isNaN(short)) {
          view.setFloat64(0, short, true)
          return sink.bytes(bytes, 0, 8, repetition)
        }
        const text = numberText(input)
        const value = Number(text)
        if (!Number.isFinite(value)) return poison(repetition)
        if (printDouble(value, floats) !== text) input.exact = false
        bytes.writeDoubleLE(value)
        sink.bytes(bytes, 0, 8, repetition)
      }
    }
    case 'text':
      return (repetition) => {
        const start = input.at
        skipText(input)
        if (isText(input.buf, start, input.at)) sink.bytes(input.buf, start, input.at, repetition)
        else poison(repetition)
      }
    default:
      return stringReader(node, context, sink, poison)
  }
}

function stringReader(node: JsonNode, { input, shape }: DecodeContext, sink: LeafSink, poison: Read): Read {
  const ascii = shape?.ascii ?? false
  const uuid = new Uint8Array(16)
  const { kind } = node
  return (repetition) => {
    const start = input.at
    const end = kind === 'string' ? asciiEnd(input) : textEnd(input)
    if (end < 0) {
      input.at = -end
      return sink.bytes(input.buf, start + 1, -end - 1, repetition)
    }
    input.at = end
    if (kind === 'timestamp' || kind === 'date') {
      const isDate = kind === 'date'
      const short = isDate
        ? end - start === 12
          ? canonicalDay(input.buf, start + 1)
          : NaN
        : canonicalMicros(input.buf, start + 1, end - 1)
      if (!Number.isNaN(short)) return isDate ? sink.int(short, repetition) : putNumber(sink, short, repetition)
    }
    if (node.kind === 'string' && isPlain(input.buf, start + 1, end - 1, ascii)) {
      if (isText(input.buf, start + 1, end - 1)) return sink.bytes(input.buf, start + 1, end - 1, repetition)
      return poison(repetition)
    }
    if (!isText(input.buf, start, end)) return poison(repetition)
    const text = unescape(input.buf, start, end)
    if (!text.isWellFormed()) return poison(repetition)
    if (!isPrinted(text, input, start, end, shape)) input.exact = false
    if (node.kind === 'string') {
      const bytes = Buffer.from(text)
      return sink.bytes(bytes, 0, bytes.length, repetition)
    }
    if (node.kind === 'uuid') {
      if (readUuid(input.buf, start + 1, end - 1, uuid)) return sink.bytes(uuid, 0, 16, repetition)
      return poison(repetition)
    }
    if (node.kind === 'date') {
      const day = dayOf(text)
      if (day === null) return poison(repetition)
      if (printDay(day) !== text) input.exact = false
      return sink.int(day, repetition)
    }
    const micros = microsOf(text)
    if (micros === null) return poison(repetition)
    if (printMicros(micros.value) !== text) input.exact = false
    putWide(sink, micros.value, repetition)
  }
}

/** No escapes, and nothing that the shape would escape. */
function isPlain(buf: Uint8Array, start: number, end: number, ascii: boolean): boolean {
  for (let at = start; at < end; at++) {
    const byte = buf[at]
    if (byte === 92 || byte < 32 || (ascii && byte > 127)) return false
  }
  return true
}

/** A number's text; passes it over. */
function numberText(input: Input): string {
  const start = input.at
  const { buf, end } = input
  let { at } = input
  while (at < end) {
    const byte = buf[at]
    if (!((byte >= 48 && byte <= 57) || byte === 45 || byte === 46 || byte === 43 || byte === 101 || byte === 69)) break
    at++
  }
  let text = ''
  for (let i = start; i < at; i++) text += String.fromCharCode(buf[i])
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) undecodable()
  input.at = at
  return text
}
