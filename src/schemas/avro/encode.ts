import { FrazilError } from '../../base/errors.ts'
import { elementsAt, nodeOf, sameBytes, skipOf } from '../columns/tools.ts'
import type { Output } from '../columns/output.ts'
import { columnOf, strangersOf, type Plan } from '../columns/plan.ts'
import type { LeafSource } from '../columns/ports.ts'
import type { ColumnNode } from '../columns/tree.ts'
import { decimalBytes, primitiveOf } from '../columns/types.ts'
import { bigEndian, millisOf, signedBytes, wide, writeBigEndian, writeUuid } from '../columns/values.ts'
import type { AvroNode } from './schema.ts'

/** Writes one value from its columns, whose entries move on. Errors: CORRUPT when they are not as the recipe says. */
export type Encode = () => void

export interface EncodeContext {
  readonly output: Output
  readonly tree: ReadonlyMap<number, ColumnNode>
  readonly source: (id: number) => LeafSource
}

export function mismatch(): never {
  throw new FrazilError('CORRUPT', 'the columns of a row are not as its recipe says')
}

/** Makes the encoder of a schema from the plan that was made for it. */
export function avroEncoder(node: AvroNode, plan: Plan, context: EncodeContext): Encode {
  const { output } = context
  switch (plan.as) {
    case 'null':
      return () => {}
    case 'empty': {
      const source = context.source(plan.col)
      return () => void source.entry++
    }
    case 'record': {
      const kids = node.fields.map((field, i) => avroEncoder(field.node, plan.kids[i], context))
      const strangers = strangersOf(plan, context.tree).map(context.source)
      if (strangers.length > 0) kids.push(skipOf(strangers))
      return () => {
        for (let i = 0; i < kids.length; i++) kids[i]()
      }
    }
    case 'array':
    case 'map':
      return list(node, plan, context)
    case 'option': {
      const at = node.branches.findIndex((branch) => branch.kind !== 'null')
      const none = node.branches.findIndex((branch) => branch.kind === 'null')
      const value = avroEncoder(node.branches[at], plan.kids[at], context)
      const part = nodeOf(context.tree, columnOf(plan.kids[at]))
      const sources = part.leaves.map(context.source)
      const skip = skipOf(sources)
      const [first] = sources
      return () => {
        if (first.definition[first.entry] >= part.definition) {
          output.byte(at * 2)
          value()
        } else {
          if (none < 0) mismatch()
          output.byte(none * 2)
          skip()
        }
      }
    }
    case 'union':
      return union(node, plan, context)
    default:
      return leaf(node, plan, context)
  }
}

function list(node: AvroNode, plan: Plan, context: EncodeContext): Encode {
  const { output } = context
  const part = nodeOf(context.tree, plan.col)
  const sources = part.leaves.map(context.source)
  const skip = skipOf(sources)
  const [first] = sources
  const inner = part.repetition + 1
  const isMap = plan.as === 'map'
  const key = isMap ? context.source(plan.kids[0].col) : null
  const item = avroEncoder(node.items!, plan.kids[isMap ? 1 : 0], context)
  return () => {
    const definition = first.definition[first.entry]
    if (definition < part.definition) mismatch()
    if (definition === part.definition) {
      skip()
      output.byte(0)
      return
    }
    const count = elementsAt(first, inner)
    output.zigzag(0, count)
    for (let i = 0; i < count; i++) {
      if (key !== null) writeBlob(output, key)
      item()
    }
    output.byte(0)
  }
}

function union(node: AvroNode, plan: Plan, context: EncodeContext): Encode {
  const { output } = context
  const part = nodeOf(context.tree, plan.col)
  const sources = part.leaves.map(context.source)
  const skip = skipOf(sources)
  const [first] = sources
  const branches = node.branches.map((branch, index) => {
    if (branch.kind === 'null') return null
    const own = nodeOf(context.tree, columnOf(plan.kids[index]))
    return {
      index,
      definition: own.definition,
      first: context.source(own.leaves[0]),
      skip: skipOf(own.leaves.map(context.source)),
      write: avroEncoder(branch, plan.kids[index], context),
      others: skipOf(part.leaves.filter((id) => !own.leaves.includes(id)).map(context.source)),
    }
  })
  const none = branches.indexOf(null)
  return () => {
    if (first.definition[first.entry] < part.definition) {
      if (none < 0) mismatch()
      output.byte(none * 2)
      return skip()
    }
    for (const branch of branches) {
      if (branch === null || branch.first.definition[branch.first.entry] < branch.definition) continue
      output.zigzag(0, branch.index)
      branch.write()
      return branch.others()
    }
    mismatch()
  }
}

/** The index of the value at the current entry, which must be there; moves on. */
function valueOf(source: LeafSource): number {
  const index = source.valueAt[source.entry++]
  if (index < 0) mismatch()
  return index
}

function writeBlob(output: Output, source: LeafSource): void {
  const i = valueOf(source)
  const start = source.starts[i]
  const end = source.starts[i + 1]
  output.zigzag(0, end - start)
  output.bytes(source.data, start, end)
}

function leaf(node: AvroNode, plan: Plan, context: EncodeContext): Encode {
  const { output } = context
  const source = context.source(plan.col)
  const type = primitiveOf(nodeOf(context.tree, plan.col).type as string)
  switch (plan.as) {
    case 'boolean':
      return () => output.byte(source.ints[valueOf(source)])
    case 'int':
    case 'date':
      return type.kind === 'long'
        ? () => {
            const low = source.ints[2 * valueOf(source)]
            output.zigzag(low >> 31, low)
          }
        : () => {
            const value = source.ints[valueOf(source)]
            output.zigzag(value >> 31, value)
          }
    case 'long':
    case 'timeMicros':
    case 'micros':
      return () => {
        const i = valueOf(source)
        output.zigzag(source.ints[2 * i + 1], source.ints[2 * i])
      }
    case 'timeMillis':
    case 'millis':
      return () => {
        const i = valueOf(source)
        const millis = millisOf(source.ints[2 * i + 1], source.ints[2 * i])
        const high = Math.floor(millis / 4294967296)
        output.zigzag(high, (millis - high * 4294967296) | 0)
      }
    case 'nanos':
      return () => {
        const i = valueOf(source)
        const nanos = wide(source.ints[2 * i + 1], source.ints[2 * i]) * 1000n
        output.zigzag(Number(BigInt.asIntN(32, nanos >> 32n)), Number(BigInt.asIntN(32, nanos)))
      }
    case 'string':
    case 'bytes':
      return () => writeBlob(output, source)
    case 'float':
    case 'double':
    case 'fixed':
    case 'bytesOfFixed':
    case 'opaque':
      return () => {
        const i = valueOf(source)
        output.bytes(source.data, source.starts[i], source.starts[i + 1])
      }
    case 'uuidText':
      return () => {
        const i = valueOf(source)
        output.byte(72)
        output.room(36)
        writeUuid(source.data, source.starts[i], output.buf, output.at)
        output.at += 36
      }
    case 'enum':
      return enumeration(node, source, output)
    case 'decimalBytes':
    case 'decimalFixed':
      return decimal(node, plan, source, output, type.precision)
    default:
      throw new FrazilError('CORRUPT', `a recipe has a part of the unknown kind ${plan.as}`)
  }
}

function enumeration(node: AvroNode, source: LeafSource, output: Output): Encode {
  const symbols = new Map(node.symbols.map((symbol, i) => [symbol, i]))
  /** A short list beats a text and a map. */
  const known = node.symbols.slice(0, 32).map((symbol) => Buffer.from(symbol))
  return () => {
    const i = valueOf(source)
    const start = source.starts[i]
    const end = source.starts[i + 1]
    for (let index = 0; index < known.length; index++) {
      if (sameBytes(known[index], source.data, start, end)) return output.zigzag(0, index)
    }
    output.zigzag(0, symbols.get(Buffer.from(source.data.subarray(start, end)).toString()) ?? mismatch())
  }
}

function decimal(node: AvroNode, plan: Plan, source: LeafSource, output: Output, precision: number): Encode {
  const width = decimalBytes(precision)
  return () => {
    const i = valueOf(source)
    const value =
      precision <= 9
        ? BigInt(source.ints[i])
        : precision <= 18
          ? wide(source.ints[2 * i + 1], source.ints[2 * i])
          : bigEndian(source.data, source.starts[i], source.starts[i] + width)
    const size = plan.as === 'decimalFixed' ? node.size : signedBytes(value)
    if (plan.as === 'decimalBytes') output.zigzag(0, size)
    output.room(size)
    writeBigEndian(value, output.buf, output.at, size)
    output.at += size
  }
}
