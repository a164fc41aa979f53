import { isObject, type Json } from '../losslessJson.ts'
import { compareArrays } from './arrays.ts'
import { compareCombined } from './combined.ts'
import { Differences } from './differences.ts'
import type { Documents } from './documents.ts'
import { nodeOf, type NumberNode, type SchemaNode } from './node.ts'
import { compareObjects } from './objects.ts'

/** Beyond this many comparisons of sub-schemas the answer is "not compatible, as far as can be told". */
const STEPS_MAX = 50_000

/** One comparison of two documents: what is being compared already is not compared again (recursive schemas). */
export class Comparison {
  readonly before: Documents
  readonly after: Documents
  readonly #running = new Map<SchemaNode | Json, Set<SchemaNode | Json>>()
  #steps = 0

  constructor(before: Documents, after: Documents) {
    this.before = before
    this.after = after
  }

  /** Adds what changed from `before` to `after` in a way that some value valid before is not valid after. */
  compare(before: Json, after: Json, path: string, differences: Differences): void {
    const running = this.#running.get(before)
    if (isObject(before) && running?.has(after)) return
    if (++this.#steps > STEPS_MAX) return differences.add(path, 'TOO_MANY_COMPARISONS')
    if (running === undefined) this.#running.set(before, new Set([after]))
    else running.add(after)
    this.#compareNodes(before, after, path, differences)
    this.#running.get(before)!.delete(after)
  }

  /** As `compare`, apart. */
  attempt(before: Json, after: Json, path: string): Differences {
    const differences = new Differences()
    this.compare(before, after, path, differences)
    return differences
  }

  #compareNodes(beforeJson: Json, afterJson: Json, path: string, differences: Differences): void {
    const before = nodeOf(beforeJson, this.before)
    const after = nodeOf(afterJson, this.after)
    if (before.kind !== 'combined' && after.kind === 'combined') {
      const one = after.schemas.length === 1
      if (one || after.criterion !== 'allOf') {
        for (const schema of after.schemas) if (this.attempt(beforeJson, schema, path).compatible) return
      }
    } else if (before.kind === 'combined' && after.kind !== 'combined') {
      // a value satisfies all parts of `allOf`, so one that suffices is enough; of choices each must suffice
      const suffices = (schema: Json): boolean => this.attempt(schema, afterJson, path).compatible
      if (before.criterion === 'allOf' ? before.schemas.some(suffices) : before.schemas.every(suffices)) return
    }
    if (before.kind === 'combined' && after.kind === 'combined') return compareCombined(this, before, after, path, differences)
    if (before.kind === 'nothing' || after.kind === 'anything') return
    if (before.kind !== after.kind) return differences.add(path, 'TYPE_CHANGED')
    if (before.kind === 'string') compareStrings(before, after as typeof before, path, differences)
    else if (before.kind === 'number') compareNumbers(before, after as typeof before, path, differences)
    else if (before.kind === 'enum') compareEnums(before.values, (after as typeof before).values, path, differences)
    else if (before.kind === 'not') {
      // what was forbidden may become less, never more
      const forbidden = new Comparison(this.after, this.before).attempt((after as typeof before).schema, before.schema, `${path}/not`)
      if (!forbidden.compatible) differences.add(path, 'NOT_TYPE_EXTENDED')
    } else if (before.kind === 'condition') {
      if (before.text !== (after as typeof before).text) differences.add(path, 'CONDITION_CHANGED')
    } else if (before.kind === 'object') compareObjects(this, before, after as typeof before, path, differences)
    else if (before.kind === 'array') compareArrays(this, before, after as typeof before, path, differences)
  }
}

function compareStrings(
  before: Extract<SchemaNode, { kind: 'string' }>,
  after: Extract<SchemaNode, { kind: 'string' }>,
  path: string,
  differences: Differences,
): void {
  differences.bound(path, 'maxLength', before.maxLength, after.maxLength)
  differences.bound(path, 'minLength', before.minLength, after.minLength)
  if (before.pattern === after.pattern) return
  const kind = before.pattern === undefined ? 'PATTERN_ADDED' : after.pattern === undefined ? 'PATTERN_REMOVED' : 'PATTERN_CHANGED'
  differences.add(`${path}/pattern`, kind)
}

function compareNumbers(before: NumberNode, after: NumberNode, path: string, differences: Differences): void {
  for (const name of ['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum'] as const)
    differences.bound(path, name, before[name], after[name])
  const [old, now] = [before.multipleOf, after.multipleOf]
  if (old !== now) {
    const kind =
      old === undefined
        ? 'ADDED'
        : now === undefined
          ? 'REMOVED'
          : isMultiple(old, now)
            ? 'REDUCED'
            : isMultiple(now, old)
              ? 'EXPANDED'
              : 'CHANGED'
    differences.add(`${path}/multipleOf`, `MULTIPLE_OF_${kind}`)
  }
  if (before.integer !== after.integer) differences.add(path, before.integer ? 'TYPE_EXTENDED' : 'TYPE_NARROWED')
}

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of
  return Math.abs(quotient - Math.round(quotient)) < 1e-9
}

function compareEnums(before: readonly string[], after: readonly string[], path: string, differences: Differences): void {
  const missing = before.filter((value) => !after.includes(value))
  if (missing.length === 0) return
  const narrowed = after.every((value) => before.includes(value))
  differences.add(`${path}/enum`, narrowed ? 'ENUM_ARRAY_NARROWED' : 'ENUM_ARRAY_CHANGED')
}
