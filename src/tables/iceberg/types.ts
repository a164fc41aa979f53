import type { TableSchema } from '../../schemas/columns/types.ts'

/** A 64-bit id. Ids minted here stay below 2^53; Java's are random over 63 bits and arrive as BigInt (hazard I7). */
export type LongId = number | bigint

/** Iceberg spec, "Snapshots" (v2, v3). */
export interface Snapshot {
  readonly 'snapshot-id': LongId
  /** Absent for a first snapshot; never -1 (hazard I6). */
  readonly 'parent-snapshot-id'?: LongId
  readonly 'sequence-number': number
  readonly 'timestamp-ms': number
  readonly 'manifest-list': string
  readonly summary: Readonly<Record<string, string>>
  readonly 'schema-id'?: number
  /** v3: the row id of the first row that the snapshot added, and how many it gave out. */
  readonly 'first-row-id'?: number
  readonly 'added-rows'?: number
}

export interface SnapshotRef {
  readonly 'snapshot-id': LongId
  readonly type: 'branch' | 'tag'
  readonly 'min-snapshots-to-keep'?: number
  readonly 'max-snapshot-age-ms'?: number
  readonly 'max-ref-age-ms'?: number
}

/** Iceberg spec, "Schemas". */
export type Schema = TableSchema

/** Iceberg spec, "Table Metadata Fields" (v2, v3). Keys that we do not know are carried along. */
export interface TableMetadata {
  readonly 'format-version': number
  readonly 'table-uuid': string
  readonly location: string
  /** v3: the row id that the next row gets. */
  readonly 'next-row-id'?: number
  readonly 'last-sequence-number': number
  readonly 'last-updated-ms': number
  readonly 'last-column-id': number
  readonly schemas: readonly Schema[]
  readonly 'current-schema-id': number
  readonly 'partition-specs': readonly PartitionSpec[]
  readonly 'default-spec-id': number
  readonly 'last-partition-id': number
  readonly 'sort-orders': readonly { readonly 'order-id': number; readonly fields: readonly unknown[] }[]
  readonly 'default-sort-order-id': number
  readonly properties: Readonly<Record<string, string>>
  readonly 'current-snapshot-id': LongId
  readonly snapshots: readonly Snapshot[]
  readonly 'snapshot-log': readonly { readonly 'snapshot-id': LongId; readonly 'timestamp-ms': number }[]
  readonly 'metadata-log': readonly { readonly 'metadata-file': string; readonly 'timestamp-ms': number }[]
  readonly refs: Readonly<Record<string, SnapshotRef>>
}

/** Iceberg spec, "Partition Specs". */
export interface PartitionSpec {
  readonly 'spec-id': number
  readonly fields: readonly PartitionField[]
}

export interface PartitionField {
  readonly name: string
  readonly transform: string
  readonly 'source-id': number
  readonly 'field-id': number
}

/** A partition value as Avro has it: dates are days, instants microseconds, decimals their unscaled bytes. */
export type PartitionValue = null | boolean | number | bigint | string | Uint8Array

/** Column metrics by field id, as pairs in order of id (they cross threads and become Avro arrays). */
export interface FileMetrics {
  readonly columnSizes: readonly (readonly [number, number])[]
  readonly valueCounts: readonly (readonly [number, number])[]
  readonly nullValueCounts: readonly (readonly [number, number])[]
  /** Of float and double columns. */
  readonly nanValueCounts?: readonly (readonly [number, number])[]
  /** Iceberg single-value serialization (spec, Appendix D). */
  readonly lowerBounds: readonly (readonly [number, Uint8Array])[]
  readonly upperBounds: readonly (readonly [number, Uint8Array])[]
  /** Ascending starts of row groups. */
  readonly splitOffsets: readonly number[]
}

/** One data file as a manifest names it. */
export interface DataFile {
  /** Full URI. */
  readonly path: string
  readonly recordCount: number
  readonly sizeBytes: number
  readonly metrics: FileMetrics
  /** Values of the fields of its spec, in their order; empty without partitioning. */
  readonly partition: readonly PartitionValue[]
  /** v3: the id of its first row, where rows do not hold ids of their own; null before v3 and while it is inherited. */
  readonly firstRowId: number | null
}

/** Rows of one partition in a file: partition, first offset, last offset, rows, maximum timestamp ms, original bytes. */
export type RangeTuple = readonly [number, number, number, number, number, number]

export const EntryStatus = { existing: 0, added: 1, deleted: 2 } as const

/** A manifest entry with what it inherits from the manifest list filled in. */
export interface ManifestEntry {
  readonly status: number
  readonly snapshotId: LongId
  readonly sequenceNumber: number
  readonly fileSequenceNumber: number
  readonly file: DataFile
  readonly specId: number
  /** What the file holds of the log, and its merge level; null when a foreign writer made the manifest. */
  readonly ranges: readonly RangeTuple[] | null
  readonly level: number
}

/** One line of a manifest list. */
export interface ManifestListEntry {
  readonly path: string
  readonly lengthBytes: number
  readonly specId: number
  readonly content: number
  readonly sequenceNumber: number
  readonly minSequenceNumber: number
  readonly addedSnapshotId: LongId
  readonly addedFiles: number
  readonly existingFiles: number
  readonly deletedFiles: number
  readonly addedRows: number
  readonly existingRows: number
  readonly deletedRows: number
  /** Partition summaries, one a field of the spec. */
  readonly partitions: readonly PartitionSummary[]
  /** v3; null before the manifest was in a v3 snapshot. */
  readonly firstRowId: number | null
}

/** Iceberg spec, `field_summary`: bounds in single-value serialization, null where no file has a value. */
export interface PartitionSummary {
  readonly containsNull: boolean
  readonly containsNan: boolean | null
  readonly lower: Uint8Array | null
  readonly upper: Uint8Array | null
}
