import { decimalBytes, primitiveOf, type IcebergField, type IcebergType } from '../../schemas/columns/types.ts'

/** Parquet's physical types that we write (parquet.thrift, Type). */
export const Physical = { boolean: 0, int32: 1, int64: 2, float: 4, double: 5, bytes: 6, fixed: 7 } as const
/** FieldRepetitionType. */
export const Repetition = { required: 0, optional: 1, repeated: 2 } as const

export type LogicalKind = 'string' | 'timestamptz' | 'timestamp' | 'date' | 'time' | 'decimal' | 'uuid' | 'list' | 'map'

/** One element of the flattened schema tree of a Parquet footer. */
export interface SchemaElement {
  readonly name: string
  readonly repetition?: number
  readonly physical?: number
  readonly logical?: LogicalKind
  readonly children?: number
  readonly fieldId?: number
  /** Bytes of a fixed-length type. */
  readonly typeLength?: number
  readonly precision?: number
  readonly scale?: number
}

/** A column as Parquet stores it: one leaf of the schema tree. */
export interface Leaf {
  readonly id: number
  readonly path: readonly string[]
  readonly physical: number
  readonly logical?: LogicalKind
  readonly typeLength?: number
  readonly maxDefinition: number
  readonly maxRepetition: number
}

export interface ParquetSchema {
  readonly elements: readonly SchemaElement[]
  readonly leaves: readonly Leaf[]
}

type Stored = Pick<SchemaElement, 'physical' | 'logical' | 'typeLength' | 'precision' | 'scale'> & { readonly physical: number }

/** How a primitive type is stored (Iceberg spec, Appendix A). Errors: REFUSED for a type that table files do not hold. */
function stored(type: string): Stored {
  const { kind, precision, scale, length } = primitiveOf(type)
  switch (kind) {
    case 'boolean':
      return { physical: Physical.boolean }
    case 'int':
      return { physical: Physical.int32 }
    case 'long':
      return { physical: Physical.int64 }
    case 'float':
      return { physical: Physical.float }
    case 'double':
      return { physical: Physical.double }
    case 'date':
      return { physical: Physical.int32, logical: 'date' }
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return { physical: Physical.int64, logical: kind }
    case 'string':
      return { physical: Physical.bytes, logical: 'string' }
    case 'binary':
      return { physical: Physical.bytes }
    case 'uuid':
      return { physical: Physical.fixed, logical: 'uuid', typeLength: 16 }
    case 'fixed':
      return { physical: Physical.fixed, typeLength: length }
    case 'decimal': {
      const physical = precision <= 9 ? Physical.int32 : precision <= 18 ? Physical.int64 : Physical.fixed
      return {
        physical,
        logical: 'decimal',
        precision,
        scale,
        ...(physical === Physical.fixed ? { typeLength: decimalBytes(precision) } : {}),
      }
    }
  }
}

/**
 * The Parquet schema of Iceberg fields (Iceberg spec, Appendix A): every element carries its field id (hazard I4), lists
 * have the three-level shape with the names `list` and `element`, maps `key_value`, `key` and `value` (hazard I15). Errors:
 * REFUSED for a type that table files do not hold.
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
      const primitive = stored(type)
      elements.push({ name, repetition, ...primitive, fieldId: id })
      const { physical, logical, typeLength } = primitive
      leaves.push({
        id,
        path: here,
        physical,
        ...(logical === undefined ? {} : { logical }),
        ...(typeLength === undefined ? {} : { typeLength }),
        maxDefinition: depth,
        maxRepetition: repeated,
      })
    } else if (type.type === 'struct') {
      elements.push({ name, repetition, children: type.fields.length, fieldId: id })
      for (const field of type.fields) addField(field, here, depth, repeated)
    } else if (type.type === 'map') {
      elements.push({ name, repetition, logical: 'map', children: 1, fieldId: id })
      elements.push({ name: 'key_value', repetition: Repetition.repeated, children: 2 })
      const inside = [...here, 'key_value']
      add('key', type['key-id'], Repetition.required, type.key, inside, depth + 1, repeated + 1)
      const value = type['value-required'] ? Repetition.required : Repetition.optional
      add('value', type['value-id'], value, type.value, inside, depth + 1, repeated + 1)
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
