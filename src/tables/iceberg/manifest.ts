import type { Type } from 'avsc'
import { LRUCache } from 'lru-cache'
import { fromAvroPartition, partitionRecord, toAvroPartition } from '../partition/avro.ts'
import { boundFields, specById, type BoundField } from '../partition/spec.ts'
import { avroType } from './avroTypes.ts'
import { readContainer, writeContainer } from './container.ts'
import type { DataFile, ManifestEntry, ManifestListEntry, PartitionSpec, PartitionValue, RangeTuple, TableMetadata } from './types.ts'
import { EntryStatus } from './types.ts'

type Pairs<V> = readonly { readonly key: number; readonly value: V }[]

const field = (id: number, name: string, type: unknown): object => ({ name, type, 'field-id': id })
const optional = (id: number, name: string, type: unknown): object => ({ name, type: ['null', type], default: null, 'field-id': id })
/** Maps with int keys are arrays of key and value (spec, Appendix A). */
const intMap = (keyId: number, valueId: number, value: string): object => ({
  type: 'array',
  logicalType: 'map',
  items: { type: 'record', name: `k${keyId}_v${valueId}`, fields: [field(keyId, 'key', 'int'), field(valueId, 'value', value)] },
})

/** What the schema of a manifest depends on. */
export interface ManifestForm {
  readonly formatVersion: number
  readonly spec: PartitionSpec
  readonly fields: readonly BoundField[]
}

/** Iceberg spec, "Manifests". */
function schemaOf({ formatVersion, spec, fields }: ManifestForm): object {
  return {
    type: 'record',
    name: 'manifest_entry',
    fields: [
      field(0, 'status', 'int'),
      optional(1, 'snapshot_id', 'long'),
      optional(3, 'sequence_number', 'long'),
      optional(4, 'file_sequence_number', 'long'),
      field(2, 'data_file', {
        type: 'record',
        name: 'r2',
        fields: [
          field(134, 'content', 'int'),
          field(100, 'file_path', 'string'),
          field(101, 'file_format', 'string'),
          field(102, 'partition', partitionRecord(spec, fields)),
          field(103, 'record_count', 'long'),
          field(104, 'file_size_in_bytes', 'long'),
          optional(108, 'column_sizes', intMap(117, 118, 'long')),
          optional(109, 'value_counts', intMap(119, 120, 'long')),
          optional(110, 'null_value_counts', intMap(121, 122, 'long')),
          optional(137, 'nan_value_counts', intMap(138, 139, 'long')),
          optional(125, 'lower_bounds', intMap(126, 127, 'bytes')),
          optional(128, 'upper_bounds', intMap(129, 130, 'bytes')),
          optional(131, 'key_metadata', 'bytes'),
          optional(132, 'split_offsets', { type: 'array', items: 'long', 'element-id': 133 }),
          optional(135, 'equality_ids', { type: 'array', items: 'int', 'element-id': 136 }),
          optional(140, 'sort_order_id', 'int'),
          ...(formatVersion >= 3 ? [optional(142, 'first_row_id', 'long')] : []),
        ],
      }),
    ],
  }
}

/** Schema texts and types by form: a table has few, and tables share them. */
const forms = new LRUCache<string, { readonly text: string; readonly type: Type }>({ max: 64 })

function formOf(form: ManifestForm): { readonly text: string; readonly type: Type } {
  const text = JSON.stringify(schemaOf(form))
  let made = forms.get(text)
  if (made === undefined) forms.set(text, (made = { text, type: avroType(JSON.parse(text)) }))
  return made
}

interface AvroEntry {
  readonly status: number
  readonly snapshot_id: number | bigint | null
  readonly sequence_number: number | null
  readonly file_sequence_number: number | null
  readonly data_file: {
    readonly file_path: string
    readonly partition: Readonly<Record<string, unknown>>
    readonly record_count: number
    readonly file_size_in_bytes: number
    readonly column_sizes: Pairs<number> | null
    readonly value_counts: Pairs<number> | null
    readonly null_value_counts: Pairs<number> | null
    readonly nan_value_counts?: Pairs<number> | null
    readonly lower_bounds: Pairs<Buffer> | null
    readonly upper_bounds: Pairs<Buffer> | null
    readonly split_offsets: readonly number[] | null
    readonly first_row_id?: number | null
  }
}

function pairs<V>(items: readonly (readonly [number, V])[]): Pairs<V> | null {
  return items.length === 0 ? null : items.map(([key, value]) => ({ key, value }))
}

function buffers(items: readonly (readonly [number, Uint8Array])[]): Pairs<Buffer> | null {
  return pairs(items.map(([key, value]) => [key, Buffer.from(value.buffer, value.byteOffset, value.byteLength)] as const))
}

function toAvro(entry: ManifestEntry, { spec, fields, formatVersion }: ManifestForm): object {
  const added = entry.status === EntryStatus.added
  const { path, recordCount, sizeBytes, metrics, partition, firstRowId } = entry.file
  return {
    status: entry.status,
    // Null is inherited from the manifest list, so that a commit made again rewrites only that (spec, "Inheritance").
    snapshot_id: added ? null : entry.snapshotId,
    sequence_number: added ? null : entry.sequenceNumber,
    file_sequence_number: added ? null : entry.fileSequenceNumber,
    data_file: {
      content: 0,
      file_path: path,
      file_format: 'PARQUET',
      partition: toAvroPartition(spec, fields, partition),
      record_count: recordCount,
      file_size_in_bytes: sizeBytes,
      column_sizes: pairs(metrics.columnSizes),
      value_counts: pairs(metrics.valueCounts),
      null_value_counts: pairs(metrics.nullValueCounts),
      nan_value_counts: pairs(metrics.nanValueCounts ?? []),
      lower_bounds: buffers(metrics.lowerBounds),
      upper_bounds: buffers(metrics.upperBounds),
      key_metadata: null,
      split_offsets: metrics.splitOffsets.length === 0 ? null : metrics.splitOffsets,
      equality_ids: null,
      sort_order_id: null,
      // Rows that are new get their ids from the manifest list (spec, "First Row ID Inheritance").
      ...(formatVersion >= 3 ? { first_row_id: added ? null : firstRowId } : {}),
    },
  }
}

/**
 * Writes a manifest. Its header also says, under `frazil.files`, what each entry's file holds of the log (level and
 * ranges, in order of the entries), so that a topic can be rebuilt from the table's folder alone (T22).
 */
export async function encodeManifest(
  entries: readonly ManifestEntry[],
  metadata: Pick<TableMetadata, 'schemas' | 'current-schema-id' | 'partition-specs' | 'format-version'>,
  specId: number,
  sync: Uint8Array,
): Promise<Buffer> {
  const spec = specById(metadata, specId)
  const form: ManifestForm = { formatVersion: metadata['format-version'], spec, fields: boundFields(metadata, spec) }
  const schema = metadata.schemas.find((one) => one['schema-id'] === metadata['current-schema-id'])
  const header = {
    schema: JSON.stringify(schema),
    'schema-id': String(metadata['current-schema-id']),
    'partition-spec': JSON.stringify(spec.fields),
    'partition-spec-id': String(specId),
    'format-version': String(form.formatVersion),
    content: 'data',
    'frazil.files': JSON.stringify(entries.map((entry) => (entry.ranges === null ? null : [entry.level, entry.ranges]))),
  }
  const { type, text } = formOf(form)
  return writeContainer(type, text, header, entries, (entry) => toAvro(entry, form), sync)
}

const unpair = <V>(items: Pairs<V> | null): [number, V][] => (items ?? []).map(({ key, value }) => [key, value])

function fileOf(file: AvroEntry['data_file'], partition: readonly PartitionValue[], firstRowId: number | null): DataFile {
  return {
    path: file.file_path,
    recordCount: file.record_count,
    sizeBytes: file.file_size_in_bytes,
    metrics: {
      columnSizes: unpair(file.column_sizes),
      valueCounts: unpair(file.value_counts),
      nullValueCounts: unpair(file.null_value_counts),
      ...(file.nan_value_counts ? { nanValueCounts: unpair(file.nan_value_counts) } : {}),
      lowerBounds: unpair(file.lower_bounds),
      upperBounds: unpair(file.upper_bounds),
      splitOffsets: file.split_offsets ?? [],
    },
    partition,
    firstRowId,
  }
}

/**
 * Reads a manifest of a table; what its entries inherit comes from its line in the manifest list: snapshot, sequence
 * numbers, and row ids, which go on over the files that have none of their own.
 */
export async function decodeManifest(
  bytes: Buffer,
  line: ManifestListEntry,
  metadata: Pick<TableMetadata, 'schemas' | 'partition-specs'>,
): Promise<ManifestEntry[]> {
  const spec = specById(metadata, line.specId)
  const fields = boundFields(metadata, spec)
  let nextRowId = line.firstRowId
  const toItem = (row: unknown): { -readonly [K in keyof ManifestEntry]: ManifestEntry[K] } => {
    const { data_file: file, status } = row as AvroEntry
    let firstRowId = file.first_row_id ?? null
    if (firstRowId === null && nextRowId !== null && status !== EntryStatus.deleted) {
      firstRowId = nextRowId
      nextRowId += file.record_count
    }
    return fromAvro(row as AvroEntry, line, fileOf(file, fromAvroPartition(spec, fields, file.partition), firstRowId))
  }
  const { header, items } = await readContainer(bytes, avroType, toItem)
  const files = JSON.parse(header.get('frazil.files') ?? '[]') as readonly (readonly [number, readonly RangeTuple[]] | null | undefined)[]
  for (const [at, entry] of items.entries()) {
    entry.ranges = files[at]?.[1] ?? null
    entry.level = files[at]?.[0] ?? 0
  }
  return items
}

/** An entry without what stands in the header. */
function fromAvro(row: AvroEntry, line: ManifestListEntry, file: DataFile): { -readonly [K in keyof ManifestEntry]: ManifestEntry[K] } {
  return {
    status: row.status,
    snapshotId: row.snapshot_id ?? line.addedSnapshotId,
    sequenceNumber: row.sequence_number ?? line.sequenceNumber,
    fileSequenceNumber: row.file_sequence_number ?? line.sequenceNumber,
    file,
    specId: line.specId,
    ranges: null,
    level: 0,
  }
}
