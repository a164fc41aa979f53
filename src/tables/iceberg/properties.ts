import { LOG_FIELDS } from '../row/schema.ts'

/** Properties that no commit through the catalog may set or remove, besides everything below `frazil.` (T16, T17). */
export const PROTECTED: ReadonlySet<string> = new Set([
  'gc.enabled',
  'format-version',
  'write.metadata.path',
  'write.data.path',
  'write.object-storage.enabled',
  'write.location-provider.impl',
  'write.delete.isolation-level',
  'write.update.isolation-level',
  'write.merge.isolation-level',
  'schema.name-mapping.default',
])

export function isProtected(property: string): boolean {
  return PROTECTED.has(property) || property.startsWith('frazil.')
}

const MAPPING = JSON.stringify(
  LOG_FIELDS.map((field) => ({
    'field-id': field.id,
    names: [field.name],
    ...(typeof field.type === 'object' &&
    field.type.type === 'list' &&
    typeof field.type.element === 'object' &&
    field.type.element.type === 'struct'
      ? {
          fields: [
            {
              'field-id': field.type['element-id'],
              names: ['element'],
              fields: field.type.element.fields.map((inner) => ({ 'field-id': inner.id, names: [inner.name] })),
            },
          ],
        }
      : {}),
  })),
)

/** The properties that a topic's table is made with. */
export function tableProperties(input: {
  readonly metadataUri: string
  readonly dataUri: string
  readonly topicName: string
  readonly topicId: string
  readonly targetFileBytes: number
}): Record<string, string> {
  const metrics: Record<string, string> = {}
  // Full statistics for the log's short columns; text and bytes are cut (T1, T12).
  for (const field of LOG_FIELDS) {
    if (typeof field.type !== 'string') continue
    metrics[`write.metadata.metrics.column.${field.name}`] = field.type === 'string' || field.type === 'binary' ? 'truncate(16)' : 'full'
  }
  return {
    'gc.enabled': 'false',
    'write.format.default': 'parquet',
    'write.parquet.compression-codec': 'zstd',
    'write.target-file-size-bytes': String(input.targetFileBytes),
    'write.metadata.path': input.metadataUri,
    'write.data.path': input.dataUri,
    'write.metadata.previous-versions-max': '20',
    'write.metadata.metrics.default': 'truncate(16)',
    ...metrics,
    'write.delete.isolation-level': 'snapshot',
    'write.update.isolation-level': 'snapshot',
    'write.merge.isolation-level': 'snapshot',
    'schema.name-mapping.default': MAPPING,
    'frazil.topic': input.topicName,
    'frazil.topic-id': input.topicId,
  }
}
