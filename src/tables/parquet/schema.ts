import { FrazilError } from '../../base/errors.ts'
import type { IcebergField, IcebergType } from '../row/schema.ts'

/** Parquet's physical types that we write (parquet.thrift, Type). */
export const Physical = { boolean: 0, int32: 1, int64: 2, bytes: 6 } as const
/** FieldRepetitionType. */
export const Repetition = { required: 0, optional: 1, repeated: 2 } as const

export type LogicalKind = 'string' | 'timestamptz' | 'list'

/** One element of the flattened schema tree of a Parquet footer. */
export interface SchemaElement {
  readonly name: string
  readonly repetition?: number
  readonly physical?: number
  readonly logical?: LogicalKind
  readonly children?: number
  readonly fieldId?: number
}

/** A column as Parquet stores it: one leaf of the schema tree. */
export interface Leaf {
  readonly id: number
  readonly path: readonly string[]
  readonly physical: number
  readonly logical?: LogicalKind
  readonly maxDefinition: number
  readonly maxRepetition: number
}

export interface ParquetSchema {
  readonly elements: readonly SchemaElement[]
  readonly leaves: readonly Leaf[]
}

const PRIMITIVES: Readonly<Record<string, { readonly physical: number; readonly logical?: LogicalKind }>> = {
  int: { physical: Physical.int32 },
  long: { physical: Physical.int64 },
  string: { physical: Physical.bytes, logical: 'string' },
  binary: { physical: Physical.bytes },
  timestamptz: { physical: Physical.int64, logical: 'timestamptz' },
}

/**
 * The Parquet schema of Iceberg fields (Iceberg spec, Appendix A): every element carries its field id (hazard I4), lists
 * have the three-level shape with the names `list` and `element` (hazard I15). Errors: REFUSED for a type not written yet.
 */
export function parquetSchema(fields: readonly IcebergField[]): ParquetSchema {
  const elements: SchemaElement[] = [{ name: 'table', children: fields.length }]
  const leaves: Leaf[] = []

  const add = (
    name: string,
    id: number,
    repetition: number,
    type: IcebergType,
    path: readonly string[],
    definition: number,
    repeated: number,
  ): void => {
    const here = [...path, name]
    const depth = definition + (repetition === Repetition.optional ? 1 : 0)
    if (typeof type === 'string') {
      const primitive = PRIMITIVES[type]
      if (primitive === undefined)
        throw new FrazilError('REFUSED', `column ${here.join('.')} has type ${type}, which table files do not hold`)
      elements.push({ name, repetition, ...primitive, fieldId: id })
      leaves.push({ id, path: here, ...primitive, maxDefinition: depth, maxRepetition: repeated })
    } else if (type.type === 'struct') {
      elements.push({ name, repetition, children: type.fields.length, fieldId: id })
      for (const field of type.fields) addField(field, here, depth, repeated)
    } else {
      elements.push({ name, repetition, logical: 'list', children: 1, fieldId: id })
      elements.push({ name: 'list', repetition: Repetition.repeated, children: 1 })
      const element = type['element-required'] ? Repetition.required : Repetition.optional
      add('element', type['element-id'], element, type.element, [...here, 'list'], depth + 1, repeated + 1)
    }
  }
  const addField = (field: IcebergField, path: readonly string[], definition: number, repeated: number): void =>
    add(field.name, field.id, field.required ? Repetition.required : Repetition.optional, field.type, path, definition, repeated)

  for (const field of fields) addField(field, [], 0, 0)
  return { elements, leaves }
}
