import type { LeafSink } from '../columns/ports.ts'
import { Input, undecodable, WEIGHTLESS_MAX } from '../columns/input.ts'
import { columnOf, strangersOf, type Plan } from '../columns/plan.ts'
import { absentOf, nodeOf, type Absent } from '../columns/tools.ts'
import type { ColumnNode } from '../columns/tree.ts'
import { isText } from '../columns/values.ts'
import { leafDecoder } from './leaves.ts'
import type { AvroNode } from './schema.ts'
import { skipper } from './skip.ts'

/** Reads one value from the input into its columns, its first entry at this repetition level. Errors: Undecodable. */
export type Decode = (repetition: number) => void

export interface DecodeContext {
  readonly input: Input
  readonly tree: ReadonlyMap<number, ColumnNode>
  readonly sink: (id: number) => LeafSink
}

/** Makes the decoder of a schema from the plan that was made for it. */
export function avroDecoder(node: AvroNode, plan: Plan, context: DecodeContext): Decode {
  const { input } = context
  switch (plan.as) {
    case 'null':
      return () => {}
    case 'record': {
      const kids = node.fields.map((field, i) => avroDecoder(field.node, plan.kids[i], context))
      const strangers = strangersOf(plan, context.tree).map(context.sink)
      if (strangers.length > 0) {
        const { definition } = nodeOf(context.tree, plan.col)
        const absent = absentOf(strangers)
        kids.push((repetition) => absent(definition, repetition))
      }
      if (kids.length === 1) return kids[0]
      return (repetition) => {
        for (let i = 0; i < kids.length; i++) kids[i](repetition)
      }
    }
    case 'array':
      return array(node, plan, context)
    case 'map':
      return map(node, plan, context)
    case 'option':
      return option(node, plan, context)
    case 'union':
      return union(node, plan, context)
    case 'empty': {
      const sink = context.sink(plan.col)
      const kids = node.fields.map((field) => skipper(field.node, input))
      return (repetition) => {
        for (const kid of kids) kid()
        sink.int(1, repetition)
      }
    }
    case 'opaque': {
      const sink = context.sink(plan.col)
      const skip = skipper(node, input)
      return (repetition) => {
        const start = input.at
        skip()
        sink.bytes(input.buf, start, input.at, repetition)
      }
    }
    default:
      return leafDecoder(node, plan, context)
  }
}

function absence(id: number, { tree, sink }: DecodeContext): { part: ColumnNode; absent: Absent } {
  const part = nodeOf(tree, id)
  return { part, absent: absentOf(part.leaves.map(sink)) }
}

/** Reads the count of a block; a negative one is followed by its size in bytes. */
function blockCount(input: Input): number {
  input.zigzag()
  let { low } = input
  if (input.high < 0) {
    low = -low | 0
    if (input.high !== -1 || low <= 0) undecodable()
    input.exact = false
    input.zigzag()
  } else if (input.high !== 0 || low < 0) undecodable()
  return low
}

function array(node: AvroNode, plan: Plan, context: DecodeContext): Decode {
  const { input } = context
  const { part, absent } = absence(plan.col, context)
  const item = avroDecoder(node.items!, plan.kids[0], context)
  const inner = part.repetition + 1
  return (repetition) => {
    let count = blockCount(input)
    if (count === 0) return absent(part.definition, repetition)
    let level = repetition
    for (let blocks = 0; count > 0; blocks++) {
      if (blocks > 0) input.exact = false
      if (count > WEIGHTLESS_MAX && count > input.end - input.at) undecodable()
      const start = input.at
      for (let i = 0; i < count; i++) {
        item(level)
        level = inner
      }
      input.passed(count, start)
      count = blockCount(input)
    }
  }
}

function map(node: AvroNode, plan: Plan, context: DecodeContext): Decode {
  const { input } = context
  const { part, absent } = absence(plan.col, context)
  const sinks = part.leaves.map(context.sink)
  const key = context.sink(plan.kids[0].col)
  const item = avroDecoder(node.items!, plan.kids[1], context)
  const inner = part.repetition + 1
  const marks: number[] = []
  return (repetition) => {
    let count = blockCount(input)
    if (count === 0) return absent(part.definition, repetition)
    let mark = 0
    for (const sink of sinks) mark = sink.save(marks, mark, false)
    const seen = new Set<string>()
    let isWhole = true
    let level = repetition
    for (let blocks = 0; count > 0; blocks++) {
      if (blocks > 0) input.exact = false
      for (let i = 0; i < count; i++) {
        const size = input.length()
        const at = input.skip(size)
        const name = Buffer.from(input.buf.buffer, input.buf.byteOffset + at, size).toString('latin1')
        if (seen.has(name) || !isText(input.buf, at, at + size)) isWhole = false
        seen.add(name)
        key.bytes(input.buf, at, at + size, level)
        item(level)
        level = inner
      }
      count = blockCount(input)
    }
    if (isWhole) return
    // T4: a map with a key twice, or one that is no text, would make the table unreadable.
    mark = 0
    for (const sink of sinks) mark = sink.restore(marks, mark)
    input.exact = false
    absent(part.definition - 1, repetition)
  }
}

function option(node: AvroNode, plan: Plan, context: DecodeContext): Decode {
  const { input } = context
  const at = node.branches.findIndex((branch) => branch.kind !== 'null')
  const value = avroDecoder(node.branches[at], plan.kids[at], context)
  const { part, absent } = absence(columnOf(plan.kids[at]), context)
  const below = part.definition - 1
  const branches = node.branches.length
  return (repetition) => {
    const branch = input.length()
    if (branch === at) value(repetition)
    else if (branch < branches) absent(below, repetition)
    else undecodable()
  }
}

function union(node: AvroNode, plan: Plan, context: DecodeContext): Decode {
  const { input } = context
  const { part, absent } = absence(plan.col, context)
  const branches = node.branches.map((branch, i) => {
    if (branch.kind === 'null') return null
    const own = nodeOf(context.tree, columnOf(plan.kids[i]))
    const others = part.leaves.filter((leaf) => !own.leaves.includes(leaf)).map(context.sink)
    return { read: avroDecoder(branch, plan.kids[i], context), others: absentOf(others) }
  })
  return (repetition) => {
    const index = input.length()
    if (index >= branches.length) undecodable()
    const branch = branches[index]
    if (branch === null) return absent(part.definition - 1, repetition)
    branch.read(repetition)
    branch.others(part.definition, repetition)
  }
}
