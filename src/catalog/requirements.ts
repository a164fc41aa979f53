import type { TableMetadata } from '../tables/iceberg/types.ts'
import { badRequest, conflict } from './errors.ts'

export type Fields = Readonly<Record<string, unknown>>

export const same = (a: unknown, b: unknown): boolean =>
  typeof a === 'number' || typeof a === 'bigint' ? (typeof b === 'number' || typeof b === 'bigint') && BigInt(a) === BigInt(b) : a === b

function lastAssigned(field: string, key: keyof TableMetadata): (metadata: TableMetadata, requirement: Fields) => string | null {
  return (metadata, requirement) =>
    same(metadata[key], requirement[field]) ? null : `${field} is ${String(metadata[key])}, not ${String(requirement[field])}`
}

/** What is wrong with the table, or null; by the requirement's type (REST spec, TableRequirement). */
const CHECKS: Readonly<Record<string, (metadata: TableMetadata, requirement: Fields) => string | null>> = {
  'assert-create': () => 'the table exists already',
  'assert-table-uuid': (metadata, { uuid }) =>
    String(uuid).toLowerCase() === metadata['table-uuid'] ? null : `the table has another uuid: ${metadata['table-uuid']}`,
  'assert-ref-snapshot-id': (metadata, { ref, 'snapshot-id': wanted }) => {
    const found = metadata.refs[String(ref)]?.['snapshot-id']
    // Java's -1 for "none" is met in requirements as well (hazard I6).
    const none = wanted === null || wanted === undefined || same(wanted, -1)
    if (none) return found === undefined ? null : `the ref ${String(ref)} exists already`
    if (found === undefined) return `the ref ${String(ref)} does not exist`
    return same(found, wanted) ? null : `the ref ${String(ref)} moved: it is at ${String(found)}, not ${String(wanted)}`
  },
  'assert-last-assigned-field-id': lastAssigned('last-assigned-field-id', 'last-column-id'),
  'assert-current-schema-id': lastAssigned('current-schema-id', 'current-schema-id'),
  'assert-last-assigned-partition-id': lastAssigned('last-assigned-partition-id', 'last-partition-id'),
  'assert-default-spec-id': lastAssigned('default-spec-id', 'default-spec-id'),
  'assert-default-sort-order-id': lastAssigned('default-sort-order-id', 'default-sort-order-id'),
}

/** 400 for a requirement that the REST spec does not know. */
export function checkRequirementTypes(requirements: readonly Fields[]): void {
  for (const requirement of requirements) {
    if (!(String(requirement['type']) in CHECKS)) throw badRequest(`Unknown requirement: ${String(requirement['type'])}`)
  }
}

/** 409 when the table is not what the client believes. */
export function checkRequirements(metadata: TableMetadata, requirements: readonly Fields[]): void {
  for (const requirement of requirements) {
    const wrong = CHECKS[String(requirement['type'])]!(metadata, requirement)
    if (wrong !== null) throw conflict(`Requirement failed: ${wrong}`)
  }
}
