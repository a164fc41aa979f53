import { Undecodable, undecodable, type Input } from '../columns/input.ts'

/** Thrown when fields do not stand in their order: the bytes may be a message all the same. */
export const NotCanonical = new Undecodable('the fields of the message do not stand in their order')

const VARINTS: ReadonlySet<string> = new Set(['int32', 'int64', 'uint32', 'uint64', 'sint32', 'sint64', 'bool', 'enum'])

/** The wire type of a scalar type. */
export function wireTypeOf(type: string): number {
  if (VARINTS.has(type)) return 0
  if (type === 'fixed64' || type === 'sfixed64' || type === 'double') return 1
  return type === 'fixed32' || type === 'sfixed32' || type === 'float' ? 5 : 2
}

export function notCanonical(): never {
  throw NotCanonical
}

/** Reads the length of what follows. */
export function sizeOf(input: Input): number {
  input.varint()
  if (input.high !== 0 || input.low < 0) undecodable()
  return input.low
}

/** Passes the next tag over when it is this one, in its shortest form. */
export function nextIs(input: Input, tag: number): boolean {
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
