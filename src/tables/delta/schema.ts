import type { Schema } from '../iceberg/types.ts'
import { decimalOf } from '../replicas/bounds.ts'
import { lastFieldId, type IcebergField, type IcebergType } from '../../schemas/columns/types.ts'

/** A Delta type as `schemaString` spells it (PROTOCOL.md, "Schema Serialization Format"). */
export type DeltaType = string | { readonly type: string; readonly [key: string]: unknown }

const PRIMITIVES: Readonly<Record<string, string>> = {
  boolean: 'boolean',
  int: 'integer',
  long: 'long',
  float: 'float',
  double: 'double',
  date: 'date',
  timestamptz: 'timestamp',
  timestamp: 'timestamp_ntz',
  string: 'string',
  binary: 'binary',
}

/**
 * The Delta type of an Iceberg type, or null where Delta has none (time of day, uuid, fixed, nanoseconds): such a column
 * is in the files and not in the Delta schema. A struct loses such fields, a list or map of them goes as a whole.
 */
export function deltaType(type: IcebergType, mapped = false): DeltaType | null {
  if (typeof type === 'string') {
    const decimal = decimalOf(type)
    return decimal === null ? (PRIMITIVES[type] ?? null) : `decimal(${decimal.precision},${decimal.scale})`
  }
  if (type.type === 'struct') {
    const fields = deltaFields(type.fields, mapped)
    return fields.length === 0 ? null : { type: 'struct', fields }
  }
  if (type.type === 'list') {
    const element = deltaType(type.element, mapped)
    return element === null ? null : { type: 'array', elementType: element, containsNull: !type['element-required'] }
  }
  const key = deltaType(type.key, mapped)
  const value = deltaType(type.value, mapped)
  return key === null || value === null ? null : { type: 'map', keyType: key, valueType: value, valueContainsNull: !type['value-required'] }
}

/** Fields, with their column mapping if asked: physical name = Parquet name = name, id = Iceberg's (T13). */
function deltaFields(fields: readonly IcebergField[], mapped: boolean): object[] {
  const made: object[] = []
  for (const { id, name, required, type: own, doc } of fields) {
    const type = deltaType(own, mapped)
    if (type === null) continue
    const mapping = mapped ? { 'delta.columnMapping.id': id, 'delta.columnMapping.physicalName': name } : {}
    made.push({ name, type, nullable: !required, metadata: { ...mapping, ...(doc === undefined ? {} : { comment: doc }) } })
  }
  return made
}

/** Characters that a name may have only under column mapping (Spark's Delta refuses the table otherwise). */
const AWKWARD = /[ ,;{}()\n\t=]/

/** True when a column, however deep, has a name that needs column mapping. */
function needsMapping(fields: readonly IcebergField[]): boolean {
  const inType = (type: IcebergType): boolean =>
    typeof type === 'object' &&
    (type.type === 'struct'
      ? needsMapping(type.fields)
      : type.type === 'list'
        ? inType(type.element)
        : inType(type.key) || inType(type.value))
  return fields.some((field) => AWKWARD.test(field.name) || inType(field.type))
}

export interface DeltaSchema {
  readonly schemaString: string
  readonly maxColumnId: number
  readonly mapped: boolean
  /** True when a column is a timestamp without zone, which needs a table feature (hazard L1). */
  readonly zoneless: boolean
}

/** `mapped`: the table has column mapping already, which is never taken back. */
export function deltaSchema(schema: Schema, mapped: boolean): DeltaSchema {
  const fields = schema.fields
  const maps = mapped || needsMapping(fields)
  const schemaString = JSON.stringify({ type: 'struct', fields: deltaFields(fields, maps) })
  return { schemaString, maxColumnId: lastFieldId(fields), mapped: maps, zoneless: schemaString.includes('"timestamp_ntz"') }
}
