import { LRUCache } from 'lru-cache'
import type { Clock } from '../../base/clock.ts'
import { FrazilError, hasCode } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { ObjectStore } from '../../storage/store.ts'
import type { Replica, ReplicaTable, Target } from '../replicas/port.ts'
import { expireSnapshots } from './expire.ts'
import { paimonLayout } from './layout.ts'
import { readTable } from './log.ts'
import { historyOf, printSchema, type PaimonSchema } from './schema.ts'
import { stagePaimon, stageSchema, stageStop, type PaimonCommit } from './stage.ts'
import type { PaimonState } from './state.ts'

export interface PaimonReplicaOptions {
  readonly store: ObjectStore
  readonly metadata: Metadata
  readonly clock: Clock
  readonly logger: Logger
  /** Random UUIDs, canonical lower-case text. */
  readonly uuid: () => string
}

/** Others may have written the snapshot that we wanted to: then all is read again, so often. */
const ATTEMPTS = 8
/** Files of remembered tables, over all of them. */
const CACHED_FILES = 50_000
/** Old snapshots are looked for after this many new ones. */
const EXPIRE_EVERY = 10
/** What only dropped snapshots name stays this long for readers that have just opened one. */
const READERS_MS = 600_000

/** Publishes tables as Paimon append tables beside their data (`<table>/_paimon`), the files being external paths. */
export class PaimonReplica implements Replica {
  readonly format = 'paimon'
  readonly #options: PaimonReplicaOptions
  readonly #states = new LRUCache<string, PaimonState>({ maxSize: CACHED_FILES, sizeCalculation: (state) => state.live.size + 10 })

  constructor(options: PaimonReplicaOptions) {
    this.#options = options
  }

  async position(table: ReplicaTable): Promise<number> {
    return (await this.#state(table)).snapshot?.commitIdentifier ?? -1
  }

  async publish(target: Target): Promise<void> {
    const { store, uuid } = this.#options
    const { table } = target
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      let state = await this.#state(table)
      if (state.snapshot !== null && target.publication < state.snapshot.commitIdentifier) return
      // Before the snapshot that needs it: readers begin with the schema (hazard L6).
      let created = true
      for (let schema = stageSchema(state, target); schema !== null && created; schema = stageSchema(state, target)) {
        created = await this.#createSchema(table, state, schema, target.nowMs)
        if (created) state = await this.#state(table)
      }
      if (!created) continue
      const commit = await stagePaimon(state, target, uuid(), (key) => store.uri(key))
      if (commit === null) return
      if (await this.#commit(table, commit)) {
        this.#states.set(table.uuid, commit.next)
        await this.#after(target, commit)
        return
      }
    }
    throw new FrazilError(
      'STORE_UNAVAILABLE',
      `Paimon’s snapshot of ${table.topicName} could not be written: others were first ${ATTEMPTS} times`,
    )
  }

  async stop(table: ReplicaTable, nowMs: number): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const state = await this.#state(table)
      const schema = stageStop(state)
      if (schema === null || (await this.#createSchema(table, state, schema, nowMs))) return
    }
  }

  forget(uuid: string): void {
    this.#states.delete(uuid)
  }

  async close(): Promise<void> {}

  async #state(table: ReplicaTable): Promise<PaimonState> {
    const known = this.#states.get(table.uuid)
    if (known !== undefined) return known
    const state = await readTable(this.#options.store, table.location)
    this.#states.set(table.uuid, state)
    return state
  }

  async #createSchema(table: ReplicaTable, state: PaimonState, schema: PaimonSchema, nowMs: number): Promise<boolean> {
    const schemaId = state.schemaId + 1
    const created = await this.#create(table, paimonLayout.schema(table.location, schemaId), printSchema(schema, schemaId, nowMs))
    if (created) this.#states.set(table.uuid, { ...state, schemaId, schema, history: [...state.history, historyOf(schemaId, schema)] })
    return created
  }

  /** Uploads what a snapshot names, then the snapshot. False when another one has its number, or nobody knows. */
  async #commit(table: ReplicaTable, { objects, snapshot }: PaimonCommit): Promise<boolean> {
    const { store } = this.#options
    const keyOf = (name: string): string => paimonLayout.manifest(table.location, name)
    const uploads = await Promise.allSettled(objects.map(({ name, body }) => store.put(keyOf(name), body, { reason: 'table' })))
    const failed = uploads.find((result) => result.status === 'rejected')
    const created =
      failed === undefined && (await this.#create(table, paimonLayout.snapshot(table.location, snapshot.id), JSON.stringify(snapshot)))
    if (!created)
      await this.#discard(
        table,
        snapshot.id,
        snapshot.deltaManifestList,
        objects.map(({ name }) => keyOf(name)),
      )
    if (failed !== undefined) throw failed.reason
    return created
  }

  /** Manifests of a snapshot that was not made go, once it is certain that it was not. */
  async #discard(table: ReplicaTable, id: number, deltaList: string, keys: readonly string[]): Promise<void> {
    const { logger, metadata, store } = this.#options
    try {
      const { body } = await store.get(paimonLayout.snapshot(table.location, id), { reason: 'table' })
      if (body.toString().includes(deltaList)) return
      await metadata.propose({ kind: 'enqueueDeletions', items: keys.map((key) => ({ key, graceMs: 0 })) })
    } catch (error) {
      // Without a snapshot of that number ours may still come to light: nothing is deleted on doubt.
      if (!hasCode(error, 'STORE_NOT_FOUND'))
        logger.warn({ err: error, topic: table.topicName }, 'manifests of a Paimon snapshot stay behind')
    }
  }

  async #create(table: ReplicaTable, key: string, text: string): Promise<boolean> {
    try {
      const created = await this.#options.store.putIfAbsent(key, Buffer.from(text), { reason: 'table' })
      if (created === null) this.#states.delete(table.uuid)
      return created !== null
    } catch (error) {
      this.#states.delete(table.uuid)
      if (hasCode(error, 'STORE_UNKNOWN')) return false
      throw error
    }
  }

  /** Hints for readers, and the end of old snapshots. What fails here is made up for by the next commit. */
  async #after({ table, nowMs, graceMs }: Target, { snapshot }: PaimonCommit): Promise<void> {
    const { logger, metadata, store } = this.#options
    const { location, topicName } = table
    try {
      await store.put(paimonLayout.latest(location), Buffer.from(String(snapshot.id)), { reason: 'table' })
      if (snapshot.id === 1) await store.put(paimonLayout.earliest(location), Buffer.from('1'), { reason: 'table' })
      if (snapshot.id % EXPIRE_EVERY !== 0) return
      const keys = await expireSnapshots(store, location, nowMs, graceMs)
      if (keys.length > 0) await metadata.propose({ kind: 'enqueueDeletions', items: keys.map((key) => ({ key, graceMs: READERS_MS })) })
    } catch (error) {
      if (hasCode(error, 'CLOSED')) throw error
      logger.warn({ err: error, topic: topicName }, 'hints or old snapshots of a Paimon table were not brought up to date')
    }
  }
}
