import { mismatch, type EncodeContext } from '../avro/encode.ts'
import { strangersOf, type Plan } from '../columns/plan.ts'
import type { LeafSource } from '../columns/ports.ts'
import { elementsAt, nodeOf, skipOf } from '../columns/tools.ts'
import { wide, writeUuid } from '../columns/values.ts'
import { putDay, putMicros } from './canonicalTimes.ts'
import { Decimal } from './numbers.ts'
import type { JsonNode } from './schema.ts'
import { printDouble, printString, type JsonShape } from './shape.ts'
import { printMicros } from './times.ts'

type Write = () => void

const NULL = Buffer.from('null')
const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')
const POINT_ZERO = Buffer.from('.0')

/** Makes the writer of a value's text in this shape. Errors: CORRUPT. */
export function jsonEncoder(node: JsonNode, plan: Plan, context: EncodeContext, shape: JsonShape): Write {
  if (node.kind === 'object' && plan.col === 0) return objectWriter(node, plan, context, shape)
  return valueWriter(node, plan, context, shape)
}

function valueWriter(node: JsonNode, plan: Plan, context: EncodeContext, shape: JsonShape): Write {
  const { output } = context
  const part = nodeOf(context.tree, plan.col)
  const sources = part.leaves.map(context.source)
  const [first] = sources
  const skip = skipOf(sources)
  const write = kindWriter(node, plan, context, shape)
  return () => {
    if (first.definition[first.entry] >= part.definition) return write()
    skip()
    output.bytes(NULL, 0, 4)
  }
}

function kindWriter(node: JsonNode, plan: Plan, context: EncodeContext, shape: JsonShape): Write {
  if (node.kind === 'object') return objectWriter(node, plan, context, shape)
  if (node.kind === 'array' || node.kind === 'map') return listWriter(node, plan, context, shape)
  return scalarWriter(node, plan, context, shape)
}

function objectWriter(node: JsonNode, plan: Plan, context: EncodeContext, shape: JsonShape): Write {
  const { output } = context
  const { order, nulls } = shape.objects[node.number] ?? { order: [], nulls: [] }
  const comma = Buffer.from(shape.comma)
  const fields = node.fields.map((field, index) => {
    const part = nodeOf(context.tree, plan.kids[index].col)
    const sources = part.leaves.map(context.source)
    return {
      key: Buffer.from(printString(field.name, shape.ascii) + shape.colon),
      first: sources[0],
      definition: part.definition,
      skip: skipOf(sources),
      isWritten: nulls.includes(index),
      write: valueWriter(field.node, plan.kids[index], context, shape),
    }
  })
  const written = order.map((index) => fields[index])
  const left = fields.filter((_, index) => !order.includes(index))
  const strangers = skipOf(strangersOf(plan, context.tree).map(context.source))
  return () => {
    output.byte(123)
    let isFirst = true
    for (const field of written) {
      const isThere = field.first.definition[field.first.entry] >= field.definition
      if (!isThere && !field.isWritten) {
        field.skip()
        continue
      }
      if (!isFirst) output.bytes(comma, 0, comma.length)
      isFirst = false
      output.bytes(field.key, 0, field.key.length)
      field.write()
    }
    for (const field of left) field.skip()
    strangers()
    output.byte(125)
  }
}

function listWriter(node: JsonNode, plan: Plan, context: EncodeContext, shape: JsonShape): Write {
  const { output } = context
  const part = nodeOf(context.tree, plan.col)
  const sources = part.leaves.map(context.source)
  const [first] = sources
  const skip = skipOf(sources)
  const inner = part.repetition + 1
  const isMap = node.kind === 'map'
  const key = isMap ? context.source(plan.kids[0].col) : null
  const item = valueWriter(node.items!, plan.kids[isMap ? 1 : 0], context, shape)
  const comma = Buffer.from(shape.comma)
  const colon = Buffer.from(shape.colon)
  return () => {
    output.byte(isMap ? 123 : 91)
    if (first.definition[first.entry] === part.definition) skip()
    else {
      const count = elementsAt(first, inner)
      for (let i = 0; i < count; i++) {
        if (i > 0) output.bytes(comma, 0, comma.length)
        if (key !== null) {
          string(output, key, shape.ascii)
          output.bytes(colon, 0, colon.length)
        }
        item()
      }
    }
    output.byte(isMap ? 125 : 93)
  }
}

function indexOf(source: LeafSource): number {
  const index = source.valueAt[source.entry++]
  if (index < 0) mismatch()
  return index
}

/** A string: as it stands where nothing in it is escaped. */
function string(output: EncodeContext['output'], source: LeafSource, ascii: boolean): void {
  const i = indexOf(source)
  const { data } = source
  const start = source.starts[i]
  const end = source.starts[i + 1]
  for (let at = start; at < end; at++) {
    const byte = data[at]
    if (byte === 34 || byte === 92 || byte < 32 || (ascii && byte > 127)) {
      return output.text(printString(Buffer.from(data.subarray(start, end)).toString(), ascii))
    }
  }
  output.byte(34)
  output.bytes(data, start, end)
  output.byte(34)
}

function scalarWriter(node: JsonNode, plan: Plan, context: EncodeContext, shape: JsonShape): Write {
  const { output } = context
  const source = context.source(plan.col)
  switch (node.kind) {
    case 'boolean':
      return () => {
        const literal = source.ints[indexOf(source)] === 1 ? TRUE : FALSE
        output.bytes(literal, 0, literal.length)
      }
    case 'integer':
      return () => {
        const i = indexOf(source)
        const high = source.ints[2 * i + 1]
        const low = source.ints[2 * i]
        const isSmall = high < 2 ** 20 && high >= -(2 ** 20)
        if (isSmall) output.decimal(high * 4294967296 + (low >>> 0), 0)
        else output.text(String(wide(high, low)))
      }
    case 'number': {
      const bytes = new Uint8Array(8)
      const view = new DataView(bytes.buffer)
      const decimal = new Decimal()
      const isPython = shape.floats === 'python'
      return () => {
        const start = source.starts[indexOf(source)]
        const { data } = source
        for (let i = 0; i < 8; i++) bytes[i] = data[start + i]
        const value = view.getFloat64(0, true)
        if (!decimal.of(value)) return output.text(printDouble(value, shape.floats))
        output.decimal(value < 0 ? -decimal.whole : decimal.whole, decimal.places)
        if (isPython && decimal.places === 0) output.bytes(POINT_ZERO, 0, 2)
      }
    }
    case 'text':
      return () => {
        const i = indexOf(source)
        output.bytes(source.data, source.starts[i], source.starts[i + 1])
      }
    case 'uuid':
      return () => {
        const i = indexOf(source)
        output.room(38)
        output.byte(34)
        writeUuid(source.data, source.starts[i], output.buf, output.at)
        output.at += 36
        output.byte(34)
      }
    case 'date':
      return () => {
        output.room(12)
        output.buf[output.at++] = 34
        putDay(output, source.ints[indexOf(source)])
        output.buf[output.at++] = 34
      }
    case 'timestamp':
      return () => {
        const i = indexOf(source)
        const high = source.ints[2 * i + 1]
        const low = source.ints[2 * i]
        if (!putMicros(output, high, low)) output.text(`"${printMicros(wide(high, low))}"`)
      }
    default:
      return () => string(output, source, shape.ascii)
  }
}
