import { LRUCache } from 'lru-cache'
import type { Clock } from '../../base/clock.ts'
import { FrazilError, hasCode } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { ObjectStore } from '../../storage/store.ts'
import type { Replica, ReplicaTable, Target } from '../replicas/port.ts'
import { checkpointOf, checkpointRows } from './checkpoint.ts'
import { Checkpoints } from './checkpoints.ts'
import { deltaLayout, parseLogKey, readLog } from './log.ts'
import { LINES_PER_STEP, removeAction, stageDelta, stageStop, type DeltaCommit } from './stage.ts'
import { appId, type AddedRow, type DeltaState } from './state.ts'

export interface DeltaReplicaOptions {
  readonly store: ObjectStore
  readonly metadata: Metadata
  readonly clock: Clock
  readonly logger: Logger
}

/** A checkpoint after this many versions, as Delta's own writers do. */
export const CHECKPOINT_EVERY = 10
/** Others may have written the versions that we wanted to: then the log is read again, so often. */
const ATTEMPTS = 8
/** Rows of remembered logs, over all tables. */
const CACHED_ROWS = 100_000
/** An old version stays at least this long, so that who lists the log finds all that it named. */
const LOG_GRACE_MIN_MS = 60_000

/** Publishes tables as Delta logs beside their data (`<table>/_delta_log`), the table's folder being the root. */
export class DeltaReplica implements Replica {
  readonly format = 'delta'
  readonly #options: DeltaReplicaOptions
  readonly #checkpoints = new Checkpoints()
  readonly #states = new LRUCache<string, DeltaState>({
    maxSize: CACHED_ROWS,
    sizeCalculation: (state) => state.live.size + state.tombstones.size + 10,
  })

  constructor(options: DeltaReplicaOptions) {
    this.#options = options
  }

  async position(table: ReplicaTable): Promise<number> {
    return (await this.#state(table)).publication
  }

  async publish(target: Target): Promise<void> {
    const { table } = target
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const state = await this.#state(table)
      const commit = stageDelta(state, target)
      if (commit === null) return
      const { body, rows } = await this.#body(commit)
      if (await this.#create(table, commit.version, body)) {
        const next = commit.next(rows)
        this.#states.set(table.uuid, next)
        if (next.version - next.checkpoint >= CHECKPOINT_EVERY) await this.#checkpoint(target, next)
        return
      }
      this.#states.delete(table.uuid)
    }
    throw new FrazilError(
      'STORE_UNAVAILABLE',
      `the Delta log of ${table.topicName} could not be written: others were first ${ATTEMPTS} times`,
    )
  }

  async stop(table: ReplicaTable, nowMs: number): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const end = stageStop(await this.#state(table), nowMs)
      if (end === null) return
      const created = await this.#create(table, end.version, [Buffer.from(end.lines.join('\n') + '\n')])
      this.#states.delete(table.uuid)
      if (created) return
    }
  }

  forget(uuid: string): void {
    this.#states.delete(uuid)
  }

  close(): Promise<void> {
    return this.#checkpoints.close()
  }

  async #state(table: ReplicaTable): Promise<DeltaState> {
    const known = this.#states.get(table.uuid)
    if (known !== undefined) return known
    const state = await readLog(this.#options.store, this.#checkpoints, table.location, table.uuid)
    this.#states.set(table.uuid, state)
    return state
  }

  /** Creates a version; false when it exists, or when nobody knows: then the log is read back. */
  async #create(table: ReplicaTable, version: number, body: readonly Uint8Array[]): Promise<boolean> {
    try {
      const key = deltaLayout.version(table.location, version)
      return (await this.#options.store.putIfAbsent(key, body, { reason: 'table' })) !== null
    } catch (error) {
      this.#states.delete(table.uuid)
      if (hasCode(error, 'STORE_UNKNOWN')) return false
      throw error
    }
  }

  /** The lines of a version; a long one is made in steps, between which others get their turn. */
  async #body(commit: DeltaCommit): Promise<{ body: Uint8Array[]; rows: AddedRow[] }> {
    const { clock } = this.#options
    const body: Uint8Array[] = [Buffer.from(commit.head.join('\n') + '\n')]
    const makers = [
      ...commit.removed.map((row) => () => JSON.stringify({ remove: removeAction(row, commit.dataChange) })),
      ...commit.added.map((one) => one.line),
    ]
    for (let at = 0; at < makers.length; at += LINES_PER_STEP) {
      if (at > 0) await clock.sleep(0)
      const lines = makers.slice(at, at + LINES_PER_STEP).map((make) => make())
      body.push(Buffer.from(lines.join('\n') + '\n'))
    }
    return { body, rows: commit.added.map((one) => one.row) }
  }

  /** Writes a checkpoint and lets older versions go. What fails here is made up for by the next one. */
  async #checkpoint(target: Target, state: DeltaState): Promise<void> {
    const { logger, store } = this.#options
    const { location, topicName, uuid } = target.table
    try {
      const content = checkpointOf(state, appId(uuid))
      const bytes = await this.#checkpoints.write(content)
      await store.put(deltaLayout.checkpoint(location, state.version), bytes, { reason: 'table' })
      const hint = { version: state.version, size: checkpointRows(content), sizeInBytes: bytes.length, numOfAddFiles: content.live.length }
      await store.put(deltaLayout.lastCheckpoint(location), Buffer.from(JSON.stringify(hint)), { reason: 'table' })
      this.#states.set(uuid, { ...state, checkpoint: state.version })
      await this.#cleanUp(target, state.version)
    } catch (error) {
      if (hasCode(error, 'CLOSED')) throw error
      logger.warn({ err: error, topic: topicName }, 'a checkpoint of a Delta log could not be written')
    }
  }

  /** Queues what lies before a checkpoint; it goes after the grace time, when its files are gone as well. */
  async #cleanUp({ table, graceMs }: Target, checkpoint: number): Promise<void> {
    const { metadata, store } = this.#options
    const prefix = deltaLayout.prefix(table.location)
    const items: { key: string; graceMs: number }[] = []
    for await (const { key } of store.list(prefix, { reason: 'maintain' })) {
      const parsed = parseLogKey(key)
      if (parsed === null) continue
      if (parsed.version >= checkpoint) break
      items.push({ key, graceMs: Math.max(graceMs, LOG_GRACE_MIN_MS) })
    }
    if (items.length > 0) await metadata.propose({ kind: 'enqueueDeletions', items })
  }
}
