import type { IcebergField, IcebergType } from './types.ts'

/**
 * A column or a part of one, with the levels that Parquet gives it. Every part is optional except map keys, so a part
 * that is null stands at `definition - 1` in all its leaves.
 */
export interface ColumnNode {
  readonly id: number
  readonly type: IcebergType
  /** Definition level at which this part is there (a list may still be empty: its elements begin one level deeper). */
  readonly definition: number
  /** Lists and maps around it. */
  readonly repetition: number
  /** Field ids of the leaves in or below it, in schema order. */
  readonly leaves: readonly number[]
}

/** Every part of these columns by field id. */
export function columnTree(fields: readonly IcebergField[]): Map<number, ColumnNode> {
  const nodes = new Map<number, ColumnNode>()
  const visit = (id: number, type: IcebergType, definition: number, repetition: number): number[] => {
    const leaves: number[] = []
    if (typeof type === 'string') leaves.push(id)
    else if (type.type === 'struct')
      for (const field of type.fields) leaves.push(...visit(field.id, field.type, definition + (field.required ? 0 : 1), repetition))
    else if (type.type === 'list')
      leaves.push(...visit(type['element-id'], type.element, definition + (type['element-required'] ? 1 : 2), repetition + 1))
    else {
      leaves.push(...visit(type['key-id'], type.key, definition + 1, repetition + 1))
      leaves.push(...visit(type['value-id'], type.value, definition + (type['value-required'] ? 1 : 2), repetition + 1))
    }
    nodes.set(id, { id, type, definition, repetition, leaves })
    return leaves
  }
  for (const field of fields) visit(field.id, field.type, field.required ? 0 : 1, 0)
  return nodes
}
