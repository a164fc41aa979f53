import type { FileMetaData } from 'hyparquet'
import { columnTree, type ColumnNode } from '../../schemas/columns/tree.ts'
import { decimalBytes, primitiveOf, type IcebergField, type IcebergType } from '../../schemas/columns/types.ts'
import { bigEndian, putDecimal, putWide } from '../../schemas/columns/values.ts'
import { FIRST_USER_COLUMN_ID } from '../row/schema.ts'
import type { Column } from './columnReader.ts'
import { MemoryColumn } from './memoryColumn.ts'
import { parquetSchema } from './schema.ts'
import { corrupt } from './thriftRead.ts'

/**
 * Makes a foreign file's metadata say nothing of what a user's columns mean: they are then read as they are stored, maps
 * as lists of keys and values in their order. Text and numbers as the reader makes them would lose bits.
 */
export function plainColumns(metadata: FileMetaData): void {
  for (const element of metadata.schema) {
    const isMap = element.converted_type === 'MAP' || element.logical_type?.type === 'MAP'
    const isUsers = (element.field_id ?? 0) >= FIRST_USER_COLUMN_ID
    if (!isUsers || (element.num_children !== undefined && !isMap)) continue
    delete element.converted_type
    delete element.logical_type
  }
}

/** The user's columns of rows that another engine wrote, as ours. Errors: CORRUPT. */
export function columnsOf(
  fields: readonly IcebergField[],
  names: ReadonlyMap<number, string>,
  rows: readonly Record<string, unknown>[],
): Map<number, Column> {
  const tree = columnTree(fields)
  const columns = new Map(parquetSchema(fields).leaves.map((leaf) => [leaf.id, new MemoryColumn(leaf)]))
  const shredder = new Shredder(tree, names, columns)
  for (const row of rows) for (const field of fields) shredder.put(field.id, field.type, row[names.get(field.id) ?? ''], 0)
  for (const column of columns.values()) column.seal()
  return columns
}

class Shredder {
  readonly #tree: ReadonlyMap<number, ColumnNode>
  readonly #names: ReadonlyMap<number, string>
  readonly #columns: ReadonlyMap<number, MemoryColumn>

  constructor(tree: ReadonlyMap<number, ColumnNode>, names: ReadonlyMap<number, string>, columns: ReadonlyMap<number, MemoryColumn>) {
    this.#tree = tree
    this.#names = names
    this.#columns = columns
  }

  /** Puts a value into the leaves of a part; what is not there is a null. */
  put(id: number, type: IcebergType, value: unknown, repetition: number): void {
    const node = this.#tree.get(id)!
    if (value === null || value === undefined) return this.#absent(node, node.definition - 1, repetition)
    if (typeof type === 'string') return this.#scalar(id, type, value, repetition)
    if (type.type === 'struct') {
      for (const field of type.fields)
        this.put(field.id, field.type, (value as Record<string, unknown>)[this.#names.get(field.id) ?? ''], repetition)
      return
    }
    const isMap = type.type === 'map'
    const items = isMap ? ((value as { key_value?: unknown[] }).key_value ?? value) : value
    if (!Array.isArray(items)) throw corrupt('a list of another writer is no list')
    if (items.length === 0) return this.#absent(node, node.definition, repetition)
    let level = repetition
    for (const item of items as unknown[]) {
      if (type.type === 'map') {
        const { key, value: inner } = item as { key: unknown; value: unknown }
        this.put(type['key-id'], type.key, key, level)
        this.put(type['value-id'], type.value, inner, level)
      } else this.put(type['element-id'], type.element, item, level)
      level = node.repetition + 1
    }
  }

  #absent(node: ColumnNode, definition: number, repetition: number): void {
    for (const leaf of node.leaves) this.#columns.get(leaf)!.absent(definition, repetition)
  }

  #scalar(id: number, text: string, value: unknown, repetition: number): void {
    const column = this.#columns.get(id)!
    const { kind, precision } = primitiveOf(text)
    switch (kind) {
      case 'boolean':
        return column.int(value === true ? 1 : 0, repetition)
      case 'int':
      case 'date':
        return column.int(Number(value), repetition)
      case 'long':
      case 'time':
      case 'timestamp':
      case 'timestamptz':
        return putWide(column, BigInt(value as bigint), repetition)
      case 'float':
      case 'double': {
        const bytes = Buffer.alloc(kind === 'float' ? 4 : 8)
        if (kind === 'float') bytes.writeFloatLE(Number(value))
        else bytes.writeDoubleLE(Number(value))
        return column.bytes(bytes, 0, bytes.length, repetition)
      }
      case 'decimal': {
        const unscaled = value instanceof Uint8Array ? bigEndian(value, 0, value.length) : BigInt(value as bigint)
        if (!putDecimal(column, unscaled, precision, decimalBytes(precision), repetition))
          throw corrupt('a decimal of another writer is too large')
        return
      }
      default:
        if (!(value instanceof Uint8Array)) throw corrupt('a text of another writer is no bytes')
        return column.bytes(value, 0, value.length, repetition)
    }
  }
}
