import { summarizePartitions } from '../partition/avro.ts'
import type { BoundField } from '../partition/spec.ts'
import { avroType } from './avroTypes.ts'
import { readContainer, writeContainer } from './container.ts'
import type { LongId, ManifestEntry, ManifestListEntry } from './types.ts'
import { EntryStatus } from './types.ts'

const field = (id: number, name: string, type: string): object => ({ name, type, 'field-id': id })

/** Iceberg spec, "Manifest Lists". */
const schemaOf = (formatVersion: number): object => ({
  type: 'record',
  name: 'manifest_file',
  fields: [
    field(500, 'manifest_path', 'string'),
    field(501, 'manifest_length', 'long'),
    field(502, 'partition_spec_id', 'int'),
    field(517, 'content', 'int'),
    field(515, 'sequence_number', 'long'),
    field(516, 'min_sequence_number', 'long'),
    field(503, 'added_snapshot_id', 'long'),
    field(504, 'added_files_count', 'int'),
    field(505, 'existing_files_count', 'int'),
    field(506, 'deleted_files_count', 'int'),
    field(512, 'added_rows_count', 'long'),
    field(513, 'existing_rows_count', 'long'),
    field(514, 'deleted_rows_count', 'long'),
    {
      name: 'partitions',
      type: [
        'null',
        {
          type: 'array',
          'element-id': 508,
          items: {
            type: 'record',
            name: 'r508',
            fields: [
              field(509, 'contains_null', 'boolean'),
              { name: 'contains_nan', type: ['null', 'boolean'], default: null, 'field-id': 518 },
              { name: 'lower_bound', type: ['null', 'bytes'], default: null, 'field-id': 510 },
              { name: 'upper_bound', type: ['null', 'bytes'], default: null, 'field-id': 511 },
            ],
          },
        },
      ],
      default: null,
      'field-id': 507,
    },
    { name: 'key_metadata', type: ['null', 'bytes'], default: null, 'field-id': 519 },
    ...(formatVersion >= 3 ? [{ name: 'first_row_id', type: ['null', 'long'], default: null, 'field-id': 520 }] : []),
  ],
})

const FORMS = [2, 3].map((formatVersion) => {
  const schema = schemaOf(formatVersion)
  return { text: JSON.stringify(schema), type: avroType(schema) }
})

interface AvroLine {
  readonly manifest_path: string
  readonly manifest_length: number
  readonly partition_spec_id: number
  readonly content: number
  readonly sequence_number: number
  readonly min_sequence_number: number
  readonly added_snapshot_id: LongId
  readonly added_files_count?: number
  readonly existing_files_count?: number
  readonly deleted_files_count?: number
  readonly added_rows_count: number
  readonly existing_rows_count: number
  readonly deleted_rows_count: number
  readonly partitions?: readonly AvroSummary[] | null
  readonly first_row_id?: number | null
  // Older writers named three of the columns otherwise.
  readonly added_data_files_count?: number
  readonly existing_data_files_count?: number
  readonly deleted_data_files_count?: number
}

interface AvroSummary {
  readonly contains_null: boolean
  readonly contains_nan?: boolean | null
  readonly lower_bound?: Buffer | null
  readonly upper_bound?: Buffer | null
}

/** The line of a manifest with these entries, written by the snapshot with this id and sequence number. */
export function describeManifest(
  path: string,
  lengthBytes: number,
  entries: readonly ManifestEntry[],
  sequenceNumber: number,
  snapshotId: LongId,
  spec: { readonly id: number; readonly fields: readonly BoundField[] },
): ManifestListEntry {
  const line = { addedFiles: 0, existingFiles: 0, deletedFiles: 0, addedRows: 0, existingRows: 0, deletedRows: 0 }
  let minSequenceNumber = sequenceNumber
  for (const { status, file, sequenceNumber: own } of entries) {
    if (status === EntryStatus.added) {
      line.addedFiles++
      line.addedRows += file.recordCount
    } else if (status === EntryStatus.existing) {
      line.existingFiles++
      line.existingRows += file.recordCount
      minSequenceNumber = Math.min(minSequenceNumber, own)
    } else {
      line.deletedFiles++
      line.deletedRows += file.recordCount
    }
  }
  return {
    path,
    lengthBytes,
    specId: spec.id,
    content: 0,
    sequenceNumber,
    minSequenceNumber,
    addedSnapshotId: snapshotId,
    ...line,
    partitions: summarizePartitions(
      spec.fields,
      entries.map((entry) => entry.file.partition),
    ),
    firstRowId: null,
  }
}

function toAvro(line: ManifestListEntry): object {
  return {
    manifest_path: line.path,
    manifest_length: line.lengthBytes,
    partition_spec_id: line.specId,
    content: line.content,
    sequence_number: line.sequenceNumber,
    min_sequence_number: line.minSequenceNumber,
    added_snapshot_id: line.addedSnapshotId,
    added_files_count: line.addedFiles,
    existing_files_count: line.existingFiles,
    deleted_files_count: line.deletedFiles,
    added_rows_count: line.addedRows,
    existing_rows_count: line.existingRows,
    deleted_rows_count: line.deletedRows,
    partitions: line.partitions.map((one) => ({
      contains_null: one.containsNull,
      contains_nan: one.containsNan,
      lower_bound: one.lower === null ? null : Buffer.from(one.lower),
      upper_bound: one.upper === null ? null : Buffer.from(one.upper),
    })),
    key_metadata: null,
    first_row_id: line.firstRowId,
  }
}

/** The snapshot of a manifest list; `firstRowId` is null before v3. */
export interface ListOf {
  readonly id: LongId
  readonly parentId: LongId | null
  readonly sequenceNumber: number
  readonly formatVersion: number
  readonly firstRowId: number | null
}

/** Writes the manifest list of a snapshot. */
export async function encodeManifestList(lines: readonly ManifestListEntry[], snapshot: ListOf, sync: Uint8Array): Promise<Buffer> {
  const header = {
    'snapshot-id': String(snapshot.id),
    'parent-snapshot-id': String(snapshot.parentId),
    'sequence-number': String(snapshot.sequenceNumber),
    'format-version': String(snapshot.formatVersion),
    ...(snapshot.firstRowId === null ? {} : { 'first-row-id': String(snapshot.firstRowId) }),
  }
  const { type, text } = FORMS[snapshot.formatVersion >= 3 ? 1 : 0]!
  return writeContainer(type, text, header, lines, toAvro, sync)
}

export async function decodeManifestList(bytes: Buffer): Promise<ManifestListEntry[]> {
  return (await readContainer(bytes, avroType, (row) => fromAvro(row as AvroLine))).items
}

function fromAvro(row: AvroLine): ManifestListEntry {
  return {
    path: row.manifest_path,
    lengthBytes: row.manifest_length,
    specId: row.partition_spec_id,
    content: row.content,
    sequenceNumber: row.sequence_number,
    minSequenceNumber: row.min_sequence_number,
    addedSnapshotId: row.added_snapshot_id,
    addedFiles: row.added_files_count ?? row.added_data_files_count ?? 0,
    existingFiles: row.existing_files_count ?? row.existing_data_files_count ?? 0,
    deletedFiles: row.deleted_files_count ?? row.deleted_data_files_count ?? 0,
    addedRows: row.added_rows_count,
    existingRows: row.existing_rows_count,
    deletedRows: row.deleted_rows_count,
    partitions: (row.partitions ?? []).map((one) => ({
      containsNull: one.contains_null,
      containsNan: one.contains_nan ?? null,
      lower: one.lower_bound ?? null,
      upper: one.upper_bound ?? null,
    })),
    firstRowId: row.first_row_id ?? null,
  }
}
