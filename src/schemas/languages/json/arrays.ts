import { isObject, type Json } from '../losslessJson.ts'
import type { Comparison } from './compatibility.ts'
import type { Differences } from './differences.ts'
import { type ArrayNode, nodeOf } from './node.ts'
import { compareAdditional } from './objects.ts'

export function compareArrays(comparison: Comparison, before: ArrayNode, after: ArrayNode, path: string, differences: Differences): void {
  if (after.every !== undefined) {
    if (before.every === undefined) differences.add(`${path}/items`, 'SCHEMA_ADDED')
    else comparison.compare(before.every, after.every, `${path}/items`, differences)
  }
  compareItems(comparison, before, after, `${path}/items`, differences)
  compareAdditional(comparison, before.additional, after.additional, `${path}/additionalItems`, 'ADDITIONAL_ITEMS', differences)
  differences.bound(path, 'maxItems', before.maxItems, after.maxItems)
  differences.bound(path, 'minItems', before.minItems, after.minItems)
  differences.bound(path, 'maxContains', before.maxContains, after.maxContains)
  differences.bound(path, 'minContains', before.minContains ?? 1, after.minContains ?? 1)
  if (after.contains !== undefined) {
    if (before.contains === undefined) differences.add(`${path}/contains`, 'CONTAINS_ADDED')
    else comparison.compare(before.contains, after.contains, `${path}/contains`, differences)
  }
  if (!before.unique && after.unique) differences.add(`${path}/uniqueItems`, 'UNIQUE_ITEMS_ADDED')
}

function compareItems(comparison: Comparison, before: ArrayNode, after: ArrayNode, path: string, differences: Differences): void {
  const { items: olds } = before
  const { items: news } = after
  for (let i = 0; i < Math.max(olds.length, news.length); i++) {
    const at = `${path}/${i}`
    if (i >= news.length) removed(comparison, olds[i], after, at, differences)
    else if (i >= olds.length) added(comparison, before, news[i], at, differences)
    else comparison.compare(olds[i], news[i], at, differences)
  }
}

function removed(comparison: Comparison, old: Json, after: ArrayNode, at: string, differences: Differences): void {
  if (after.additional === true) return
  if (isObject(after.additional)) {
    if (!comparison.attempt(old, after.additional, at).compatible)
      differences.add(at, 'ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL')
  } else if (nodeOf(old, comparison.before).kind !== 'nothing') differences.add(at, 'ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL')
}

function added(comparison: Comparison, before: ArrayNode, now: Json, at: string, differences: Differences): void {
  if (before.additional === true) {
    if (nodeOf(now, comparison.after).kind !== 'anything') differences.add(at, 'ITEM_ADDED_TO_OPEN_CONTENT_MODEL')
  } else if (isObject(before.additional) && !comparison.attempt(before.additional, now, at).compatible) {
    differences.add(at, 'ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL')
  }
}
