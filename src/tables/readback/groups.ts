import { LRUCache } from 'lru-cache'
import { Counter, Gauge, type Registry } from 'prom-client'
import { WorkerPool } from '../../base/workers.ts'
import type { TableFile } from '../../metadata/view.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { footerBytes } from '../parquet/footerRead.ts'
import { corrupt } from '../parquet/thriftRead.ts'
import type { BatchList } from './batches.ts'
import type { FileIndex } from '../parquet/fileIndex.ts'
import type { ReadbackTask } from './worker.ts'

export interface GroupsOptions {
  readonly store: ObjectStore
  /** Decoded row groups that are kept: 256 MiB. */
  readonly cacheBytes?: number
  /** Footers that are kept: 32 MiB. */
  readonly footerCacheBytes?: number
  /** Worker threads: 1. */
  readonly workers?: number
  /** Row groups that are fetched or decoded at once, which bounds memory beside the cache: 4. */
  readonly maxLoads?: number
  readonly registry?: Registry
}

/** What a footer is read with at first: enough for all but the widest files, and more for large ones. */
const FOOTER_GUESS_MIN_BYTES = 64 * 1024
const FOOTER_GUESS_MAX_BYTES = 1024 * 1024

/**
 * Footers and decoded row groups, each read once however many ask for it (T7), in caches bounded by bytes. A footer costs
 * one get, a second one only when it is larger than the guess; a row group costs one ranged get of the log's columns.
 */
export class Groups {
  readonly #store: ObjectStore
  readonly #pool: WorkerPool
  readonly #footers: LRUCache<string, FileIndex>
  readonly #decoded: LRUCache<string, BatchList>
  readonly #flights = new Map<string, Promise<unknown>>()
  readonly #waiting: (() => void)[] = []
  readonly #decodedBytes: Counter | null
  #freeLoads: number

  constructor(options: GroupsOptions) {
    this.#store = options.store
    const url = new URL('./worker' + (import.meta.url.endsWith('.ts') ? '.ts' : '.js'), import.meta.url)
    this.#pool = new WorkerPool(url, { size: options.workers ?? 1 })
    this.#freeLoads = options.maxLoads ?? 4
    this.#footers = new LRUCache({ maxSize: options.footerCacheBytes ?? 32 * 1024 * 1024, sizeCalculation: (index) => index.heldBytes })
    this.#decoded = new LRUCache({ maxSize: options.cacheBytes ?? 256 * 1024 * 1024, sizeCalculation: heldBytes })
    this.#decodedBytes = options.registry === undefined ? null : this.#register(options.registry)
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  /** The index of a file. Errors: STORE_NOT_FOUND, CORRUPT. */
  index(file: TableFile): Promise<FileIndex> {
    const known = this.#footers.get(file.key)
    if (known !== undefined) return Promise.resolve(known)
    return this.#once(`footer ${file.key}`, async () => {
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

  /** True when the row group can be had without a get: it is kept, or on its way. */
  has(file: TableFile, group: number): boolean {
    const key = cacheKey(file, group)
    return this.#decoded.has(key) || this.#flights.has(key)
  }

  /** The batches of a row group. Errors: STORE_NOT_FOUND, CORRUPT. */
  batches(file: TableFile, index: FileIndex, group: number): Promise<BatchList> {
    const key = cacheKey(file, group)
    const known = this.#decoded.get(key)
    if (known !== undefined) return Promise.resolve(known)
    return this.#once(key, async () => {
      await this.#enter()
      try {
        const { start, end } = index.groups[group]
        const { body } = await this.#store.getRange(file.key, { start, end }, { reason: 'fetch' })
        const list = await this.#run<BatchList>({ kind: 'decode', group: index.groups[group], footer: index.footer, bytes: body }, body)
        this.#decodedBytes?.inc(heldBytes(list))
        this.#decoded.set(key, list)
        return list
      } finally {
        this.#leave()
      }
    })
  }

  #register(registry: Registry): Counter {
    const decoded = this.#decoded
    const gauge = new Gauge({
      name: 'frazil_readback_cache_bytes',
      help: 'Bytes of record batches rebuilt from table files that are kept',
      registers: [],
      collect() {
        this.set(decoded.calculatedSize)
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

  #once<T>(key: string, load: () => Promise<T>): Promise<T> {
    const flying = this.#flights.get(key) as Promise<T> | undefined
    if (flying !== undefined) return flying
    const flight = load().finally(() => this.#flights.delete(key))
    this.#flights.set(key, flight)
    return flight
  }

  #enter(): Promise<void> {
    if (this.#freeLoads > 0) {
      this.#freeLoads--
      return Promise.resolve()
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#freeLoads++
    else next()
  }
}

function cacheKey(file: TableFile, group: number): string {
  return `${file.key} ${group}`
}

function heldBytes(list: BatchList): number {
  return list.batches.reduce((sum, batch) => sum + batch.length + 200, 256)
}
