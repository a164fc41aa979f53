import type { Schema } from '../iceberg/types.ts'
import { decimalOf } from '../replicas/bounds.ts'
import type { IcebergField, IcebergType } from '../../schemas/columns/types.ts'

/** A Paimon type: an SQL string, or an object for nested ones (Paimon's schema file). */
export type PaimonType = string | { readonly type: string; readonly [key: string]: unknown }

export interface PaimonField {
  readonly id: number
  readonly name: string
  readonly type: PaimonType
  readonly description?: string
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  boolean: 'BOOLEAN',
  int: 'INT',
  long: 'BIGINT',
  float: 'FLOAT',
  double: 'DOUBLE',
  date: 'DATE',
  timestamptz: 'TIMESTAMP(6) WITH LOCAL TIME ZONE',
  timestamp: 'TIMESTAMP(6)',
  string: 'STRING',
  binary: 'BYTES',
}

/**
 * The Paimon type of an Iceberg type, or null where Paimon reads such a Parquet column otherwise or not at all (time of day
 * is stored in milliseconds there, there is no uuid): such a column is in the files and not in the Paimon schema.
 */
export function paimonType(type: IcebergType, required: boolean): PaimonType | null {
  const suffix = required ? ' NOT NULL' : ''
  if (typeof type === 'string') {
    const decimal = decimalOf(type)
    const name = decimal === null ? PRIMITIVES[type] : `DECIMAL(${decimal.precision}, ${decimal.scale})`
    return name === undefined ? null : name + suffix
  }
  if (type.type === 'struct') {
    const fields = paimonFields(type.fields)
    return fields.length === 0 ? null : { type: `ROW${suffix}`, fields }
  }
  if (type.type === 'list') {
    const element = paimonType(type.element, type['element-required'])
    return element === null ? null : { type: `ARRAY${suffix}`, element }
  }
  const key = paimonType(type.key, true)
  const value = paimonType(type.value, type['value-required'])
  return key === null || value === null ? null : { type: `MAP${suffix}`, key, value }
}

/** Fields with Iceberg's ids; files are read by name (T13). */
export function paimonFields(fields: readonly IcebergField[]): PaimonField[] {
  const made: PaimonField[] = []
  for (const { id, name, required, type: own, doc } of fields) {
    const type = paimonType(own, required)
    if (type !== null) made.push({ id, name, type, ...(doc === undefined ? {} : { description: doc }) })
  }
  return made
}

/** A schema file without its number and date, which say nothing about the table. */
export interface PaimonSchema {
  readonly fields: readonly PaimonField[]
  readonly highestFieldId: number
  readonly options: Readonly<Record<string, string>>
  readonly comment: string
}

export const STOPPED_KEY = 'frazil.stopped-at'

export function paimonSchema(schema: Schema, highestFieldId: number, topic: { readonly name: string; readonly id: string }): PaimonSchema {
  return {
    fields: paimonFields(schema.fields),
    highestFieldId,
    options: {
      // An append table without buckets: the shape in which any file is a file of the table (hazard L8).
      bucket: '-1',
      'file.format': 'parquet',
      // No writer of Paimon's own expires or compacts what is ours (T17).
      'write-only': 'true',
      'frazil.topic-id': topic.id,
    },
    comment: `Topic ${topic.name}`,
  }
}

/** The text of `schema-<id>`. */
export function printSchema(schema: PaimonSchema, id: number, nowMs: number): string {
  return JSON.stringify({
    version: 3,
    id,
    fields: schema.fields,
    highestFieldId: schema.highestFieldId,
    partitionKeys: [],
    primaryKeys: [],
    options: schema.options,
    comment: schema.comment,
    timeMillis: nowMs,
  })
}

export function parseSchema(text: string): PaimonSchema {
  const { fields, highestFieldId, options, comment } = JSON.parse(text) as PaimonSchema
  return { fields, highestFieldId, options, comment }
}

/** What a file must have to be read under a schema: its leaf columns by id (elements of lists and maps have none here). */
export function historyOf(id: number, schema: PaimonSchema): { id: number; leaves: number[]; names: string[] } {
  const leaves: number[] = []
  const inType = (type: PaimonType, fieldId: number): void => {
    if (typeof type === 'string') {
      if (fieldId > 0) leaves.push(fieldId)
    } else if (Array.isArray(type['fields'])) for (const field of type['fields'] as PaimonField[]) inType(field.type, field.id)
    else for (const part of ['element', 'key', 'value']) if (type[part] !== undefined) inType(type[part] as PaimonType, 0)
  }
  for (const field of schema.fields) inType(field.type, field.id)
  return { id, leaves, names: schema.fields.map((field) => field.name) }
}
