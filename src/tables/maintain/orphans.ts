import type { Clock } from '../../base/clock.ts'
import { hasCode } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { TableView } from '../../metadata/view.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { incarnationOf, layout, publicationOf, stemOf } from '../iceberg/layout.ts'
import type { Publisher } from '../iceberg/publisher.ts'
import type { LoadedTable } from '../iceberg/table.ts'

export interface OrphansOptions {
  readonly store: ObjectStore
  readonly metadata: Metadata
  readonly publisher: Publisher
  readonly clock: Clock
  readonly logger: Logger
}

/** Pause between tables, so that the search is never felt. */
const PAUSE_MS = 20
const BATCH = 500
const STEM = /(\d{5,}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/

/**
 * Data files that a dead incarnation uploaded and nobody committed (L13): their names carry the incarnation, which the
 * state knows to be fenced, so no commit of it can come any more.
 */
export function isOrphanedData(key: string, live: ReadonlySet<string>, isDead: (incarnation: number) => boolean): boolean {
  const incarnation = incarnationOf(key)
  return incarnation >= 0 && !live.has(key) && isDead(incarnation)
}

/**
 * Metadata objects of publications that were staged and refused. The metadata log names the one accepted publication of
 * each number it reaches back to; any other with such a number lost.
 */
export function isOrphanedMetadata(key: string, accepted: ReadonlyMap<number, string>): boolean {
  const stem = STEM.exec(key.slice(key.lastIndexOf('/') + 1))?.[1]
  if (stem === undefined) return false
  const winner = accepted.get(publicationOf(stem))
  return winner !== undefined && winner !== stem
}

/** Accepted stems by publication number, as far as the metadata log reaches. */
export function acceptedStems(loaded: LoadedTable): Map<number, string> {
  const keys = [...loaded.metadata['metadata-log'].map((entry) => entry['metadata-file']), loaded.metadataKey]
  return new Map(keys.map(stemOf).map((stem) => [publicationOf(stem), stem]))
}

/**
 * The search for orphans at start, table after table: lists a table's folder and queues for deletion what nobody
 * refers to. `seen` is called with each table's publication, since it was read anyway.
 */
export class OrphanSearch {
  readonly #options: OrphansOptions
  readonly #abort = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(options: OrphansOptions) {
    this.#options = options
  }

  start(seen: (table: TableView, loaded: LoadedTable) => void): void {
    this.#running = this.#search(seen)
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await this.#running
  }

  async #search(seen: (table: TableView, loaded: LoadedTable) => void): Promise<void> {
    const { clock, logger, metadata, publisher } = this.#options
    const uuids = [...metadata.state.tables()].map((table) => table.uuid)
    for (const uuid of uuids) {
      await clock.sleep(PAUSE_MS, this.#abort.signal)
      const table = metadata.state.tableByUuid(uuid)
      if (this.#abort.signal.aborted) return
      if (table === null) continue
      try {
        const loaded = await publisher.load(table)
        if (loaded !== null) seen(table, loaded)
        const orphans = await this.find(table, loaded)
        if (orphans.length > 0) logger.info({ table: table.name, objects: orphans.length }, 'objects that no commit names are deleted')
        for (let at = 0; at < orphans.length; at += BATCH) {
          const items = orphans.slice(at, at + BATCH).map((key) => ({ key, graceMs: 0 }))
          await metadata.propose({ kind: 'enqueueDeletions', items })
        }
      } catch (error) {
        if (this.#abort.signal.aborted || hasCode(error, 'CLOSED')) return
        logger.warn({ err: error, table: table.name }, 'the search for orphans in a table’s folder failed')
      }
    }
  }

  /** Keys below a table that nobody refers to. */
  async find(table: TableView, loaded: LoadedTable | null): Promise<string[]> {
    const { metadata, store } = this.#options
    const { state } = metadata
    const known = new Set<string>((loaded?.pinned ?? []).map((file) => file.key))
    for (const file of table.files()) known.add(file.key)
    for (const deletion of state.deletions()) if (deletion.key.startsWith(`${table.location}/`)) known.add(deletion.key)
    const isDead = (incarnation: number): boolean => state.isGone(incarnation)
    const found: string[] = []
    for await (const { key } of store.list(layout.dataPrefix(table.location), { reason: 'maintain' })) {
      if (isOrphanedData(key, known, isDead)) found.push(key)
    }
    if (loaded === null) return found
    const accepted = acceptedStems(loaded)
    for (const prefix of [layout.metadataPrefix(table.location), layout.topicPrefix(table.location)]) {
      for await (const { key } of store.list(prefix, { reason: 'maintain' })) {
        if (!known.has(key) && isOrphanedMetadata(key, accepted)) found.push(key)
      }
    }
    return found
  }
}
