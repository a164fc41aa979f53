import { Undecodable } from '../columns/input.ts'

/** Thrown when fields do not stand in their order: the bytes may be a message all the same. */
export const NotCanonical = new Undecodable('the fields of the message do not stand in their order')

const VARINTS: ReadonlySet<string> = new Set(['int32', 'int64', 'uint32', 'uint64', 'sint32', 'sint64', 'bool', 'enum'])

/** The wire type of a scalar type. */
export function wireTypeOf(type: string): number {
  if (VARINTS.has(type)) return 0
  if (type === 'fixed64' || type === 'sfixed64' || type === 'double') return 1
  return type === 'fixed32' || type === 'sfixed32' || type === 'float' ? 5 : 2
}
