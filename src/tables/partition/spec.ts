import type { IcebergField } from '../../schemas/columns/types.ts'
import type { PartitionField, PartitionSpec, Schema, TableMetadata } from '../iceberg/types.ts'
import type { PartitionTerm, Transform } from '../../base/config/partitionBy.ts'
import { printTransform, readTransform, resultType } from './transform.ts'

/** A field of a spec with all that is needed to make its values. */
export interface BoundField {
  readonly sourceId: number
  /** Primitive type of the source column. */
  readonly sourceType: string
  /** Names from the schema's root to the column. */
  readonly path: readonly string[]
  readonly transform: Transform
  readonly resultType: string
}

/** Columns that a partition can come from: those with one value a row, at any depth of structs. */
function* sources(
  fields: readonly IcebergField[],
  path: readonly string[] = [],
): Generator<{ field: IcebergField; path: readonly string[] }> {
  for (const field of fields) {
    const here = [...path, field.name]
    if (typeof field.type === 'string') yield { field, path: here }
    else if (field.type.type === 'struct') yield* sources(field.type.fields, here)
  }
}

/** A column by id, or by its name with dots. */
export function findSource(schema: Schema, wanted: number | string): { field: IcebergField; path: readonly string[] } | null {
  for (const one of sources(schema.fields)) if (one.field.id === wanted || one.path.join('.') === wanted) return one
  return null
}

/**
 * The fields that terms stand for in a schema. A term whose column is not there (yet), or whose transform does not go with
 * the column's type, is left out and named in `missing`.
 */
export function bindTerms(schema: Schema, terms: readonly PartitionTerm[]): { readonly fields: BoundField[]; readonly missing: string[] } {
  const fields: BoundField[] = []
  const missing: string[] = []
  for (const { column, transform } of terms) {
    const source = findSource(schema, column)
    const result = source === null ? null : resultType(transform, source.field.type)
    if (source === null || result === null) missing.push(`${printTransform(transform)} of ${column}`)
    else
      fields.push({ sourceId: source.field.id, sourceType: source.field.type as string, path: source.path, transform, resultType: result })
  }
  return { fields, missing }
}

/** The fields of a spec of a table. A source column stays in the schemas for ever (T13). */
export function boundFields(metadata: Pick<TableMetadata, 'schemas'>, spec: PartitionSpec): BoundField[] {
  return spec.fields.map((field) => {
    const transform = readTransform(field.transform)
    for (const schema of metadata.schemas.toReversed()) {
      const source = findSource(schema, field['source-id'])
      const result = source === null ? null : resultType(transform, source.field.type)
      if (source !== null && result !== null)
        return { sourceId: source.field.id, sourceType: source.field.type as string, path: source.path, transform, resultType: result }
    }
    return { sourceId: field['source-id'], sourceType: 'int', path: [], transform, resultType: 'int' }
  })
}

const SUFFIX: Readonly<Record<Transform['kind'], string>> = {
  identity: '',
  bucket: '_bucket',
  truncate: '_trunc',
  year: '_year',
  month: '_month',
  day: '_day',
  hour: '_hour',
  void: '_null',
}

function sameField(one: PartitionField, other: BoundField): boolean {
  return one['source-id'] === other.sourceId && one.transform === printTransform(other.transform)
}

/**
 * Metadata with a spec of these fields, and its id: the one it has already, or a new one. A field keeps its id and name in
 * every spec that it is in (Iceberg spec, "Partition Evolution"). The default spec is not changed.
 */
export function withSpec(
  metadata: TableMetadata,
  fields: readonly BoundField[],
): { readonly metadata: TableMetadata; readonly specId: number } {
  const specs = metadata['partition-specs']
  const known = specs.find((spec) => spec.fields.length === fields.length && spec.fields.every((field, i) => sameField(field, fields[i]!)))
  if (known !== undefined) return { metadata, specId: known['spec-id'] }
  const earlier = specs.flatMap((spec) => spec.fields)
  const names = new Set(earlier.map((field) => field.name))
  for (const schema of metadata.schemas) for (const { path } of sources(schema.fields)) names.add(path.join('.'))
  let last = metadata['last-partition-id']
  const made = fields.map((field): PartitionField => {
    const before = earlier.find((one) => sameField(one, field))
    if (before !== undefined) return before
    const column = field.path.join('.')
    let name = column + SUFFIX[field.transform.kind]
    // An identity field may have its column's name; any other name is nobody else's.
    for (let n = 2; (field.transform.kind !== 'identity' && names.has(name)) || earlier.some((one) => one.name === name); n++)
      name = `${column}${SUFFIX[field.transform.kind]}_${n}`
    names.add(name)
    return { name, transform: printTransform(field.transform), 'source-id': field.sourceId, 'field-id': ++last }
  })
  const specId = Math.max(...specs.map((spec) => spec['spec-id'])) + 1
  const spec: PartitionSpec = { 'spec-id': specId, fields: made }
  return { metadata: { ...metadata, 'partition-specs': [...specs, spec], 'last-partition-id': last }, specId }
}

export function specById(metadata: Pick<TableMetadata, 'partition-specs'>, specId: number): PartitionSpec {
  return metadata['partition-specs'].find((spec) => spec['spec-id'] === specId) ?? { 'spec-id': specId, fields: [] }
}
