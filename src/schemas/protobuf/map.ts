import { FrazilError } from '../../base/errors.ts'
import type { Mapped } from '../avro/map.ts'
import type { Wanted, WantedField } from '../columns/book.ts'
import { COLUMNS_MAX, DEPTH_MAX, type Plan } from '../columns/plan.ts'
import type { ProtoField, ProtoMessage } from './schema.ts'

/** Column types of proto's scalars; unsigned 64 bits need twenty digits. */
const SCALARS: Readonly<Record<string, string>> = {
  double: 'double',
  float: 'float',
  int32: 'int',
  sint32: 'int',
  sfixed32: 'int',
  uint32: 'long',
  fixed32: 'long',
  int64: 'long',
  sint64: 'long',
  sfixed64: 'long',
  uint64: 'decimal(20, 0)',
  fixed64: 'decimal(20, 0)',
  bool: 'boolean',
  string: 'string',
  bytes: 'binary',
  enum: 'string',
}

const WRAPPERS: ReadonlySet<string> = new Set(
  ['Double', 'Float', 'Int64', 'UInt64', 'Int32', 'UInt32', 'Bool', 'String', 'Bytes'].map((name) => `google.protobuf.${name}Value`),
)

function leaf(as: string, type: string): Mapped {
  const plan: Plan = { as, col: 0, kids: [] }
  return { plan, wanted: { type, assign: (id) => (plan.col = id) } }
}

function scalar(type: string): Mapped {
  const column = SCALARS[type]
  if (column === undefined) throw new FrazilError('SCHEMA_INVALID', `the Protobuf type ${type} is unknown`)
  return leaf(type, column)
}

/**
 * Maps a message (docs/TYPES.md). `above` are the messages around it: one that holds itself ends in bytes. `budget` counts
 * the parts that are still allowed. Errors: LIMIT, SCHEMA_INVALID.
 */
export function mapMessage(message: ProtoMessage, above: readonly ProtoMessage[] = [], budget = { left: COLUMNS_MAX }): Mapped {
  if (--budget.left < 0) throw new FrazilError('LIMIT', `the schema would make more than ${COLUMNS_MAX} columns`)
  if (above.length > 0) {
    if (message.name === 'google.protobuf.Timestamp') return leaf('timestamp', 'timestamptz')
    if (WRAPPERS.has(message.name) && message.fields.length === 1) {
      const inner = scalar(message.fields[0].type)
      return { plan: { as: 'wrapper', col: 0, kids: [inner.plan] }, wanted: inner.wanted }
    }
    if (above.includes(message) || above.length >= DEPTH_MAX) return leaf('opaque', 'binary')
  }
  const plan: Plan = { as: 'message', col: 0, kids: [] }
  const assign = (id: number): void => void (plan.col = id)
  const fields: WantedField[] = message.fields.map((field) => {
    const mapped = mapField(field, [...above, message], budget)
    plan.kids.push(mapped.plan)
    return { name: field.name, wanted: mapped.wanted! }
  })
  if (fields.length === 0 && above.length > 0) {
    // Parquet has no empty groups (hazard G4): that it is there is all that such a message says.
    plan.as = 'empty'
    return { plan, wanted: { type: 'boolean', assign } }
  }
  return { plan, wanted: { type: 'struct', fields, assign } }
}

function mapField(field: ProtoField, inside: readonly ProtoMessage[], budget: { left: number }): Mapped {
  if (--budget.left < 0) throw new FrazilError('LIMIT', `the schema would make more than ${COLUMNS_MAX} columns`)
  const value = field.message === null ? scalar(field.type) : mapMessage(field.message, inside, budget)
  if (field.label === 'one') return value
  const plan: Plan = { as: field.label, col: 0, kids: [value.plan] }
  const assign = (id: number): void => void (plan.col = id)
  let wanted: Wanted = { type: 'list', element: value.wanted!, assign }
  if (field.label === 'map') {
    const key = scalar(field.keyType)
    plan.kids.unshift(key.plan)
    wanted = { type: 'map', key: key.wanted!, value: value.wanted!, assign }
  }
  return { plan, wanted }
}
