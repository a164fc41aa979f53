import { FrazilError } from '../../base/errors.ts'
import { printJson, parseJson } from './json.ts'
import type { LongId, ManifestListEntry, Snapshot, TableMetadata } from './types.ts'

/** A replaced file that a tag or branch still shows: it was live from `addedSequence` up to below `removedSequence`. */
export interface PinnedFile {
  readonly key: string
  readonly addedSequence: number
  readonly removedSequence: number
}

/**
 * The object in `<table>/_frazil` beside each publication (T22): with it and the manifests (whose headers hold what each
 * file has of the log) a topic can be rebuilt from the table's folder alone.
 */
export interface TopicObject {
  readonly format: 1
  readonly publication: number
  /** Store key of the Iceberg metadata of the same publication. */
  readonly metadataKey: string
  readonly topic: {
    readonly id: string
    readonly name: string
    readonly partitions: number
    readonly configs: Readonly<Record<string, string>>
    readonly createdMs: number
  }
  readonly table: { readonly uuid: string; readonly namespace: string; readonly name: string; readonly location: string }
  /** Per partition: log start, and the offset below which every record is in the table (or was deleted). */
  readonly progress: readonly { readonly partition: number; readonly logStartOffset: number; readonly convertedTo: number }[]
  readonly pinned: readonly PinnedFile[]
  /** Sequence number of the last snapshot that removed files: older ones are no longer complete. */
  readonly removedSequence: number
}

/** A publication as it stands: metadata, the manifest list of its current snapshot, and the object in `_frazil`. */
export interface LoadedTable {
  readonly metadataKey: string
  readonly metadata: TableMetadata
  /** The metadata file's own text. */
  readonly text: string
  readonly lines: readonly ManifestListEntry[]
  readonly pinned: readonly PinnedFile[]
  readonly removedSequence: number
}

/** The current snapshot, or null: Java writes -1 for "none", others null or nothing (hazard I6). */
export function currentSnapshot(metadata: TableMetadata): Snapshot | null {
  return snapshotById(metadata, metadata['current-snapshot-id'])
}

export function snapshotById(metadata: TableMetadata, id: LongId | null | undefined): Snapshot | null {
  if (id === null || id === undefined || BigInt(id) < 0n) return null
  return metadata.snapshots.find((snapshot) => BigInt(snapshot['snapshot-id']) === BigInt(id)) ?? null
}

/** Reads a metadata file; absent optional lists become empty ones. */
export function parseMetadata(text: string): TableMetadata {
  const raw = parseJson(text) as Partial<TableMetadata> | null
  if (raw === null || typeof raw !== 'object' || (raw['format-version'] !== 2 && raw['format-version'] !== 3)) {
    throw new FrazilError('CORRUPT', 'table metadata is not of Iceberg format version 2 or 3')
  }
  return {
    ...(raw as TableMetadata),
    properties: raw.properties ?? {},
    snapshots: raw.snapshots ?? [],
    'snapshot-log': raw['snapshot-log'] ?? [],
    'metadata-log': raw['metadata-log'] ?? [],
    refs: raw.refs ?? {},
    'current-snapshot-id': raw['current-snapshot-id'] ?? -1,
  }
}

export function printMetadata(metadata: TableMetadata): string {
  return printJson(metadata)
}
