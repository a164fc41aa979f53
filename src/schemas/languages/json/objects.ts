import { RE2JS } from 're2js'
import { isObject, type Json } from '../losslessJson.ts'
import type { Comparison } from './compatibility.ts'
import type { Differences } from './differences.ts'
import type { Documents } from './documents.ts'
import { nodeOf, type ObjectNode } from './node.ts'

export function compareObjects(
  comparison: Comparison,
  before: ObjectNode,
  after: ObjectNode,
  path: string,
  differences: Differences,
): void {
  compareProperties(comparison, before, after, `${path}/properties`, differences)
  compareDependencies(comparison, before, after, `${path}/dependencies`, differences)
  compareAdditional(comparison, before.additional, after.additional, `${path}/additionalProperties`, 'ADDITIONAL_PROPERTIES', differences)
  differences.bound(path, 'maxProperties', before.maxProperties, after.maxProperties)
  differences.bound(path, 'minProperties', before.minProperties, after.minProperties)
}

function compareProperties(comparison: Comparison, before: ObjectNode, after: ObjectNode, path: string, differences: Differences): void {
  for (const name of new Set([...before.properties.keys(), ...after.properties.keys()])) {
    const at = `${path}/${name}`
    const old = before.properties.get(name)
    const now = after.properties.get(name)
    if (now === undefined) removed(comparison, old!, after, name, at, differences)
    else if (old === undefined) added(comparison, before, after, now, name, at, differences)
    else {
      if (!before.required.has(name) && after.required.has(name))
        differences.add(at, hasDefault(now, comparison.after) ? 'REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED' : 'REQUIRED_ATTRIBUTE_ADDED')
      comparison.compare(old, now, at, differences)
    }
  }
}

/** Older values may have it: what is not named must let it pass. */
function removed(comparison: Comparison, old: Json, after: ObjectNode, name: string, at: string, differences: Differences): void {
  if (isOpen(after)) return
  const rest = restOf(after, name)
  if (rest === undefined) {
    const never = nodeOf(old, comparison.before).kind === 'nothing'
    differences.add(at, never ? 'PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL' : 'PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL')
  } else if (!comparison.attempt(old, rest, at).compatible) {
    differences.add(at, 'PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL')
  }
}

/** Older values may have anything under this name, unless what is not named was forbidden or bounded. */
function added(
  comparison: Comparison,
  before: ObjectNode,
  after: ObjectNode,
  now: Json,
  name: string,
  at: string,
  differences: Differences,
): void {
  if (isOpen(before)) {
    const anything = nodeOf(now, comparison.after).kind === 'anything'
    differences.add(at, anything ? 'PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL' : 'PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL')
    return
  }
  const rest = restOf(before, name)
  if (rest !== undefined && !comparison.attempt(rest, now, at).compatible)
    differences.add(at, 'PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL')
  if (after.required.has(name) && !hasDefault(now, comparison.after)) differences.add(at, 'REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL')
}

function compareDependencies(comparison: Comparison, before: ObjectNode, after: ObjectNode, path: string, differences: Differences): void {
  for (const [name, now] of after.needs) {
    const old = before.needs.get(name)
    if (old === undefined) differences.add(`${path}/${name}`, 'DEPENDENCY_ARRAY_ADDED')
    else if (![...now].every((need) => old.has(need)))
      differences.add(`${path}/${name}`, [...old].every((need) => now.has(need)) ? 'DEPENDENCY_ARRAY_EXTENDED' : 'DEPENDENCY_ARRAY_CHANGED')
  }
  for (const [name, now] of after.dependent) {
    const old = before.dependent.get(name)
    if (old === undefined) differences.add(`${path}/${name}`, 'DEPENDENCY_SCHEMA_ADDED')
    else comparison.compare(old, now, `${path}/${name}`, differences)
  }
}

/** `true` (anything), `false` (nothing) or a schema, before and after. */
export function compareAdditional(
  comparison: Comparison,
  before: Json,
  after: Json,
  path: string,
  what: string,
  differences: Differences,
): void {
  if ((before === false) !== (after === false)) differences.add(path, `${what}_${after === false ? 'REMOVED' : 'ADDED'}`)
  else if (before === true && after !== true) differences.add(path, `${what}_NARROWED`)
  else if (before !== true && after === true) differences.add(path, `${what}_EXTENDED`)
  else if (isObject(before) && isObject(after)) comparison.compare(before, after, path, differences)
}

const isOpen = (node: ObjectNode): boolean => node.patterns.length === 0 && node.additional === true

/** The schema of a property that is not named: of the first pattern it matches, or of all others; undefined when there is none. */
function restOf(node: ObjectNode, name: string): Json | undefined {
  for (const [pattern, schema] of node.patterns) if (matches(pattern, name)) return schema
  return isObject(node.additional) ? node.additional : undefined
}

/** In linear time, whatever the pattern; one that this syntax does not have matches nothing. */
function matches(pattern: string, name: string): boolean {
  try {
    return RE2JS.compile(pattern).matcher(name).find()
  } catch {
    return false
  }
}

function hasDefault(schema: Json, documents: Documents): boolean {
  let at = schema
  for (let steps = 0; steps < 100 && isObject(at); steps++) {
    if (at.default !== undefined) return true
    if (typeof at.$ref !== 'string') return false
    at = documents.resolve(at)
  }
  return false
}
