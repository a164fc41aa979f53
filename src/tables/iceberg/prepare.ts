import type { Clock } from '../../base/clock.ts'
import type { TopicSettings } from '../../base/config/topicSettings.ts'
import type { StateView, TableFile, TableView, TopicView } from '../../metadata/view.ts'
import type { ObjectStore } from '../../storage/store.ts'
import type { Typings } from '../typed/typings.ts'
import type { TableCache } from './cache.ts'
import type { Leases } from './leases.ts'
import { decodeManifest } from './manifest.ts'
import { listsNeeded } from './obsolete.ts'
import { relocate, type Relocated } from './relocate.ts'
import { snapshotsToDrop } from './retain.ts'
import {
  FOLD_AT,
  FOLD_BELOW_BYTES,
  FOLD_LEAVES,
  type Change,
  type Graces,
  type StagedFile,
  type StageInput,
  type TableIdentity,
} from './stage.ts'
import type { OffsetRange } from './summary.ts'
import type { LoadedTable } from './table.ts'
import { EntryStatus, type LongId, type ManifestEntry, type Snapshot, type TableMetadata } from './types.ts'

/** What a publication is to change, decided on the state it will be based on. */
export interface Plan {
  readonly operation: Change['operation']
  readonly added: readonly StagedFile[]
  readonly removed: readonly TableFile[]
  readonly converted: readonly OffsetRange[]
  readonly dataTimeMs: number
  readonly edit?: (metadata: TableMetadata) => TableMetadata
  /** Snapshots to leave out besides those that are due. */
  readonly drop?: readonly LongId[]
}

export interface PrepareContext {
  readonly store: ObjectStore
  readonly state: StateView
  readonly clock: Clock
  readonly cache: TableCache
  readonly leases: Leases
  readonly settings: (topic: TopicView) => TopicSettings
  readonly typings?: Typings
  readonly uuid: () => string
}

export interface Prepared {
  readonly input: StageInput
  /** What a moved folder needs besides. */
  readonly moved: Relocated | null
}

const METADATA_GRACE_MAX_MS = 3_600_000
/** Files of a table that a load handed out lately stay this long, however short the table's own grace. */
const GRACE_MIN_MS = 60_000

/** Gathers what `stage` needs for a publication: reads the manifests and lists it will rewrite or drop. */
export async function prepare(
  context: PrepareContext,
  topic: TopicView,
  table: TableView,
  stored: LoadedTable | null,
  plan: Plan,
): Promise<Prepared> {
  const { cache, clock, store } = context
  const { location } = table
  const uuid = context.uuid()
  const publication = table.publication + 1
  const uri = (key: string): string => store.uri(key)
  let base = stored
  let moved: Relocated | null = null
  if (base !== null && base.metadata.location !== uri(location)) {
    moved = await relocate({ base, cache, location, publication, uuid, uri })
    base = moved.base
  }
  const nowMs = clock.wallMs()
  const drop = base === null || moved !== null ? [] : toDrop(context, topic, table, base, plan, nowMs)
  const input: StageInput = {
    identity: identityOf(context, topic, table, plan),
    base,
    publication,
    change: {
      operation: plan.operation,
      added: plan.added,
      removedKeys: plan.removed.map((file) => file.key),
      offsets: plan.converted,
      dataTimeMs: plan.dataTimeMs,
      ...(plan.edit === undefined ? {} : { edit: plan.edit }),
    },
    userFields: (await context.typings?.of(table))?.typing.fields ?? [],
    nowMs,
    graces: gracesOf(context, topic, table),
    uuid,
    uri,
    keyOf: (text) => store.keyOf(text),
    drop,
    manifestsOf: await manifestsOf(context, base, location, new Set(drop.map((one) => one['snapshot-id']))),
    opened: await openManifests(context, base, moved?.objects ?? [], location, plan),
    moved: moved !== null,
  }
  return { input, moved }
}

/** A client's commit may name a snapshot that is due to go, so snapshots are thinned by our own commits only. */
function toDrop(
  { leases, settings }: PrepareContext,
  topic: TopicView,
  table: TableView,
  { metadata }: LoadedTable,
  plan: Plan,
  nowMs: number,
): Snapshot[] {
  if (plan.edit !== undefined) return metadata.snapshots.filter((snapshot) => plan.drop?.includes(snapshot['snapshot-id']) === true)
  const graceMs = settings(topic).table.fileGraceMs
  return snapshotsToDrop(metadata, { nowMs, graceMs, leased: leases.of(table.uuid) })
}

function gracesOf({ leases, settings }: PrepareContext, topic: TopicView, table: TableView): Graces {
  const { fileGraceMs } = settings(topic).table
  const loaded = leases.of(table.uuid).size > 0
  return {
    fileMs: Math.max(fileGraceMs, loaded ? GRACE_MIN_MS : 0),
    metadataMs: Math.min(METADATA_GRACE_MAX_MS, Math.max(fileGraceMs, loaded ? GRACE_MIN_MS : 0)),
  }
}

function identityOf({ settings, state }: PrepareContext, topic: TopicView, table: TableView, plan: Plan): TableIdentity {
  const ends = new Map(plan.converted.map((range) => [range.partition, range.lastOffset + 1]))
  const { targetFileBytes, formatVersion, partitionBy } = settings(topic).table
  const progress = Array.from({ length: topic.partitions }, (_, partition) => ({
    partition,
    logStartOffset: state.partition(topic.topic, partition)?.logStartOffset ?? 0,
    convertedTo: Math.max(state.firstUnconverted(topic.topic, partition), ends.get(partition) ?? 0),
  }))
  return {
    topic: {
      id: topic.topicId,
      name: topic.name,
      partitions: topic.partitions,
      configs: Object.fromEntries(topic.configs),
      createdMs: topic.createdMs,
    },
    table: { uuid: table.uuid, namespace: table.namespace, name: table.name, location: table.location },
    progress,
    targetFileBytes,
    formatVersion,
    partitionBy,
  }
}

async function manifestsOf(
  { cache }: PrepareContext,
  base: LoadedTable | null,
  location: string,
  drop: ReadonlySet<LongId>,
): Promise<Map<LongId, readonly string[]>> {
  const lists = new Map<LongId, readonly string[]>()
  if (base === null || drop.size === 0) return lists
  for (const id of listsNeeded(base.metadata, drop)) {
    const snapshot = base.metadata.snapshots.find((one) => one['snapshot-id'] === id)!
    lists.set(id, await cache.manifestsOf(base.metadata, location, snapshot))
  }
  return lists
}

/** Opens the manifests that are to be rewritten: those with removed files, newest first, and when there are many the small ones. */
async function openManifests(
  { cache, store }: PrepareContext,
  base: LoadedTable | null,
  extra: Relocated['objects'],
  location: string,
  plan: Plan,
): Promise<Map<string, readonly ManifestEntry[]>> {
  const opened = new Map<string, readonly ManifestEntry[]>()
  if (base === null || plan.operation === 'none') return opened
  const read = async (line: LoadedTable['lines'][number]): Promise<readonly ManifestEntry[]> => {
    const key = store.keyOf(line.path)
    const fresh = extra.find((object) => object.key === key)
    return fresh === undefined ? cache.entries(base.metadata, location, line) : decodeManifest(fresh.body, line, base.metadata)
  }
  const missing = new Set(plan.removed.map((file) => store.uri(file.key)))
  for (const line of base.lines) {
    if (missing.size === 0) break
    const entries = await read(line)
    let holds = false
    for (const entry of entries) if (entry.status !== EntryStatus.deleted && missing.delete(entry.file.path)) holds = true
    if (holds) opened.set(line.path, entries)
  }
  const small = base.lines.filter((line) => line.lengthBytes < FOLD_BELOW_BYTES && !opened.has(line.path))
  if (small.length < FOLD_AT) return opened
  // The smallest ones: a large one that was folded lately is not written again each time.
  small.sort((one, other) => one.lengthBytes - other.lengthBytes)
  for (const line of small.slice(0, FOLD_AT - FOLD_LEAVES)) opened.set(line.path, await read(line))
  return opened
}
