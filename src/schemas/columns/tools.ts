import { FrazilError } from '../../base/errors.ts'
import type { LeafSink, LeafSource } from './ports.ts'
import type { ColumnNode } from './tree.ts'

/** Puts a null at this definition level into every leaf of a part that is not there. */
export type Absent = (definition: number, repetition: number) => void

export function absentOf(sinks: readonly LeafSink[]): Absent {
  if (sinks.length === 1) {
    const [only] = sinks
    return (definition, repetition) => only.absent(definition, repetition)
  }
  return (definition, repetition) => {
    for (let i = 0; i < sinks.length; i++) sinks[i].absent(definition, repetition)
  }
}

/** Passes over one entry in every leaf of a part. */
export function skipOf(sources: readonly LeafSource[]): () => void {
  return () => {
    for (let i = 0; i < sources.length; i++) sources[i].entry++
  }
}

/** Of columns that a plan names, those parts. Errors: CORRUPT when one is missing. */
export function nodeOf(tree: ReadonlyMap<number, ColumnNode>, id: number): ColumnNode {
  const node = tree.get(id)
  if (node === undefined) throw new FrazilError('CORRUPT', `a recipe names column ${id}, which the table does not have`)
  return node
}

/** True when `a` and [start, end) of `b` are the same bytes. */
export function sameBytes(a: Uint8Array, b: Uint8Array, start: number, end: number): boolean {
  if (a.length !== end - start) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[start + i]) return false
  return true
}

/** The elements that the list which begins at `entry` has; lists of this repetition level. */
export function elementsAt(source: LeafSource, level: number): number {
  const { repetition, count } = source
  let elements = 1
  for (let at = source.entry + 1; at < count && repetition[at] >= level; at++) if (repetition[at] === level) elements++
  return elements
}
