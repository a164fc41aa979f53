import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { FrazilError } from '../base/errors.ts'
import { systemClock, type Clock } from '../base/clock.ts'
import { silentLogger, type Logger } from '../base/log.ts'
import { Directories } from './directories.ts'
import { storeFailure, systemCode } from './failures.ts'
import { BACKGROUND_CALL_BYTES, bodyBuffers, readInto, systemFiles, writeAll, type Files } from './files.ts'
import { walkKeys } from './folderList.ts'
import { describe, Publisher } from './folderPublish.ts'
import { FolderUpload } from './folderUpload.ts'
import { checkKey, resolveRange } from './keys.ts'
import { KeyMutex } from './keyMutex.ts'
import type { RequestCounter } from './metrics.ts'
import type { Body, ByteRange, GetResult, MultipartUpload, ObjectInfo, ObjectStore, Options } from './store.ts'
import { TempFiles, type TempFile } from './tempFiles.ts'

export interface FolderStoreOptions {
  readonly path: string
  /** False: a write is answered before it is on disk, as Kafka does; for comparisons. */
  readonly fsync?: boolean
  readonly clock?: Clock
  readonly logger?: Logger
  readonly metrics?: RequestCounter
  readonly files?: Files
}

const STAT_AHEAD = 32
const DELETE_WIDTH = 16

/**
 * Objects as files of a folder. A write goes to a temporary file, is made durable there, is moved into place whole, and the
 * folder that names it is made durable; so a kill at any instant leaves old or new, never a part. `putIfMatch` is exact
 * among callers of one store object; the folder's lock (lock.ts) keeps other processes away. Folders that deletes leave
 * empty stay: a writer could not tell that one was removed and made again, and not yet durably, under its hands.
 */
export class FolderStore implements ObjectStore {
  readonly root: string
  readonly #files: Files
  readonly fsync: boolean
  readonly #logger: Logger
  readonly #metrics: RequestCounter | undefined
  readonly #directories: Directories
  readonly #temps: TempFiles
  readonly #publisher: Publisher
  readonly #keys = new KeyMutex()
  #closed = false

  constructor(options: FolderStoreOptions) {
    this.root = path.resolve(options.path)
    this.#files = options.files ?? systemFiles
    this.fsync = options.fsync ?? true
    this.#logger = options.logger ?? silentLogger
    this.#metrics = options.metrics
    this.#directories = new Directories(this.#files, this.fsync)
    this.#temps = new TempFiles(this.root, crypto.randomBytes(4).toString('hex'))
    this.#publisher = new Publisher({
      root: this.root,
      files: this.#files,
      directories: this.#directories,
      fsync: this.fsync,
      clock: options.clock ?? systemClock,
      logger: this.#logger,
    })
  }

  /** Makes the folder if need be. Errors: STORE_FULL, STORE_UNAVAILABLE. */
  async open(): Promise<void> {
    try {
      await this.#directories.make(this.#temps.folder)
    } catch (error) {
      throw storeFailure(error, `the folder ${this.root} cannot be used`, 'write')
    }
  }

  /**
   * Clears what dead processes left. Only for who holds the folder's lock: a process of another container, whose id says
   * nothing here, may be writing. Errors: STORE_UNAVAILABLE.
   */
  async removeUnfinished(): Promise<void> {
    try {
      const removed = await this.#temps.removeDead(this.#files)
      if (removed > 0) this.#logger.info({ removed }, 'removed unfinished files of processes that ended')
    } catch (error) {
      throw storeFailure(error, `the folder ${this.root} cannot be used`, 'write')
    }
  }

  async put(key: string, body: Body, options?: Options): Promise<ObjectInfo> {
    this.#begin('put', key, options)
    return (await this.#keys.run(key, () => this.#write(key, body, 'replace')))!
  }

  async putIfAbsent(key: string, body: Body, options?: Options): Promise<ObjectInfo | null> {
    this.#begin('put', key, options)
    return this.#write(key, body, 'ifAbsent')
  }

  async putIfMatch(key: string, body: Body, etag: string, options?: Options): Promise<ObjectInfo | null> {
    this.#begin('put', key, options)
    return this.#keys.run(key, async () => {
      const current = await this.#stat(key)
      return current?.etag === etag ? this.#write(key, body, 'replace') : null
    })
  }

  async #write(key: string, body: Body, mode: 'replace' | 'ifAbsent'): Promise<ObjectInfo | null> {
    const { buffers } = bodyBuffers(body)
    let temp: TempFile | null = null
    try {
      temp = await this.#temps.create(this.#files)
      await writeAll(this.#files, temp.fd, buffers, 0, BACKGROUND_CALL_BYTES)
      return await this.#publisher.publish(key, temp, mode)
    } catch (error) {
      throw storeFailure(error, `cannot write ${key}`, 'write')
    } finally {
      if (temp !== null) await this.#publisher.discard(temp)
    }
  }

  async get(key: string, options?: Options): Promise<GetResult> {
    return this.#read(key, { start: 0 }, options)
  }

  async getRange(key: string, range: ByteRange, options?: Options): Promise<GetResult> {
    return this.#read(key, range, options)
  }

  async #read(key: string, range: ByteRange, options?: Options): Promise<GetResult> {
    this.#begin('get', key, options)
    let fd = -1
    try {
      fd = await this.#files.open(path.join(this.root, key), fs.constants.O_RDONLY)
      const stats = await this.#files.statOpen(fd)
      if (!stats.isFile()) throw new FrazilError('STORE_NOT_FOUND', `there is no ${key}`)
      const info = describe(key, stats)
      const { start, end } = resolveRange(range, info.sizeBytes)
      // Never from the pool: the caller may hand the buffer to a worker.
      const body = Buffer.allocUnsafeSlow(end - start)
      const n = await readInto(this.#files, fd, body, start)
      if (n < body.length) throw new FrazilError('STORE_UNAVAILABLE', `${key} ended early: someone else cut the file`)
      return { ...info, body }
    } catch (error) {
      if (systemCode(error) === 'ENOTDIR') throw new FrazilError('STORE_NOT_FOUND', `there is no ${key}`, error)
      throw storeFailure(error, `cannot read ${key}`, 'read')
    } finally {
      if (fd >= 0) await this.#files.close(fd)
    }
  }

  async head(key: string, options?: Options): Promise<ObjectInfo | null> {
    this.#begin('head', key, options)
    return this.#stat(key)
  }

  async #stat(key: string): Promise<ObjectInfo | null> {
    try {
      const stats = await this.#files.stat(path.join(this.root, key))
      return stats.isFile() ? describe(key, stats) : null
    } catch (error) {
      const code = systemCode(error)
      if (code === 'ENOENT' || code === 'ENOTDIR') return null
      throw storeFailure(error, `cannot look up ${key}`, 'read')
    }
  }

  async *list(prefix: string, options?: Options & { readonly startAfter?: string }): AsyncGenerator<ObjectInfo> {
    this.#check()
    this.#metrics?.count('list', options?.reason)
    try {
      let batch: Promise<ObjectInfo | null>[] = []
      for await (const key of walkKeys(this.#files, this.root, prefix, options?.startAfter ?? '')) {
        batch.push(this.#stat(key))
        if (batch.length < STAT_AHEAD) continue
        for (const info of await Promise.all(batch)) if (info !== null) yield info
        batch = []
      }
      for (const info of await Promise.all(batch)) if (info !== null) yield info
    } catch (error) {
      throw storeFailure(error, `cannot list ${prefix}`, 'read')
    }
  }

  async delete(keys: readonly string[], options?: Options): Promise<readonly { readonly key: string; readonly error: Error }[]> {
    this.#check()
    this.#metrics?.count('delete', options?.reason)
    const failed: { key: string; error: Error }[] = []
    const touched = new Set<string>()
    const queue = keys.values()
    const work = async (): Promise<void> => {
      for (const key of queue) {
        const target = path.join(this.root, key)
        try {
          checkKey(key)
          await this.#keys.run(key, () => this.#files.unlink(target))
          touched.add(path.dirname(target))
        } catch (error) {
          const code = systemCode(error)
          if (code !== 'ENOENT' && code !== 'ENOTDIR') failed.push({ key, error: storeFailure(error, `cannot delete ${key}`, 'write') })
        }
      }
    }
    await Promise.all(Array.from({ length: Math.min(DELETE_WIDTH, keys.length) }, work))
    for (const directory of touched) {
      try {
        await this.#directories.sync(directory)
      } catch (error) {
        // The keys are gone for every reader; a power cut may bring them back, as objects that nobody knows.
        this.#logger.warn({ directory, error: String(error) }, 'deletions may not be durable')
      }
    }
    return failed
  }

  async multipart(key: string, options?: Options): Promise<MultipartUpload> {
    this.#begin('put', key, options)
    return new FolderUpload({
      files: this.#files,
      temps: this.#temps,
      count: (kind) => this.#metrics?.count(kind, options?.reason),
      check: () => this.#check(),
      pathOf: (source) => {
        checkKey(source)
        return path.join(this.root, source)
      },
      publish: (temp, mode) => this.#keys.run(key, () => this.#publisher.publish(key, temp, mode)),
      discard: (temp) => this.#publisher.discard(temp),
    })
  }

  /** Not percent-encoded: Hadoop, DuckDB and PyIceberg take what follows the scheme as a path. */
  uri(key: string): string {
    return `file://${this.root === '/' ? '' : this.root}/${key}`
  }

  keyOf(uri: string): string | null {
    if (!uri.startsWith('file:/')) return null
    // Java writes `file:/path` for `file:///path`.
    const full = uri.startsWith('file://') ? uri.slice('file://'.length) : uri.slice('file:'.length)
    const prefix = this.root === '/' ? '/' : `${this.root}/`
    return full.startsWith(prefix) && full.length > prefix.length ? full.slice(prefix.length) : null
  }

  async close(): Promise<void> {
    this.#closed = true
  }

  #begin(kind: 'put' | 'get' | 'head', key: string, options: Options | undefined): void {
    this.#check()
    checkKey(key)
    this.#metrics?.count(kind, options?.reason)
  }

  #check(): void {
    if (this.#closed) throw new FrazilError('CLOSED', 'the store is closed')
  }
}
