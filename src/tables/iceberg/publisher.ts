import { Counter, Histogram, type Registry } from 'prom-client'
import type { Typings } from '../typed/typings.ts'
import type { Clock } from '../../base/clock.ts'
import type { TopicSettings } from '../../base/config/topicSettings.ts'
import { FrazilError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { AddedFile } from '../../metadata/commands.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { TableView, TopicView } from '../../metadata/view.ts'
import { KeyMutex } from '../../storage/keyMutex.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { TableCache } from './cache.ts'
import { Hints } from './hints.ts'
import { Leases } from './leases.ts'
import { prepare, type Plan } from './prepare.ts'
import { stage, type Staged, type StagedFile } from './stage.ts'
import type { LoadedTable } from './table.ts'

export interface PublisherOptions {
  readonly store: ObjectStore
  readonly metadata: Metadata
  readonly clock: Clock
  readonly logger: Logger
  readonly registry: Registry
  /** Random UUIDs, canonical lower-case text. */
  readonly uuid: () => string
  readonly settings: (topic: TopicView) => TopicSettings
  /** A user's columns of each table; none when left out. */
  readonly typings?: Typings
  /** Memory for parsed metadata and manifests. */
  readonly cacheBytes?: number
}

export interface Published {
  readonly table: TableView
  readonly loaded: LoadedTable
}

const ATTEMPTS = 8
const CACHE_BYTES = 64 * 1024 * 1024
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
  readonly #hints: Hints
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
    this.#hints = new Hints(options)
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
   * What the plan adds is discarded here when it is proven not to have become part of the table; after null that is the
   * caller's. Errors: REFUSED (after all attempts; nothing was changed), STORE_…, LOG_UNAVAILABLE (the outcome is unknown:
   * delete nothing), and what `build` throws.
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
    await this.#hints.settle()
  }

  async #publish(
    topic: number,
    build: (table: TableView, loaded: LoadedTable | null) => Plan | null | Promise<Plan | null>,
  ): Promise<Published | null> {
    const { clock, logger, metadata } = this.#options
    let reason = ''
    let added: readonly StagedFile[] = []
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const topicView = metadata.state.topicByNumber(topic)
      const table = metadata.state.table(topic)
      if (topicView === null || table === null) return null
      // Of the same instant as the base: other pods commit while it is read, staged and uploaded (L7).
      const expectedVersion = table.version
      const base = await this.load(table)
      const plan = await build(table, base)
      if (plan === null) return null
      const startedMs = clock.monotonicMs()
      const { staged, objects, obsolete } = await this.#write(topicView, table, base, plan)
      const result = await metadata.propose({
        kind: 'commitTable',
        topic,
        expectedVersion,
        metadataKey: staged.loaded.metadataKey,
        publication: staged.publication,
        snapshotId: Number(staged.snapshotId),
        converted: plan.converted,
        added: plan.added.map(addedFile),
        removed: plan.removed.map((file) => file.id),
        obsolete,
        dataTimeMs: Math.max(plan.dataTimeMs, table.dataTimeMs),
      })
      this.#seconds.observe((clock.monotonicMs() - startedMs) / 1000)
      if (result.kind === 'table' && result.accepted) {
        this.#commits.inc({ operation: plan.operation, outcome: 'accepted' })
        return this.#accepted(table, staged, plan)
      }
      this.#commits.inc({ operation: plan.operation, outcome: 'refused' })
      reason = result.kind === 'table' || result.kind === 'refused' ? result.reason : result.kind
      logger.debug({ topic, attempt, reason }, 'a table commit was refused and is staged anew')
      await this.discard(objects.map((object) => object.key))
      added = plan.added
    }
    await this.discard(added.map((file) => file.key))
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

  #accepted(table: TableView, staged: Staged, plan: Plan): Published {
    this.cache.put(staged.loaded)
    const snapshot = staged.loaded.metadata.snapshots.at(-1)
    if (snapshot !== undefined && snapshot['snapshot-id'] === staged.snapshotId) this.cache.rememberList(snapshot, staged.loaded.lines)
    this.#hints.point(table.location, staged.loaded.metadataKey)
    const published = { table, loaded: staged.loaded }
    for (const listener of this.#listeners) listener(published, plan)
    return published
  }

  /** Stages a publication and uploads it. When that fails nothing was proposed, so what was written goes. */
  async #write(
    topic: TopicView,
    table: TableView,
    base: LoadedTable | null,
    plan: Plan,
  ): Promise<{ staged: Staged; objects: Staged['objects']; obsolete: Staged['obsolete'] }> {
    const { metadata } = this.#options
    const written = plan.added.map((file) => file.key)
    try {
      const context = { ...this.#options, state: metadata.state, cache: this.cache, leases: this.leases }
      const { input, moved } = await prepare(context, topic, table, base, plan)
      const staged = await stage(input)
      const objects = [...(moved?.objects ?? []), ...staged.objects]
      written.push(...objects.map((object) => object.key))
      await this.#upload(objects)
      const { metadataMs } = input.graces
      return { staged, objects, obsolete: [...staged.obsolete, ...(moved?.obsolete ?? []).map((key) => ({ key, graceMs: metadataMs }))] }
    } catch (error) {
      this.#commits.inc({ operation: plan.operation, outcome: 'failed' })
      await this.discard(written)
      throw error
    }
  }

  async #upload(objects: readonly { readonly key: string; readonly body: Buffer }[]): Promise<void> {
    const { store } = this.#options
    const put = (object: { readonly key: string; readonly body: Buffer }): Promise<unknown> =>
      store.put(object.key, object.body, { reason: 'metadata' })
    // The metadata file is last: whoever lists the folder for the newest one finds all that it names.
    const results = await Promise.allSettled(objects.slice(0, -1).map(put))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    await put(objects.at(-1)!)
  }
}

function addedFile({ key, sizeBytes, rows, level, ranges }: StagedFile): AddedFile {
  return {
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
  }
}
