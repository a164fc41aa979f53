import type { Json } from '../losslessJson.ts'
import type { Comparison } from './compatibility.ts'
import type { Differences } from './differences.ts'
import type { SchemaNode } from './node.ts'

type Combined = Extract<SchemaNode, { kind: 'combined' }>

/** allOf, anyOf, oneOf: their schemas are paired, as many as can be, so that each pair is compatible. */
export function compareCombined(comparison: Comparison, before: Combined, after: Combined, path: string, differences: Differences): void {
  if (before.criterion !== after.criterion) {
    if (!mayBecome(before, after)) return differences.add(path, 'COMBINED_TYPE_CHANGED')
    differences.add(path, 'COMBINED_TYPE_EXTENDED')
  }
  const olds = distinct(before.schemas)
  const news = distinct(after.schemas)
  // fewer demands that all must hold let more pass; fewer choices let less pass
  if (olds.length < news.length) differences.add(path, after.criterion === 'allOf' ? 'PRODUCT_TYPE_EXTENDED' : 'SUM_TYPE_EXTENDED')
  else if (olds.length > news.length) differences.add(path, before.criterion === 'allOf' ? 'PRODUCT_TYPE_NARROWED' : 'SUM_TYPE_NARROWED')
  const edges = olds.map((old, i) => news.map((now) => comparison.attempt(old, now, `${path}/${before.criterion}/${i}`).compatible))
  if (matching(edges, news.length) < Math.min(olds.length, news.length)) differences.add(path, 'COMBINED_TYPE_SUBSCHEMAS_CHANGED')
}

function mayBecome(before: Combined, after: Combined): boolean {
  if (after.criterion === 'anyOf' || before.schemas.length === 1) return after.criterion !== 'allOf' || after.schemas.length === 1
  return before.criterion === 'allOf' && after.criterion === 'oneOf' && after.schemas.length === 1
}

function distinct(schemas: Combined['schemas']): readonly Json[] {
  const seen = new Set<string>()
  return schemas.filter((schema) => {
    const text = JSON.stringify(schema)
    return !seen.has(text) && seen.add(text)
  })
}

/** Size of the largest matching of a bipartite graph, by augmenting paths. */
function matching(edges: readonly (readonly boolean[])[], rights: number): number {
  const lefts = Array.from({ length: rights }, () => -1)
  const augment = (left: number, seen: boolean[]): boolean => {
    for (let right = 0; right < rights; right++) {
      if (!edges[left][right] || seen[right]) continue
      seen[right] = true
      if (lefts[right] < 0 || augment(lefts[right], seen)) {
        lefts[right] = left
        return true
      }
    }
    return false
  }
  return edges.reduce((size, _, left) => size + Number(augment(left, [])), 0)
}
