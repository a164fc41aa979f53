import { FIRST_USER_COLUMN_ID, tableSchema } from '../row/schema.ts'
import { lastFieldId, type IcebergField } from '../../schemas/columns/types.ts'
import type { TableMetadata } from './types.ts'

/**
 * Metadata whose current schema has a user's columns as they are now: the same metadata when it has them already, else
 * with one schema more (Iceberg spec, "Schema Evolution"). Columns only come; ids are never used again (T13).
 */
export function withColumns(metadata: TableMetadata, userFields: readonly IcebergField[]): TableMetadata {
  const current = metadata.schemas.find((schema) => schema['schema-id'] === metadata['current-schema-id'])
  const known = (current?.fields ?? []).filter((field) => field.id >= FIRST_USER_COLUMN_ID)
  if (userFields.length === 0 || JSON.stringify(known) === JSON.stringify(userFields)) return metadata
  const id = Math.max(...metadata.schemas.map((schema) => schema['schema-id'])) + 1
  const schema = tableSchema(id, userFields)
  return {
    ...metadata,
    schemas: [...metadata.schemas, schema],
    'current-schema-id': id,
    'last-column-id': Math.max(metadata['last-column-id'], lastFieldId(schema.fields)),
  }
}
