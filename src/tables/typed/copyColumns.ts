import type { LeafSink } from '../../schemas/columns/ports.ts'
import { columnTree, type ColumnNode } from '../../schemas/columns/tree.ts'
import type { IcebergField } from '../../schemas/columns/types.ts'
import type { Column } from '../parquet/columnReader.ts'
import { Physical } from '../parquet/schema.ts'

/** Copies row i of the block into one leaf of the file that is written. */
export type CopyLeaf = (row: number) => void

/**
 * What copies a user's columns of one input, leaf by leaf. A leaf that the input does not have becomes null in every
 * instance of what it is part of, which another leaf of the same part tells.
 */
export function columnCopies(
  fields: readonly IcebergField[],
  columns: ReadonlyMap<number, Column>,
  sink: (id: number) => LeafSink,
): CopyLeaf[] {
  const tree = columnTree(fields)
  const parts = [...tree.values()]
  const leaves = fields.flatMap((field) => tree.get(field.id)!.leaves)
  return leaves.map((id) => {
    const reader = columns.get(id)
    if (reader !== undefined) return copyLeaf(reader, sink(id))
    // The smallest part around the leaf of which the input has another leaf.
    const around = parts
      .filter((part) => part.leaves.includes(id) && part.leaves.some((leaf) => columns.has(leaf)))
      .sort((a, b) => a.leaves.length - b.leaves.length || b.definition - a.definition)[0]
    if (around === undefined) {
      const to = sink(id)
      return () => to.absent(0, 0)
    }
    return absentLeaf(around, columns.get(around.leaves.find((leaf) => columns.has(leaf))!)!, sink(id))
  })
}

function absentLeaf(around: ColumnNode, sibling: Column, to: LeafSink): CopyLeaf {
  return (row) => {
    sibling.seek(row)
    const { definition, repetition, count } = sibling
    let at = sibling.entry
    do {
      if (repetition[at] <= around.repetition) to.absent(Math.min(definition[at], around.definition), repetition[at])
      at++
    } while (at < count && repetition[at] !== 0)
  }
}

function copyLeaf(reader: Column, to: LeafSink): CopyLeaf {
  const { physical, maxDefinition } = reader.leaf
  const isInt = physical === Physical.int32 || physical === Physical.boolean
  const isLong = physical === Physical.int64
  return (row) => {
    reader.seek(row)
    const { definition, repetition, count, valueAt, ints, data, starts } = reader
    let at = reader.entry
    do {
      const level = repetition[at]
      const i = valueAt[at]
      if (definition[at] !== maxDefinition) to.absent(definition[at], level)
      else if (isInt) to.int(ints[i], level)
      else if (isLong) to.long(ints[2 * i + 1], ints[2 * i], level)
      else to.bytes(data, starts[i], starts[i + 1], level)
      at++
    } while (at < count && repetition[at] !== 0)
  }
}
