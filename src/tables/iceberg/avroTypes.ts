import avro, { type Type } from 'avsc'
import type { LongId } from './types.ts'

/** A long that keeps all 64 bits: numbers while they are exact, else BigInt. Only ids need it; counts stay plain. */
const idType = avro.types.LongType.__with({
  fromBuffer: (bytes: Buffer): LongId => shrink(bytes.readBigInt64LE()),
  toBuffer: (value: LongId): Buffer => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(value))
    return bytes
  },
  fromJSON: (value: unknown): LongId => shrink(BigInt(value as LongId)),
  toJSON: (value: LongId): LongId => value,
  isValid: (value: unknown): boolean => typeof value === 'bigint' || Number.isSafeInteger(value),
  compare: (a: LongId, b: LongId): -1 | 0 | 1 => (a < b ? -1 : a > b ? 1 : 0),
})

function shrink(value: bigint): LongId {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** Field ids of the spec whose value is a snapshot id: manifest entry 1, manifest list 503. */
const ID_FIELDS: ReadonlySet<unknown> = new Set([1, 503])

/** Partition fields have ids from here on; their longs may be any. */
const FIRST_PARTITION_ID = 1000

function isPartition(id: unknown): boolean {
  return typeof id === 'number' && id >= FIRST_PARTITION_ID
}

/** The avsc type of an Avro schema, with partition values and snapshot ids exact over 64 bits. */
export function avroType(schema: unknown): Type {
  const ids = new WeakSet<object>()
  const mark = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(mark)
    if (typeof node !== 'object' || node === null) return node
    const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, mark(value)]))
    if (ID_FIELDS.has(copy['field-id']) || isPartition(copy['field-id'])) copy['type'] = toId(copy['type'])
    return copy
  }
  const toId = (type: unknown): unknown => {
    if (Array.isArray(type)) return type.map(toId)
    const isLong = type === 'long' || (typeof type === 'object' && type !== null && (type as { type?: unknown }).type === 'long')
    if (!isLong) return type
    const wrapped = { type: 'long' }
    ids.add(wrapped)
    return wrapped
  }
  return avro.Type.forSchema(mark(schema) as avro.Schema, {
    typeHook: (attributes) => (typeof attributes === 'object' && ids.has(attributes) ? idType : undefined) as Type,
  })
}
