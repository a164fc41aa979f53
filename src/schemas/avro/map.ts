import type { Wanted, WantedField } from '../columns/book.ts'
import { FrazilError } from '../../base/errors.ts'
import { COLUMNS_MAX, DEPTH_MAX, type Plan } from '../columns/plan.ts'
import { decimalType } from '../columns/types.ts'
import type { AvroNode } from './schema.ts'

/** A part of a schema as it shall be stored; `wanted` null when it needs no column (the type null). */
export interface Mapped {
  readonly plan: Plan
  readonly wanted: Wanted | null
}

/** The largest precision that Iceberg, Delta and Paimon know. */
const PRECISION_MAX = 38

function leaf(as: string, type: string): Mapped {
  const plan: Plan = { as, col: 0, kids: [] }
  return { plan, wanted: { type, assign: (id) => (plan.col = id) } }
}

/** How a primitive or logical type is stored; docs/TYPES.md is the table of it. */
function primitive(node: AvroNode): Mapped | null {
  const { kind, logical } = node
  switch (kind) {
    case 'boolean':
      return leaf('boolean', 'boolean')
    case 'int':
      return logical === 'date' ? leaf('date', 'date') : logical === 'time-millis' ? leaf('timeMillis', 'time') : leaf('int', 'int')
    case 'long':
      return long(node)
    case 'float':
      return leaf('float', 'float')
    case 'double':
      return leaf('double', 'double')
    case 'string':
      return logical === 'uuid' ? leaf('uuidText', 'uuid') : leaf('string', 'string')
    case 'bytes':
      return isDecimal(node) ? leaf('decimalBytes', decimal(node)) : leaf('bytes', 'binary')
    case 'fixed':
      if (node.size === 0) return leaf('bytesOfFixed', 'binary')
      if (isDecimal(node)) return leaf('decimalFixed', decimal(node))
      return node.logical === 'uuid' && node.size === 16 ? leaf('fixed', 'uuid') : leaf('fixed', `fixed[${node.size}]`)
    case 'enum':
      return leaf('enum', 'string')
    default:
      return null
  }
}

function long({ logical, adjustToUtc }: AvroNode): Mapped {
  switch (logical) {
    case 'time-micros':
      return leaf('timeMicros', 'time')
    case 'timestamp-millis':
      return leaf('millis', adjustToUtc === false ? 'timestamp' : 'timestamptz')
    case 'timestamp-micros':
      return leaf('micros', adjustToUtc === false ? 'timestamp' : 'timestamptz')
    case 'timestamp-nanos':
      return leaf('nanos', adjustToUtc === false ? 'timestamp' : 'timestamptz')
    case 'local-timestamp-millis':
      return leaf('millis', 'timestamp')
    case 'local-timestamp-micros':
      return leaf('micros', 'timestamp')
    case 'local-timestamp-nanos':
      return leaf('nanos', 'timestamp')
    default:
      return leaf('long', 'long')
  }
}

function isDecimal({ logical, precision, scale }: AvroNode): boolean {
  return logical === 'decimal' && precision >= 1 && scale >= 0 && scale <= precision && scale <= PRECISION_MAX
}

function decimal({ precision, scale }: AvroNode): string {
  return decimalType(Math.min(precision, PRECISION_MAX), scale)
}

/**
 * Maps a schema, or a part of one. `above` are the types around it: one that holds itself ends in bytes. `budget` counts
 * the parts that are still allowed. Errors: LIMIT.
 */
export function mapAvro(node: AvroNode, above: readonly AvroNode[] = [], budget = { left: COLUMNS_MAX }): Mapped {
  if (--budget.left < 0) throw new FrazilError('LIMIT', `the schema would make more than ${COLUMNS_MAX} columns`)
  const simple = primitive(node)
  if (simple !== null) return simple
  const plan: Plan = { as: node.kind, col: 0, kids: [] }
  if (node.kind === 'null') return { plan, wanted: null }
  if (above.includes(node) || above.length >= DEPTH_MAX) return leaf('opaque', 'binary')
  const inside = [...above, node]
  const assign = (id: number): void => void (plan.col = id)
  if (node.kind === 'array' || node.kind === 'map') {
    const item = mapAvro(node.items!, inside, budget)
    plan.kids.push(item.plan)
    // A list of nulls has nothing to show but its length: it stays bytes.
    if (item.wanted === null) return leaf('opaque', 'binary')
    if (node.kind === 'array') return { plan, wanted: { type: 'list', element: item.wanted, assign } }
    const key = leaf('string', 'string')
    plan.kids.unshift(key.plan)
    return { plan, wanted: { type: 'map', key: key.wanted!, value: item.wanted, assign } }
  }
  if (node.kind === 'record') {
    const fields = fieldsOf(node, plan, inside, budget)
    // Parquet has no empty groups (hazard G4): that it is there is all that such a record says.
    if (fields.length === 0 && above.length > 0) {
      plan.as = 'empty'
      return { plan, wanted: { type: 'boolean', assign } }
    }
    return { plan, wanted: { type: 'struct', fields, assign } }
  }
  return union(node, plan, inside, budget, assign)
}

function fieldsOf(node: AvroNode, plan: Plan, inside: readonly AvroNode[], budget: { left: number }): WantedField[] {
  const fields: WantedField[] = []
  for (const field of node.fields) {
    const mapped = mapAvro(field.node, inside, budget)
    plan.kids.push(mapped.plan)
    if (mapped.wanted !== null)
      fields.push({ name: field.name, wanted: mapped.wanted, ...(field.doc === undefined ? {} : { doc: field.doc }) })
  }
  return fields
}

/** `[null, T]` is T; several types become a struct with one field each, named by type, of which one is there. */
function union(node: AvroNode, plan: Plan, inside: readonly AvroNode[], budget: { left: number }, assign: (id: number) => void): Mapped {
  const { branches } = node
  const real = branches.filter((branch) => branch.kind !== 'null')
  if (real.length === 0) return leaf('opaque', 'binary')
  const mapped = branches.map((branch) => mapAvro(branch, inside, budget))
  plan.kids.push(...mapped.map((one) => one.plan))
  if (real.length === 1) {
    plan.as = 'option'
    return { plan, wanted: mapped[branches.indexOf(real[0])].wanted }
  }
  const short = real.map((branch) => (branch.name === '' ? branch.kind : branch.name.slice(branch.name.lastIndexOf('.') + 1)))
  const fields: WantedField[] = []
  real.forEach((branch, i) => {
    const isUnique = short.indexOf(short[i]) === i && short.lastIndexOf(short[i]) === i
    const { wanted } = mapped[branches.indexOf(branch)]
    if (wanted !== null) fields.push({ name: isUnique ? short[i] : branch.name, wanted })
  })
  return { plan, wanted: { type: 'struct', fields, assign } }
}
