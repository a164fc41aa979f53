import type { ColumnNode } from './tree.ts'

/**
 * How a schema's parts became columns, side by side with the schema: `as` is what was decided, `col` the field id of the
 * column (0 for none), `kids` the parts below. Plans are kept with the table and never change (T2), so that rows come back
 * the same whatever a later version would decide.
 */
export interface Plan {
  as: string
  col: number
  kids: Plan[]
}

/** Parts deeper than this have no columns of their own; they stay bytes (docs/TYPES.md). */
export const DEPTH_MAX = 24
/** Columns above which a schema is not made columns at all. */
export const COLUMNS_MAX = 4096

/** The column of a part: an option's is that of the type in it; 0 for none. */
export function columnOf(plan: Plan): number {
  if (plan.as !== 'option') return plan.col
  const inner = plan.kids.find((kid) => kid.as !== 'null')
  return inner === undefined ? 0 : columnOf(inner)
}

/** Leaves that a plan fills: the field ids. */
export function leavesOfPlan(plan: Plan, tree: ReadonlyMap<number, ColumnNode>): Set<number> {
  const leaves = new Set<number>()
  const visit = (one: Plan): void => {
    if (one.col !== 0) for (const leaf of tree.get(one.col)?.leaves ?? []) leaves.add(leaf)
    else for (const kid of one.kids) visit(kid)
  }
  visit(plan)
  return leaves
}

/** Leaves of a struct that its parts here do not fill: other versions of the schema brought them. */
export function strangersOf(plan: Plan, tree: ReadonlyMap<number, ColumnNode>): number[] {
  if (plan.col === 0) return []
  const known = new Set(plan.kids.flatMap((kid) => [...leavesOfPlan(kid, tree)]))
  return (tree.get(plan.col)?.leaves ?? []).filter((leaf) => !known.has(leaf))
}
