import { LRUCache } from 'lru-cache'
import { Counter, Gauge, type Registry } from 'prom-client'
import { systemClock, type Clock } from '../../base/clock.ts'
import { WorkerPool, type TaskRunner } from '../../base/workers.ts'
import type { LoadingRows } from '../../log/port.ts'
import type { TableFile } from '../../metadata/view.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { footerBytes } from '../parquet/footerRead.ts'
import { corrupt } from '../parquet/thriftRead.ts'
import type { Typings } from '../typed/typings.ts'
import type { BatchList } from './batches.ts'
import { DecodedGroup, GroupCache } from './cache.ts'
import type { FileIndex } from '../parquet/fileIndex.ts'
import { Loads, type Wanted } from './loads.ts'
import type { ReadbackTask } from './tasks.ts'

export interface GroupsOptions {
  readonly store: ObjectStore
  /** Decoded row groups that are kept: 256 MiB. */
  readonly cacheBytes?: number
  /** Footers that are kept: 32 MiB. */
  readonly footerCacheBytes?: number
  /** Worker threads: 1. */
  readonly workers?: number
  /** What decodes in their place. */
  readonly runner?: TaskRunner
  /** Row groups that are fetched or decoded at once, which bounds memory beside the cache: 4. */
  readonly maxLoads?: number
  /** Tells when a reader is gone; the system's when left out. */
  readonly clock?: Clock
  readonly registry?: Registry
  /** How typed rows of a topic's table come back; null when it has none. */
  readonly typings?: Pick<Typings, 'ofTopic'>
}

/** What a footer is read with at first: enough for all but the widest files, and more for large ones. */
const FOOTER_GUESS_MIN_BYTES = 64 * 1024
const FOOTER_GUESS_MAX_BYTES = 1024 * 1024
/** What a record takes in a batch beside its bytes, at the most that is usual. */
const RECORD_OVERHEAD_BYTES = 16

/**
 * Footers and decoded row groups, each read once however many ask for it (T7), in caches bounded by bytes. A footer costs
 * one get, a second one only when it is larger than the guess; a row group costs one ranged get of the log's columns.
 */
export class Groups {
  readonly #store: ObjectStore
  readonly #pool: TaskRunner
  readonly #footers: LRUCache<string, FileIndex>
  readonly #decoded: GroupCache
  readonly #loads: Loads
  readonly #clock: Clock
  readonly #flights = new Map<string, Promise<FileIndex>>()
  readonly #failedIndexes = new Set<string>()
  readonly #decodedBytes: Counter | null
  readonly #typings: GroupsOptions['typings']

  constructor(options: GroupsOptions) {
    this.#store = options.store
    this.#typings = options.typings
    const url = new URL('./worker' + (import.meta.url.endsWith('.ts') ? '.ts' : '.js'), import.meta.url)
    this.#pool = options.runner ?? new WorkerPool(url, { size: options.workers ?? 1 })
    this.#clock = options.clock ?? systemClock
    this.#footers = new LRUCache({ maxSize: options.footerCacheBytes ?? 32 * 1024 * 1024, sizeCalculation: (index) => index.heldBytes })
    this.#decoded = new GroupCache({ maxBytes: options.cacheBytes ?? 256 * 1024 * 1024, clock: this.#clock })
    this.#loads = new Loads({ cache: this.#decoded, clock: this.#clock, maxLoads: options.maxLoads ?? 4 })
    this.#decodedBytes = options.registry === undefined ? null : this.#register(options.registry)
  }

  async #typing(file: TableFile): Promise<{ readonly key: string; readonly text: string } | null> {
    const typing = (await this.#typings?.ofTopic(file.topic)) ?? null
    return typing === null ? null : { key: typing.key, text: typing.text }
  }

  /** Starts the worker before somebody waits for it. */
  warm(): void {
    this.#pool.warm()
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  /** The index of a file. Errors: STORE_NOT_FOUND, CORRUPT. */
  index(file: TableFile): Promise<FileIndex> {
    const known = this.#footers.get(file.key)
    if (known !== undefined) return Promise.resolve(known)
    return this.#once(file.key, async () => {
      const guess = Math.min(FOOTER_GUESS_MAX_BYTES, Math.max(FOOTER_GUESS_MIN_BYTES, Math.ceil(file.sizeBytes / 2048)))
      let { body } = await this.#store.getRange(file.key, { start: -guess }, { reason: 'fetch' })
      const needed = footerBytes(body)
      if (needed > body.length && body.length >= guess)
        body = (await this.#store.getRange(file.key, { start: -needed }, { reason: 'fetch' })).body
      const index = await this.#run<FileIndex>({ kind: 'index', bytes: body }, body)
      const rows = index.groups.reduce((sum, group) => sum + group.rows, 0)
      if (rows !== file.rows) throw corrupt(`${file.key} has ${rows} rows where ${file.rows} are known`)
      this.#footers.set(file.key, index)
      return index
    })
  }

  /** The index of a file when it is in memory. */
  knownIndex(file: TableFile): FileIndex | null {
    return this.#footers.get(file.key) ?? null
  }

  /** Begins to get the index of a file. null: it failed just now, and `index` will say why. */
  askIndex(file: TableFile): LoadingRows | null {
    if (this.#failedIndexes.delete(file.key)) return null
    const flight = this.index(file).catch(() => {
      if (this.#failedIndexes.size >= 1000) this.#failedIndexes.clear()
      this.#failedIndexes.add(file.key)
    })
    return {
      isLoading: true,
      whenReady: (listener) => {
        let listens = true
        void flight.then(() => listens && listener())
        return () => (listens = false)
      },
    }
  }

  /** A row group when it is in memory. */
  known(file: TableFile, group: number): DecodedGroup | null {
    return this.#decoded.get(cacheKey(file, group))
  }

  /** Asks for a row group on behalf of a partition: it is loaded when its turn comes. null: it failed just now. */
  ask(file: TableFile, index: FileIndex, group: number, partition: number): LoadingRows | null {
    return this.#loads.ask(this.#wanted(file, index, group), partition)
  }

  /** A row group, loaded at once if need be. Errors: STORE_NOT_FOUND, CORRUPT. */
  group(file: TableFile, index: FileIndex, group: number): Promise<DecodedGroup> {
    const known = this.known(file, group)
    return known !== null ? Promise.resolve(known) : this.#loads.now(this.#wanted(file, index, group))
  }

  /** Batches [from, to) of a row group were served to a partition, which has more to read there or has not. */
  served(group: DecodedGroup, partition: number, from: number, to: number, isDone: boolean): void {
    group.markServed(from, to)
    if (!isDone) return group.expect(partition, this.#clock.monotonicMs())
    group.release(partition)
    this.#loads.pump()
  }

  #wanted(file: TableFile, index: FileIndex, at: number): Wanted {
    const group = index.groups[at]
    return {
      key: cacheKey(file, at),
      order: file.id + at / index.groups.length,
      sizeBytes: group.rawBytes + group.rows * RECORD_OVERHEAD_BYTES,
      load: async () => {
        const { body } = await this.#store.getRange(file.key, { start: group.start, end: group.end }, { reason: 'fetch' })
        const { userLeaves, footer } = index
        const typing = userLeaves.length === 0 ? null : await this.#typing(file)
        const task: ReadbackTask = { kind: 'decode', group, footer, bytes: body, userLeaves, typing }
        const decoded = new DecodedGroup(await this.#run<BatchList>(task, body))
        this.#decodedBytes?.inc(decoded.sizeBytes)
        return decoded
      },
    }
  }

  #register(registry: Registry): Counter {
    const decoded = this.#decoded
    const gauge = new Gauge({
      name: 'frazil_readback_cache_bytes',
      help: 'Bytes of record batches rebuilt from table files that are kept',
      registers: [],
      collect() {
        this.set(decoded.usedBytes)
      },
    })
    const counter = new Counter({
      name: 'frazil_readback_decoded_bytes_total',
      help: 'Bytes of record batches rebuilt from table files',
      registers: [],
    })
    registry.registerMetric(gauge)
    registry.registerMetric(counter)
    return counter
  }

  /** Hands `bytes` over to a worker: moved when they own their memory, else copied. */
  #run<T>(task: ReadbackTask, bytes: Buffer): Promise<T> {
    const owns = bytes.byteOffset === 0 && bytes.buffer.byteLength === bytes.length
    const moved = owns ? bytes : Uint8Array.from(bytes)
    return this.#pool.run<T>({ ...task, bytes: moved }, [moved.buffer as ArrayBuffer])
  }

  #once(key: string, load: () => Promise<FileIndex>): Promise<FileIndex> {
    const flying = this.#flights.get(key)
    if (flying !== undefined) return flying
    const flight = load().finally(() => this.#flights.delete(key))
    this.#flights.set(key, flight)
    return flight
  }
}

function cacheKey(file: TableFile, group: number): string {
  return `${file.key} ${group}`
}
