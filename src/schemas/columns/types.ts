import { FrazilError } from '../../base/errors.ts'

/**
 * Types and fields as Iceberg table metadata spells them (Iceberg spec, Appendix C): the one model of a table's schema.
 * Iceberg metadata holds it as it is; Parquet, Delta and Paimon schemas are made from it.
 */
export type IcebergType = string | IcebergListType | IcebergStructType | IcebergMapType

export interface IcebergListType {
  readonly type: 'list'
  readonly 'element-id': number
  readonly element: IcebergType
  readonly 'element-required': boolean
}

export interface IcebergMapType {
  readonly type: 'map'
  readonly 'key-id': number
  readonly key: IcebergType
  readonly 'value-id': number
  readonly value: IcebergType
  readonly 'value-required': boolean
}

export interface IcebergStructType {
  readonly type: 'struct'
  readonly fields: readonly IcebergField[]
}

export interface IcebergField {
  readonly id: number
  readonly name: string
  readonly required: boolean
  readonly type: IcebergType
  readonly doc?: string
}

/** One version of a table's schema. A user's columns come first, ids from 100 on; the log's come last. */
export interface TableSchema extends IcebergStructType {
  readonly 'schema-id': number
}

/** A primitive type taken apart. `precision` and `scale` belong to decimals, `length` to fixed. */
export interface Primitive {
  readonly kind:
    | 'boolean'
    | 'int'
    | 'long'
    | 'float'
    | 'double'
    | 'decimal'
    | 'date'
    | 'time'
    | 'timestamp'
    | 'timestamptz'
    | 'string'
    | 'uuid'
    | 'fixed'
    | 'binary'
  readonly precision: number
  readonly scale: number
  readonly length: number
}

const PLAIN: ReadonlySet<string> = new Set([
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'string',
  'uuid',
  'binary',
])

/** Takes a primitive type's text apart. Errors: REFUSED for a type that table files do not hold. */
export function primitiveOf(type: string): Primitive {
  if (PLAIN.has(type)) return { kind: type as Primitive['kind'], precision: 0, scale: 0, length: type === 'uuid' ? 16 : 0 }
  const decimal = /^decimal\((\d{1,2}), ?(\d{1,2})\)$/.exec(type)
  if (decimal !== null) return { kind: 'decimal', precision: Number(decimal[1]), scale: Number(decimal[2]), length: 0 }
  const fixed = /^fixed\[(\d{1,9})\]$/.exec(type)
  if (fixed !== null) return { kind: 'fixed', precision: 0, scale: 0, length: Number(fixed[1]) }
  throw new FrazilError('REFUSED', `table files do not hold the type ${type}`)
}

/** As Iceberg spells it: with the space (hazard I11). */
export function decimalType(precision: number, scale: number): string {
  return `decimal(${precision}, ${scale})`
}

/** Bytes of the two's complement that holds every decimal of this precision (Parquet FIXED_LEN_BYTE_ARRAY). */
export function decimalBytes(precision: number): number {
  return Math.ceil((precision * Math.log2(10) + 1) / 8)
}

/** The highest field id in use by these fields, nested ones included; 0 for none. */
export function lastFieldId(fields: readonly IcebergField[]): number {
  let last = 0
  const visit = (type: IcebergType): void => {
    if (typeof type === 'string') return
    if (type.type === 'struct') {
      for (const field of type.fields) {
        last = Math.max(last, field.id)
        visit(field.type)
      }
    } else if (type.type === 'list') {
      last = Math.max(last, type['element-id'])
      visit(type.element)
    } else {
      last = Math.max(last, type['key-id'], type['value-id'])
      visit(type.key)
      visit(type.value)
    }
  }
  visit({ type: 'struct', fields })
  return last
}
