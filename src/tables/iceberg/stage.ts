import { FrazilError } from '../../base/errors.ts'
import { ROW_LAST_COLUMN_ID, ROW_SCHEMA } from '../row/schema.ts'
import { tupleKey } from '../partition/avro.ts'
import { bindTerms, boundFields, specById, withSpec, type BoundField } from '../partition/spec.ts'
import type { PartitionTerm } from '../../base/config/partitionBy.ts'
import type { IcebergField } from '../../schemas/columns/types.ts'
import { withColumns } from './columns.ts'
import { layout, mintSnapshotId, publicationStem } from './layout.ts'
import { encodeManifest } from './manifest.ts'
import { describeManifest, encodeManifestList } from './manifestList.ts'
import { obsoleteOf } from './obsolete.ts'
import { tableProperties } from './properties.ts'
import { summarize, SUMMARY_PARTITIONS_MAX, type OffsetRange, type Operation } from './summary.ts'
import { currentSnapshot, printMetadata, type LoadedTable, type TopicObject } from './table.ts'
import {
  EntryStatus,
  type FileMetrics,
  type LongId,
  type ManifestEntry,
  type ManifestListEntry,
  type PartitionValue,
  type RangeTuple,
  type Snapshot,
  type TableMetadata,
} from './types.ts'

/** A data file that was uploaded and waits to become part of a table. */
export interface StagedFile {
  readonly key: string
  readonly sizeBytes: number
  readonly rows: number
  readonly level: number
  readonly ranges: readonly RangeTuple[]
  readonly metrics: FileMetrics
  /** The one partition that all of its rows are in; left out without partitioning. */
  readonly partition?: StagedPartition | undefined
}

export interface StagedPartition {
  readonly fields: readonly BoundField[]
  readonly values: readonly PartitionValue[]
}

/** What a publication changes. `none` writes metadata only: properties, refs, expiry. */
export interface Change {
  readonly operation: Operation | 'none'
  readonly added: readonly StagedFile[]
  readonly removedKeys: readonly string[]
  readonly offsets: readonly OffsetRange[]
  /** The newest commit time of the records that the table then holds (T9). */
  readonly dataTimeMs: number
  readonly edit?: (metadata: TableMetadata) => TableMetadata
}

export interface TableIdentity {
  readonly topic: TopicObject['topic']
  readonly table: TopicObject['table']
  readonly progress: TopicObject['progress']
  readonly targetFileBytes: number
  /** `table.format.version`; never lowered. */
  readonly formatVersion: number
  /** `table.partition.by`. */
  readonly partitionBy: readonly PartitionTerm[]
}

export interface Graces {
  /** How long a replaced data file stays. */
  readonly fileMs: number
  /** How long metadata that nothing refers to stays. */
  readonly metadataMs: number
}

export interface StageInput {
  readonly identity: TableIdentity
  readonly base: LoadedTable | null
  readonly publication: number
  readonly change: Change
  /** A user's columns as they are now; those of the base that are not among them stay. */
  readonly userFields: readonly IcebergField[]
  readonly nowMs: number
  readonly graces: Graces
  /** Fresh: names everything that this staging makes. */
  readonly uuid: string
  readonly uri: (key: string) => string
  readonly keyOf: (uri: string) => string | null
  /** The folder was moved and `base` is rewritten for its new place (relocate.ts): the metadata log starts afresh. */
  readonly moved: boolean
  /** Snapshots to leave out (retain.ts), and the manifests named by those and their neighbours, by snapshot id. */
  readonly drop: readonly Snapshot[]
  readonly manifestsOf: ReadonlyMap<LongId, readonly string[]>
  /** Live entries of the manifests that are rewritten, by path: those with removed files, those that are folded. */
  readonly opened: ReadonlyMap<string, readonly ManifestEntry[]>
}

export interface Staged {
  readonly objects: readonly { readonly key: string; readonly body: Buffer }[]
  readonly loaded: LoadedTable
  readonly snapshotId: LongId
  readonly publication: number
  readonly obsolete: readonly { readonly key: string; readonly graceMs: number }[]
}

/** Previous metadata files that stay and stand in the metadata log. */
export const METADATA_LOG_MAX = 20
/** From this many manifests on, the small ones are folded into few (T12). */
export const FOLD_AT = 48
/** … but this many are left. */
export const FOLD_LEAVES = 16
export const FOLD_BELOW_BYTES = 4 * 1024 * 1024
const ENTRIES_PER_MANIFEST = 4096

/** The metadata of a table before its first publication. */
function freshMetadata(input: StageInput): TableMetadata {
  const { identity, uri } = input
  const { location } = identity.table
  return {
    'format-version': identity.formatVersion,
    ...(identity.formatVersion >= 3 ? { 'next-row-id': 0 } : {}),
    'table-uuid': identity.table.uuid,
    location: uri(location),
    'last-sequence-number': 0,
    'last-updated-ms': identity.topic.createdMs,
    'last-column-id': ROW_LAST_COLUMN_ID,
    schemas: [ROW_SCHEMA],
    'current-schema-id': ROW_SCHEMA['schema-id'],
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'default-spec-id': 0,
    'last-partition-id': 999,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    'default-sort-order-id': 0,
    properties: tableProperties({
      metadataUri: `${uri(location)}/_iceberg/metadata`,
      dataUri: `${uri(location)}/data`,
      topicName: identity.topic.name,
      topicId: identity.topic.id,
      targetFileBytes: identity.targetFileBytes,
    }),
    'current-snapshot-id': -1,
    snapshots: [],
    'snapshot-log': [],
    'metadata-log': [],
    refs: {},
  }
}

/** The base in the form that the settings ask for: format version (never lowered), specs of the files, default spec. */
function shaped(input: StageInput, before: TableMetadata): { metadata: TableMetadata; specOf: (file: StagedFile) => number } {
  const { identity, change } = input
  let metadata = before
  if (metadata['format-version'] < identity.formatVersion)
    metadata = { ...metadata, 'format-version': identity.formatVersion, 'next-row-id': metadata['next-row-id'] ?? 0 }
  const specIds = new Map<StagedFile, number>()
  for (const file of change.added) {
    const made = withSpec(metadata, file.partition?.fields ?? [])
    metadata = made.metadata
    specIds.set(file, made.specId)
  }
  const schema = metadata.schemas.find((one) => one['schema-id'] === metadata['current-schema-id'])!
  const made = withSpec(metadata, bindTerms(schema, identity.partitionBy).fields)
  metadata = made.metadata
  if (metadata['default-spec-id'] !== made.specId) metadata = { ...metadata, 'default-spec-id': made.specId }
  return { metadata, specOf: (file) => specIds.get(file)! }
}

/** Entries of one manifest: all of one partition spec. */
interface NewManifest {
  readonly specId: number
  readonly entries: ManifestEntry[]
}

/** Sums up the manifests of the new snapshot: what stays as it is, and the entries to write anew. */
function arrange(
  input: StageInput,
  specOf: (file: StagedFile) => number,
  snapshotId: LongId,
  sequenceNumber: number,
): { kept: ManifestListEntry[]; written: NewManifest[] } {
  const { change, opened, uri } = input
  const removed = new Set(change.removedKeys.map(uri))
  const kept = (input.base?.lines ?? []).filter((line) => !opened.has(line.path) && line.addedFiles + line.existingFiles > 0)
  const fresh: ManifestEntry[] = change.added.map((file) => ({
    status: EntryStatus.added,
    snapshotId,
    sequenceNumber,
    fileSequenceNumber: sequenceNumber,
    file: {
      path: uri(file.key),
      recordCount: file.rows,
      sizeBytes: file.sizeBytes,
      metrics: file.metrics,
      partition: file.partition?.values ?? [],
      firstRowId: null,
    },
    specId: specOf(file),
    ranges: file.ranges,
    level: file.level,
  }))
  const existing: ManifestEntry[] = []
  const seen = new Set(fresh.map((entry) => entry.file.path))
  if (seen.size !== fresh.length) throw new FrazilError('REFUSED', 'a file is added twice in one publication')
  for (const entries of opened.values()) {
    for (const entry of entries) {
      if (entry.status === EntryStatus.deleted) continue
      if (seen.has(entry.file.path)) throw new FrazilError('REFUSED', `${entry.file.path} would be live twice`)
      seen.add(entry.file.path)
      if (removed.delete(entry.file.path)) fresh.push({ ...entry, status: EntryStatus.deleted, snapshotId })
      else existing.push({ ...entry, status: EntryStatus.existing })
    }
  }
  if (removed.size > 0) throw new FrazilError('REFUSED', `${[...removed][0]} is not in the table, so it cannot be removed`)
  const written: NewManifest[] = []
  for (const specId of new Set([...existing, ...fresh].map((entry) => entry.specId)))
    written.push(
      ...packed(
        specId,
        existing.filter((entry) => entry.specId === specId),
        fresh.filter((entry) => entry.specId === specId),
      ),
    )
  return { kept, written }
}

function packed(specId: number, existing: ManifestEntry[], fresh: readonly ManifestEntry[]): NewManifest[] {
  // Clustered by partition and time, so that a filter on either leaves most manifests closed.
  existing.sort((a, b) => (a.ranges?.[0]?.[0] ?? 0) - (b.ranges?.[0]?.[0] ?? 0) || a.sequenceNumber - b.sequenceNumber)
  const written: ManifestEntry[][] = []
  for (let at = 0; at < existing.length; at += ENTRIES_PER_MANIFEST) written.push(existing.slice(at, at + ENTRIES_PER_MANIFEST))
  if (fresh.length > 0) {
    const last = written.at(-1)
    if (last !== undefined && last.length + fresh.length <= ENTRIES_PER_MANIFEST / 8) last.push(...fresh)
    else written.push([...fresh])
  }
  return written.map((entries) => ({ specId, entries }))
}

/**
 * Gives row ids (spec, "Row Lineage"): each manifest that has none yet, those of before the upgrade too, gets the next
 * ones, in the order of the list. The same lines before v3.
 */
function numbered(lines: readonly ManifestListEntry[], nextRowId: number | undefined): { lines: ManifestListEntry[]; nextRowId: number } {
  let next = nextRowId ?? 0
  if (nextRowId === undefined) return { lines: [...lines], nextRowId: next }
  const given = lines.map((line) => {
    if (line.firstRowId !== null) return line
    const firstRowId = next
    next += line.addedRows + line.existingRows
    return { ...line, firstRowId }
  })
  return { lines: given, nextRowId: next }
}

function total(files: readonly { readonly rows: number; readonly sizeBytes: number }[]): {
  files: number
  rows: number
  sizeBytes: number
} {
  return {
    files: files.length,
    rows: files.reduce((sum, file) => sum + file.rows, 0),
    sizeBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0),
  }
}

/**
 * A snapshot is dated by the newest commit that it holds (T9). Where that would not tell it from its parent, a
 * millisecond is added while that is not in the future: DuckDB finds the current snapshot by date.
 */
function dateOf(input: StageInput, parent: Snapshot | null): number {
  const dataMs = Math.max(input.change.dataTimeMs, input.identity.topic.createdMs)
  if (parent === null) return dataMs
  const parentMs = parent['timestamp-ms']
  return dataMs > parentMs ? dataMs : parentMs + (parentMs + 1 <= input.nowMs ? 1 : 0)
}

/**
 * Stages a publication: everything that has to be written before CommitTable makes it current. Pure: bytes out of
 * values, no clock, no store. Throws REFUSED when the change does not fit the base.
 */
export async function stage(input: StageInput): Promise<Staged> {
  const { base, change, identity, publication, uri } = input
  const { location } = identity.table
  const stem = publicationStem(publication, input.uuid)
  const sync = Buffer.from(input.uuid.replaceAll('-', ''), 'hex')
  const metadataKey = layout.metadata(location, stem)
  const { metadata: before, specOf } = shaped(input, withColumns(base?.metadata ?? freshMetadata(input), input.userFields))
  const parent = currentSnapshot(before)
  const nextRowId = before['next-row-id']
  const objects: { key: string; body: Buffer }[] = []
  let lines = base?.lines ?? []
  let snapshot: Snapshot | null = null
  const deleted: ManifestEntry[] = []

  // A table always has a snapshot, if an empty one: some readers fail without (hazard I14).
  if (change.operation !== 'none' || parent === null) {
    const id = mintSnapshotId(publication, input.uuid)
    const sequenceNumber = before['last-sequence-number'] + 1
    const { kept, written } = arrange(input, specOf, id, sequenceNumber)
    const fresh: ManifestListEntry[] = []
    for (const [number, { specId, entries }] of written.entries()) {
      const key = layout.manifest(location, stem, number)
      const body = await encodeManifest(entries, before, specId, sync)
      objects.push({ key, body })
      const spec = { id: specId, fields: boundFields(before, specById(before, specId)) }
      fresh.push(describeManifest(uri(key), body.length, entries, sequenceNumber, id, spec))
      deleted.push(...entries.filter((entry) => entry.status === EntryStatus.deleted))
    }
    const given = numbered([...fresh, ...kept], nextRowId)
    lines = given.lines
    const parentId = parent?.['snapshot-id'] ?? null
    const formatVersion = before['format-version']
    const firstRowId = nextRowId ?? null
    const listKey = layout.manifestList(location, stem)
    objects.push({ key: listKey, body: await encodeManifestList(lines, { id, parentId, sequenceNumber, formatVersion, firstRowId }, sync) })
    const offsetsKey = layout.offsets(location, stem)
    if (change.offsets.length > SUMMARY_PARTITIONS_MAX) objects.push({ key: offsetsKey, body: Buffer.from(JSON.stringify(change.offsets)) })
    snapshot = {
      'snapshot-id': id,
      ...(parentId === null ? {} : { 'parent-snapshot-id': parentId }),
      'sequence-number': sequenceNumber,
      'timestamp-ms': dateOf(input, parent),
      'manifest-list': uri(listKey),
      summary: summarize({
        operation: change.operation === 'none' ? 'append' : change.operation,
        parent,
        added: total(change.added),
        deleted: total(deleted.map(({ file }) => ({ rows: file.recordCount, sizeBytes: file.sizeBytes }))),
        publication,
        nowMs: input.nowMs,
        offsets: change.offsets,
        offsetsUri: uri(offsetsKey),
        partitionsChanged: new Set(
          written.flatMap(({ specId, entries }) =>
            entries.flatMap(({ status, file }) => (status === EntryStatus.existing ? [] : `${specId} ${tupleKey(file.partition)}`)),
          ),
        ).size,
      }),
      'schema-id': before['current-schema-id'],
      ...(nextRowId === undefined ? {} : { 'first-row-id': nextRowId, 'added-rows': given.nextRowId - nextRowId }),
    }
  }

  const metadata = change.edit === undefined ? advance(input, before, snapshot) : change.edit(advance(input, before, snapshot))
  const text = printMetadata(metadata)
  const { obsolete, pinned } = obsoleteOf(input, metadata, deleted)
  const removedSequence = deleted.length > 0 ? metadata['last-sequence-number'] : (base?.removedSequence ?? 0)
  const topicObject: TopicObject = { format: 1, publication, metadataKey, ...pick(identity), pinned, removedSequence }
  objects.push({ key: layout.topic(location, stem), body: Buffer.from(JSON.stringify(topicObject)) })
  objects.push({ key: metadataKey, body: Buffer.from(text) })
  return {
    objects,
    loaded: { metadataKey, metadata, text, lines, pinned, removedSequence },
    snapshotId: metadata['current-snapshot-id'],
    publication,
    obsolete,
  }
}

function pick({ topic, table, progress }: TableIdentity): Pick<TopicObject, 'topic' | 'table' | 'progress'> {
  return { topic, table, progress }
}

/** The next table metadata: the new snapshot in, dropped ones out, logs kept short. */
function advance(input: StageInput, before: TableMetadata, snapshot: Snapshot | null): TableMetadata {
  const dropped = new Set<LongId>(input.drop.map((one) => one['snapshot-id']))
  const snapshots = [...before.snapshots.filter((one) => !dropped.has(one['snapshot-id'])), ...(snapshot === null ? [] : [snapshot])]
  const snapshotLog = before['snapshot-log'].filter((entry) => !dropped.has(entry['snapshot-id']))
  const metadataLog = [...before['metadata-log']]
  if (input.base !== null && !input.moved)
    metadataLog.push({ 'metadata-file': input.uri(input.base.metadataKey), 'timestamp-ms': before['last-updated-ms'] })
  if (snapshot === null) return { ...before, snapshots, 'snapshot-log': snapshotLog, 'metadata-log': metadataLog.slice(-METADATA_LOG_MAX) }
  const id = snapshot['snapshot-id']
  const atMs = snapshot['timestamp-ms']
  return {
    ...before,
    'last-sequence-number': snapshot['sequence-number'],
    ...(snapshot['first-row-id'] === undefined ? {} : { 'next-row-id': snapshot['first-row-id'] + (snapshot['added-rows'] ?? 0) }),
    'last-updated-ms': Math.max(before['last-updated-ms'], atMs),
    'current-snapshot-id': id,
    snapshots,
    'snapshot-log': [...snapshotLog, { 'snapshot-id': id, 'timestamp-ms': atMs }],
    'metadata-log': metadataLog.slice(-METADATA_LOG_MAX),
    refs: { ...before.refs, main: { ...before.refs['main'], 'snapshot-id': id, type: 'branch' } },
  }
}
