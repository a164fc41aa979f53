import { Counter, Gauge, type Registry } from 'prom-client'
import type { Clock, Timer } from '../../base/clock.ts'
import type { TopicSettings } from '../../base/config/topicSettings.ts'
import { hasCode } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { TableView, TopicView } from '../../metadata/view.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { layout, publicationOf, stemOf } from '../iceberg/layout.ts'
import type { Publisher } from '../iceberg/publisher.ts'
import type { LoadedTable, TopicObject } from '../iceberg/table.ts'
import { EntryStatus, type Snapshot } from '../iceberg/types.ts'
import type { LiveFile, Replica, ReplicaTable } from './port.ts'
import { stepsTo } from './steps.ts'

export interface ReplicasOptions {
  readonly store: ObjectStore
  readonly metadata: Metadata
  readonly publisher: Publisher
  readonly clock: Clock
  readonly logger: Logger
  readonly registry: Registry
  readonly settings: (topic: TopicView) => TopicSettings
  readonly replicas: readonly Replica[]
}

/** One format of one table. */
interface Work {
  readonly table: ReplicaTable
  readonly replica: Replica
  graceMs: number
  /** False: the format was switched off, and the log is to say so. */
  wanted: boolean
  /** The publication that its log shows for all this process knows; -1 when it was not looked at. */
  shown: number
  running: Promise<void> | null
  again: boolean
  failures: number
  retry: Timer | null
}

/** Formats, and publications of other processes, are looked at this often. */
const LOOK_MS = 10_000
/** Changes of configs come in bursts. */
const LOOK_SOON_MS = 200
const RETRY_FIRST_MS = 500
const RETRY_MAX_MS = 60_000

/**
 * Keeps Delta and Paimon logs in step with the publications of tables (`table.formats`). Each follows on its own: one that
 * fails is tried again and holds up nothing (P9); how far it is behind is a metric. What a log shows is read from it, so
 * whoever starts, here or elsewhere, goes on where it ends.
 */
export class Replicas {
  readonly #options: ReplicasOptions
  readonly #works = new Map<string, Work>()
  readonly #failures: Counter<'topic' | 'format'>
  #stopListening: (() => void) | null = null
  #timer: Timer | null = null
  #soon: Timer | null = null
  #closed = false

  constructor(options: ReplicasOptions) {
    this.#options = options
    const registers = [options.registry]
    this.#failures = new Counter({
      name: 'frazil_table_replica_failures_total',
      help: 'Publications in Delta or Paimon that failed and are tried again',
      labelNames: ['topic', 'format'],
      registers,
    })
    const works = this.#works
    const { state } = options.metadata
    options.registry.registerMetric(
      new Gauge({
        name: 'frazil_table_replica_lag_publications',
        help: 'Publications of a table that its Delta or Paimon log does not show yet',
        labelNames: ['topic', 'format'],
        registers: [],
        collect() {
          this.reset()
          for (const { table, replica, shown, wanted } of works.values()) {
            if (!wanted) continue
            const published = state.tableByUuid(table.uuid)?.publication ?? 0
            this.set({ topic: table.topicName, format: replica.format }, Math.max(0, published - Math.max(0, shown)))
          }
        },
      }),
    )
    options.publisher.onPublished(({ table }) => this.#consider(table.uuid))
  }

  start(): void {
    const { metadata } = this.#options
    this.#stopListening = metadata.onApplied(({ other }) => {
      if (other && this.#soon === null) this.#soon = this.#options.clock.timer(LOOK_SOON_MS, () => this.#look(false))
    })
    for (const table of metadata.state.tables()) if (table.topic === 0) void this.#considerKept(table.uuid)
    this.#look(true)
  }

  /** Resolves when every log shows the publication that is current now, or has failed. */
  async settle(): Promise<void> {
    this.#look(false)
    await Promise.all([...this.#works.values()].map((work) => work.running))
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#stopListening?.()
    this.#timer?.cancel()
    this.#soon?.cancel()
    for (const work of this.#works.values()) work.retry?.cancel()
    await Promise.all([...this.#works.values()].map((work) => work.running))
    await Promise.all(this.#options.replicas.map((replica) => replica.close()))
  }

  /** Looks at every table. At the start also at those whose format may have been switched off by a process that ended. */
  #look(first: boolean): void {
    const { clock, metadata } = this.#options
    this.#timer?.cancel()
    this.#soon?.cancel()
    this.#soon = null
    if (this.#closed) return
    for (const topic of metadata.state.topics()) {
      const table = metadata.state.table(topic.topic)
      if (table !== null) this.#lookAt(topic, table, first)
    }
    this.#timer = clock.timer(LOOK_MS, () => this.#look(false))
  }

  #consider(uuid: string): void {
    const { state } = this.#options.metadata
    const table = state.tableByUuid(uuid)
    const topic = table === null || table.topic === 0 ? null : state.topicByNumber(table.topic)
    if (table !== null && topic !== null) this.#lookAt(topic, table, false)
  }

  #lookAt(topic: TopicView, table: TableView, first: boolean): void {
    const { replicas, settings } = this.#options
    const { enable, formats, fileGraceMs } = settings(topic).table
    for (const replica of replicas) {
      const wanted = enable && formats.has(replica.format)
      let work = this.#works.get(`${replica.format} ${table.uuid}`)
      if (work === undefined) {
        if (!wanted && !(first && topic.configs.has('table.formats'))) continue
        work = this.#work(replica, describe(topic, table), fileGraceMs, wanted)
      }
      work.graceMs = fileGraceMs
      if (work.wanted === wanted && wanted && work.shown >= table.publication) continue
      if (work.wanted !== wanted) work.shown = -1
      work.wanted = wanted
      this.#kick(work)
    }
  }

  /** A table whose topic was deleted, maybe just before a crash: its logs still come to its last publication. */
  async #considerKept(uuid: string): Promise<void> {
    const { logger, metadata, replicas, store } = this.#options
    const table = metadata.state.tableByUuid(uuid)
    if (table === null || table.metadataKey === '') return
    try {
      const { body } = await store.get(layout.topic(table.location, stemOf(table.metadataKey)), { reason: 'table' })
      const { topic } = JSON.parse(body.toString()) as TopicObject
      const formats = new Set((topic.configs['table.formats'] ?? '').split(',').map((format) => format.trim()))
      const kept = { uuid, namespace: table.namespace, location: table.location, createdMs: table.createdMs }
      for (const replica of replicas) {
        if (this.#closed || !formats.has(replica.format)) continue
        const graceMs = Number(topic.configs['table.file.grace.ms'] ?? 86_400_000)
        this.#kick(this.#work(replica, { ...kept, topicName: topic.name, topicId: topic.id }, graceMs, true))
      }
    } catch (error) {
      if (!this.#closed && !hasCode(error, 'CLOSED'))
        logger.warn({ err: error, table: table.name }, 'the formats of a kept table could not be looked at')
    }
  }

  #work(replica: Replica, table: ReplicaTable, graceMs: number, wanted: boolean): Work {
    const work: Work = { table, replica, graceMs, wanted, shown: -1, running: null, again: false, failures: 0, retry: null }
    this.#works.set(`${replica.format} ${table.uuid}`, work)
    return work
  }

  #kick(work: Work): void {
    if (this.#closed || work.retry !== null) return
    if (work.running !== null) work.again = true
    else work.running = this.#run(work)
  }

  async #run(work: Work): Promise<void> {
    const { clock, logger } = this.#options
    const { replica, table } = work
    try {
      // Yields first: the publication that it follows is being answered.
      await Promise.resolve()
      do {
        work.again = false
        await (work.wanted ? this.#follow(work) : replica.stop(table, clock.wallMs()))
      } while (work.again && !this.#closed)
      work.failures = 0
      if (!work.wanted) this.#end(work)
    } catch (error) {
      if (this.#closed || hasCode(error, 'CLOSED')) return
      work.failures++
      replica.forget(table.uuid)
      this.#failures.inc({ topic: table.topicName, format: replica.format })
      const retryMs = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** (work.failures - 1))
      logger.error({ err: error, topic: table.topicName, format: replica.format, retryMs }, 'a table could not be published in this format')
      work.retry = clock.timer(retryMs, () => {
        work.retry = null
        this.#kick(work)
      })
    } finally {
      work.running = null
    }
  }

  #end(work: Work): void {
    work.replica.forget(work.table.uuid)
    this.#works.delete(`${work.replica.format} ${work.table.uuid}`)
  }

  /** Brings a log to the current publication of its table. */
  async #follow(work: Work): Promise<void> {
    const { clock, metadata, publisher } = this.#options
    const { replica, table } = work
    const view = metadata.state.tableByUuid(table.uuid)
    if (view === null) return this.#end(work)
    const loaded = await publisher.load(view)
    if (loaded === null) return
    const current = publicationOf(stemOf(loaded.metadataKey))
    for (const step of stepsTo(loaded.metadata, await replica.position(table), current)) {
      const schemas = loaded.metadata.schemas.filter((one) => one['schema-id'] <= step.schemaId)
      const schema = schemas.find((one) => one['schema-id'] === step.schemaId)!
      const files = step.snapshot === null ? [] : await this.#files(loaded, table.location, step.snapshot)
      const { publication, dataChange } = step
      await replica.publish({ table, publication, schema, schemas, files, dataChange, nowMs: clock.wallMs(), graceMs: work.graceMs })
    }
    work.shown = current
    if (view.topic === 0) this.#end(work)
  }

  async #files(loaded: LoadedTable, location: string, snapshot: Snapshot): Promise<LiveFile[]> {
    const { cache } = this.#options.publisher
    const { metadata } = loaded
    const isCurrent = snapshot['snapshot-id'] === metadata['current-snapshot-id']
    const lines = isCurrent ? loaded.lines : await cache.lines(metadata, location, snapshot)
    const files: LiveFile[] = []
    for (const line of lines) {
      if (line.content !== 0 || line.addedFiles + line.existingFiles === 0) continue
      for (const { status, file, ranges } of await cache.entries(metadata, location, line))
        if (status !== EntryStatus.deleted) files.push({ key: cache.keyIn(metadata, location, file.path), file, ranges })
    }
    return files
  }
}

function describe(topic: TopicView, table: TableView): ReplicaTable {
  const { uuid, namespace, location, createdMs } = table
  return { uuid, namespace, location, createdMs, topicName: topic.name, topicId: topic.topicId }
}
