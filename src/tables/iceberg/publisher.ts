import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Clock } from '../../base/clock.ts'
import type { TopicSettings } from '../../base/config/topicSettings.ts'
import { FrazilError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { TableFile, TableView, TopicView } from '../../metadata/view.ts'
import { KeyMutex } from '../../storage/keyMutex.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { TableCache } from './cache.ts'
import { layout, stemOf } from './layout.ts'
import { Leases } from './leases.ts'
import { listsNeeded } from './obsolete.ts'
import { decodeManifest } from './manifest.ts'
import { relocate, type Relocated } from './relocate.ts'
import { snapshotsToDrop } from './retain.ts'
import {
  FOLD_AT,
  FOLD_BELOW_BYTES,
  FOLD_LEAVES,
  stage,
  type Change,
  type Graces,
  type Staged,
  type StagedFile,
  type TableIdentity,
} from './stage.ts'
import type { OffsetRange } from './summary.ts'
import type { LoadedTable } from './table.ts'
import { EntryStatus, type LongId, type ManifestEntry, type Snapshot, type TableMetadata } from './types.ts'

export interface PublisherOptions {
  readonly store: ObjectStore
  readonly metadata: Metadata
  readonly clock: Clock
  readonly logger: Logger
  readonly registry: Registry
  /** Random UUIDs, canonical lower-case text. */
  readonly uuid: () => string
  readonly settings: (topic: TopicView) => TopicSettings
  /** Memory for parsed metadata and manifests. */
  readonly cacheBytes?: number
}

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

export interface Published {
  readonly table: TableView
  readonly loaded: LoadedTable
}

const ATTEMPTS = 8
const CACHE_BYTES = 64 * 1024 * 1024
const METADATA_GRACE_MAX_MS = 3_600_000
/** Files of a table that a load handed out lately stay this long, however short the table's own grace. */
const GRACE_MIN_MS = 60_000

/**
 * Writes publications: stages one on the current state, uploads its objects, proposes CommitTable, and stages anew when
 * that is refused (L7). One at a time per table; whoever wants to change a table calls `publish`.
 */
export class Publisher {
  readonly leases: Leases
  readonly cache: TableCache
  readonly #options: PublisherOptions
  readonly #mutex = new KeyMutex()
  readonly #running = new Set<Promise<unknown>>()
  readonly #hints = new Map<string, { key: string; body: string; writing: Promise<void> | null }>()
  readonly #listeners = new Set<(published: Published, plan: Plan) => void>()
  readonly #commits: Counter<'operation' | 'outcome'>
  readonly #seconds: Histogram

  constructor(options: PublisherOptions) {
    this.#options = options
    this.leases = new Leases(options.clock)
    this.cache = new TableCache(options.store, { sizeBytes: options.cacheBytes ?? CACHE_BYTES })
    const registers = [options.registry]
    this.#commits = new Counter({
      name: 'frazil_table_commits_total',
      help: 'Publications of tables by operation and outcome (accepted, refused, failed)',
      labelNames: ['operation', 'outcome'],
      registers,
    })
    this.#seconds = new Histogram({
      name: 'frazil_table_commit_seconds',
      help: 'Time to stage, upload and commit a publication',
      registers,
    })
    const hints = this.#hints
    options.registry.registerMetric(
      new Gauge({
        name: 'frazil_table_hints_behind',
        help: 'Tables whose version hint is not yet the current publication',
        registers: [],
        collect() {
          this.set(hints.size)
        },
      }),
    )
  }

  /** Called after each publication of this process became current. */
  onPublished(listener: (published: Published, plan: Plan) => void): void {
    this.#listeners.add(listener)
  }

  /** The current publication, or null before the first. Errors: STORE_…, CORRUPT. */
  async load(table: TableView): Promise<LoadedTable | null> {
    return table.metadataKey === '' ? null : this.cache.table(table.location, table.metadataKey)
  }

  /** False when the folder was moved since the table's metadata was written. */
  isHere(table: TableView, loaded: LoadedTable): boolean {
    return loaded.metadata.location === this.#options.store.uri(table.location)
  }

  /**
   * Publishes what `build` decides, which is asked again for every attempt; null ends it without a change. Resolves
   * with the new publication, or null when nothing was published or the topic is gone.
   * Errors: REFUSED (after all attempts; nothing was changed), STORE_…, LOG_UNAVAILABLE (the outcome is unknown: delete
   * nothing), and what `build` throws.
   */
  publish(
    topic: number,
    build: (table: TableView, loaded: LoadedTable | null) => Plan | null | Promise<Plan | null>,
  ): Promise<Published | null> {
    const uuid = this.#options.metadata.state.table(topic)?.uuid
    if (uuid === undefined) return Promise.resolve(null)
    const run = this.#mutex.run(uuid, () => this.#publish(topic, build))
    const ended = run.then(
      () => undefined,
      () => undefined,
    )
    this.#running.add(ended)
    void ended.then(() => this.#running.delete(ended))
    return run
  }

  /** Resolves when no publication and no version hint is on its way. */
  async settle(): Promise<void> {
    await Promise.all(this.#running)
    await Promise.all([...this.#hints.values()].map((hint) => hint.writing))
  }

  async #publish(
    topic: number,
    build: (table: TableView, loaded: LoadedTable | null) => Plan | null | Promise<Plan | null>,
  ): Promise<Published | null> {
    const { clock, logger, metadata } = this.#options
    let reason = ''
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const topicView = metadata.state.topicByNumber(topic)
      const table = metadata.state.table(topic)
      if (topicView === null || table === null) return null
      const base = await this.load(table)
      const plan = await build(table, base)
      if (plan === null) return null
      const startedMs = clock.monotonicMs()
      const { staged, objects, obsolete } = await this.#stage(topicView, table, base, plan)
      await this.#upload(objects)
      const result = await metadata.propose({
        kind: 'commitTable',
        topic,
        expectedVersion: table.version,
        metadataKey: staged.loaded.metadataKey,
        publication: staged.publication,
        snapshotId: Number(staged.snapshotId),
        converted: plan.converted,
        added: plan.added.map(({ key, sizeBytes, rows, level, ranges }) => ({
          key,
          sizeBytes,
          rows,
          level,
          ranges: ranges.map(([partition, firstOffset, lastOffset, count, maxTimestampMs, originalBytes]) => ({
            partition,
            firstOffset,
            lastOffset,
            rows: count,
            maxTimestampMs,
            originalBytes,
          })),
        })),
        removed: plan.removed.map((file) => file.id),
        obsolete,
        dataTimeMs: Math.max(plan.dataTimeMs, table.dataTimeMs),
      })
      this.#seconds.observe((clock.monotonicMs() - startedMs) / 1000)
      if (result.kind === 'table' && result.accepted) {
        this.#commits.inc({ operation: plan.operation, outcome: 'accepted' })
        return this.#accepted(topic, staged, plan)
      }
      this.#commits.inc({ operation: plan.operation, outcome: 'refused' })
      reason = result.kind === 'table' || result.kind === 'refused' ? result.reason : result.kind
      logger.debug({ topic, attempt, reason }, 'a table commit was refused and is staged anew')
      await this.discard(objects.map((object) => object.key))
    }
    throw new FrazilError('REFUSED', `the table of topic ${topic} could not be committed: ${reason}`)
  }

  /** Queues the deletion of objects of a publication that is proven not to have become current. */
  async discard(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return
    try {
      await this.#options.metadata.propose({ kind: 'enqueueDeletions', items: keys.map((key) => ({ key, graceMs: 0 })) })
    } catch (error) {
      // They are left to the search for orphans at the next start.
      this.#options.logger.warn({ err: error, objects: keys.length }, 'objects of a refused table commit stay behind')
    }
  }

  #accepted(topic: number, staged: Staged, plan: Plan): Published | null {
    this.cache.put(staged.loaded)
    const snapshot = staged.loaded.metadata.snapshots.at(-1)
    if (snapshot !== undefined && snapshot['snapshot-id'] === staged.snapshotId) this.cache.rememberList(snapshot, staged.loaded.lines)
    const table = this.#options.metadata.state.table(topic)
    if (table === null) return null
    this.#hint(table.location, staged.loaded.metadataKey)
    const published = { table, loaded: staged.loaded }
    for (const listener of this.#listeners) listener(published, plan)
    return published
  }

  async #stage(
    topic: TopicView,
    table: TableView,
    stored: LoadedTable | null,
    plan: Plan,
  ): Promise<{ staged: Staged; objects: Staged['objects']; obsolete: Staged['obsolete'] }> {
    const { store, clock } = this.#options
    const uuid = this.#options.uuid()
    const publication = table.publication + 1
    const uri = (key: string): string => store.uri(key)
    const keyOf = (text: string): string | null => store.keyOf(text)
    const { location } = table
    let base = stored
    let moved: Relocated | null = null
    if (base !== null && !this.isHere(table, base)) {
      moved = await relocate({ base, cache: this.cache, location, publication, uuid, uri })
      base = moved.base
    }
    const graces = this.#graces(topic, table)
    const nowMs = clock.wallMs()
    const drop = base === null || moved !== null ? [] : this.#toDrop(topic, table, base, plan, nowMs)
    const staged = await stage({
      identity: this.#identity(topic, table, plan),
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
      nowMs,
      graces,
      uuid,
      uri,
      keyOf,
      drop,
      manifestsOf: await this.#manifestsOf(base, location, new Set(drop.map((one) => one['snapshot-id']))),
      opened: await this.#open(base, moved?.objects ?? [], location, plan),
      moved: moved !== null,
    })
    return {
      staged,
      objects: [...(moved?.objects ?? []), ...staged.objects],
      obsolete: [...staged.obsolete, ...(moved?.obsolete ?? []).map((key) => ({ key, graceMs: graces.metadataMs }))],
    }
  }

  /** A client's commit may name a snapshot that is due to go, so snapshots are thinned by our own commits only. */
  #toDrop(topic: TopicView, table: TableView, { metadata }: LoadedTable, plan: Plan, nowMs: number): Snapshot[] {
    if (plan.edit !== undefined) return metadata.snapshots.filter((snapshot) => plan.drop?.includes(snapshot['snapshot-id']) === true)
    const graceMs = this.#options.settings(topic).table.fileGraceMs
    return snapshotsToDrop(metadata, { nowMs, graceMs, leased: this.leases.of(table.uuid) })
  }

  #graces(topic: TopicView, table: TableView): Graces {
    const { fileGraceMs } = this.#options.settings(topic).table
    const loaded = this.leases.of(table.uuid).size > 0
    return {
      fileMs: Math.max(fileGraceMs, loaded ? GRACE_MIN_MS : 0),
      metadataMs: Math.min(METADATA_GRACE_MAX_MS, Math.max(fileGraceMs, loaded ? GRACE_MIN_MS : 0)),
    }
  }

  #identity(topic: TopicView, table: TableView, plan: Plan): TableIdentity {
    const { state } = this.#options.metadata
    const progress = Array.from({ length: topic.partitions }, (_, partition) => ({
      partition,
      logStartOffset: state.partition(topic.topic, partition)?.logStartOffset ?? 0,
      convertedTo: Math.max(
        state.firstUnconverted(topic.topic, partition),
        ...plan.converted.filter((range) => range.partition === partition).map((range) => range.lastOffset + 1),
      ),
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
      targetFileBytes: this.#options.settings(topic).table.targetFileBytes,
    }
  }

  async #manifestsOf(base: LoadedTable | null, location: string, drop: ReadonlySet<LongId>): Promise<Map<LongId, readonly string[]>> {
    const lists = new Map<LongId, readonly string[]>()
    if (base === null || drop.size === 0) return lists
    for (const id of listsNeeded(base.metadata, drop)) {
      const snapshot = base.metadata.snapshots.find((one) => one['snapshot-id'] === id)!
      lists.set(id, await this.cache.manifestsOf(base.metadata, location, snapshot))
    }
    return lists
  }

  /** Opens the manifests that are to be rewritten: those with removed files, newest first, and when there are many the small ones. */
  async #open(
    base: LoadedTable | null,
    extra: Relocated['objects'],
    location: string,
    plan: Plan,
  ): Promise<Map<string, readonly ManifestEntry[]>> {
    const opened = new Map<string, readonly ManifestEntry[]>()
    if (base === null || plan.operation === 'none') return opened
    const { store } = this.#options
    const read = async (line: LoadedTable['lines'][number]): Promise<readonly ManifestEntry[]> => {
      const key = store.keyOf(line.path)
      const fresh = extra.find((object) => object.key === key)
      return fresh === undefined ? this.cache.entries(base.metadata, location, line) : decodeManifest(fresh.body, line)
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

  async #upload(objects: readonly { readonly key: string; readonly body: Buffer }[]): Promise<void> {
    const { store } = this.#options
    const put = (object: { readonly key: string; readonly body: Buffer }): Promise<unknown> =>
      store.put(object.key, object.body, { reason: 'metadata' })
    // The metadata file is last: whoever lists the folder for the newest one finds all that it names.
    const results = await Promise.allSettled(objects.slice(0, -1).map(put))
    const failed = results.find((result) => result.status === 'rejected')
    try {
      if (failed !== undefined) throw failed.reason
      await put(objects.at(-1)!)
    } catch (error) {
      this.#commits.inc({ operation: 'upload', outcome: 'failed' })
      await this.discard(objects.map((object) => object.key))
      throw error
    }
  }

  /** Points the version hint at a publication; a newer one that comes meanwhile is written after it, in one go. */
  #hint(location: string, metadataKey: string): void {
    const body = stemOf(metadataKey)
    const waiting = this.#hints.get(location)
    if (waiting !== undefined) {
      waiting.body = body
      return
    }
    const hint = { key: layout.hint(location), body, writing: null as Promise<void> | null }
    this.#hints.set(location, hint)
    hint.writing = this.#writeHint(location, hint)
  }

  async #writeHint(location: string, hint: { readonly key: string; body: string }): Promise<void> {
    try {
      for (let written = ''; written !== hint.body;) {
        written = hint.body
        await this.#options.store.put(hint.key, Buffer.from(written), { reason: 'metadata' })
      }
    } catch (error) {
      // Only a hint: readers by path see the publication before, and the next one writes it again.
      this.#options.logger.warn({ err: error, key: hint.key }, 'the version hint of a table could not be written')
    } finally {
      this.#hints.delete(location)
    }
  }
}
