import { undecodable, type Input } from '../columns/input.ts'
import type { AvroNode } from './schema.ts'

/** Nesting of values in what is passed over; a chain of a recursive type may be that long. */
const NESTING_MAX = 1000

/**
 * Passes over one value of a type that has no columns of its own, checking that it is one. Its bytes are kept as they
 * are, so nothing in them makes a row inexact.
 */
export function skipper(node: AvroNode, input: Input, known = new Map<AvroNode, () => void>()): () => void {
  const made = known.get(node)
  if (made !== undefined) return made
  let skip: () => void = () => {}
  // Recursive types meet this one while it is being made.
  known.set(node, () => {
    if (++input.depth > NESTING_MAX) undecodable()
    skip()
    input.depth--
  })
  const number = (): void => input.varint()
  const blob = (): void => void input.skip(input.length())
  switch (node.kind) {
    case 'null':
      break
    case 'boolean':
      skip = () => {
        if (input.buf[input.skip(1)] > 1) undecodable()
      }
      break
    case 'int':
    case 'long':
    case 'enum':
      skip = number
      break
    case 'float':
      skip = () => void input.skip(4)
      break
    case 'double':
      skip = () => void input.skip(8)
      break
    case 'bytes':
    case 'string':
      skip = blob
      break
    case 'fixed':
      skip = () => void input.skip(node.size)
      break
    case 'record': {
      const fields = node.fields.map((field) => skipper(field.node, input, known))
      skip = () => {
        for (const field of fields) field()
      }
      break
    }
    case 'union': {
      const branches = node.branches.map((branch) => skipper(branch, input, known))
      skip = () => {
        const index = input.length()
        if (index >= branches.length) undecodable()
        branches[index]()
      }
      break
    }
    default: {
      const item = skipper(node.items!, input, known)
      skip = () => {
        for (;;) {
          input.zigzag()
          if (input.high < 0) {
            // Its size in bytes follows.
            input.skip(input.length())
            continue
          }
          const count = input.low
          if (input.high !== 0 || count < 0 || count > (input.end - input.at) * 8 + 100_000) undecodable()
          if (count === 0) return
          const start = input.at
          for (let i = 0; i < count; i++) {
            if (node.kind === 'map') blob()
            item()
          }
          input.passed(count, start)
        }
      }
    }
  }
  return known.get(node)!
}
