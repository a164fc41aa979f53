import type { Field, Fields, Message, ScalarType } from '../schema.ts'
import { inRange, parseVersions } from '../versions.ts'

/** One field as one version sees it. */
export interface PlanField {
  readonly name: string
  /** Dotted path for error sentences: 'topics.partitions.index'. */
  readonly path: string
  readonly type: ScalarType | 'struct' | 'array'
  /** The element of an array of scalars. */
  readonly of?: ScalarType
  /** The fields of a struct, or of the elements of an array of structs. */
  readonly struct?: Plan
  /** 'body': in field order; 'tagged': in the tagged section; 'absent': not in this version. */
  readonly place: 'body' | 'tagged' | 'absent'
  readonly tag: number
  readonly compact: boolean
  readonly nullable: boolean
  readonly ignorable: boolean
  /** Null, a scalar, or undefined for what has no scalar default: empty bytes, empty array, struct of defaults. */
  readonly default: string | number | boolean | null | undefined
}

/** One struct as one version sees it: every field of the definition, in wire order. */
export interface Plan {
  readonly flexible: boolean
  readonly fields: readonly PlanField[]
  /** The tagged fields of this version by ascending tag. */
  readonly tagged: readonly PlanField[]
}

const ZERO_UUID = '00000000-0000-0000-0000-000000000000'

/** Resolves a definition for one version. */
export function planOf(message: Message, version: number): Plan {
  return planStruct(message.fields, version, inRange(parseVersions(message.flexibleVersions), version), '')
}

function planStruct(fields: Fields, version: number, flexible: boolean, prefix: string): Plan {
  const planned = Object.entries(fields).map(([name, field]) => planField(name, field, version, flexible, prefix))
  const tagged = planned.filter((field) => field.place === 'tagged').sort((a, b) => a.tag - b.tag)
  return { flexible, fields: planned, tagged }
}

function planField(name: string, field: Field, version: number, flexible: boolean, prefix: string): PlanField {
  const path = prefix + name
  const nested = 'fields' in field ? field.fields : undefined
  const present = inRange(parseVersions(field.versions), version)
  return {
    name,
    path,
    type: field.type,
    of: field.type === 'array' && 'of' in field ? field.of : undefined,
    struct: nested && planStruct(nested, version, flexible, path + '.'),
    place: !present ? 'absent' : field.tag === undefined ? 'body' : 'tagged',
    tag: field.tag ?? -1,
    compact: flexible && field.flexible !== 'none',
    nullable: inRange(parseVersions(field.nullable), version),
    ignorable: field.ignorable === true,
    default: field.default === undefined ? implicitDefault(field.type) : field.default,
  }
}

function implicitDefault(type: Field['type']): string | number | boolean | null | undefined {
  switch (type) {
    case 'array':
    case 'struct':
    case 'bytes':
      return undefined
    case 'bool':
      return false
    case 'string':
      return ''
    case 'uuid':
      return ZERO_UUID
    case 'records':
      return null
    default:
      return 0
  }
}

/** Bytes of a scalar of fixed size; 0 for the others. */
export function fixedBytes(type: PlanField['type']): number {
  switch (type) {
    case 'bool':
    case 'int8':
      return 1
    case 'int16':
    case 'uint16':
      return 2
    case 'int32':
    case 'uint32':
      return 4
    case 'int64':
    case 'float64':
      return 8
    case 'uuid':
      return 16
    default:
      return 0
  }
}

/** The fewest bytes that one value of this type takes. */
export function minBytes(type: PlanField['type'], compact: boolean, struct?: Plan, nullable = false): number {
  if (type === 'struct') return nullable ? 1 : minStructBytes(struct as Plan)
  const fixed = fixedBytes(type)
  if (fixed > 0) return fixed
  return compact ? 1 : type === 'string' ? 2 : 4
}

function minStructBytes(plan: Plan): number {
  let total = plan.flexible ? 1 : 0
  for (const field of plan.fields) {
    if (field.place === 'body') total += minBytes(field.type, field.compact, field.struct, field.nullable)
  }
  return total
}
