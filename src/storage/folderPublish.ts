import type { BigIntStats } from 'node:fs'
import path from 'node:path'
import { FrazilError } from '../base/errors.ts'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Directories } from './directories.ts'
import { storeFailure, systemCode } from './failures.ts'
import type { Files } from './files.ts'
import type { ObjectInfo } from './store.ts'
import type { TempFile } from './tempFiles.ts'

/** Turns a written temporary file of a folder into an object: durable, whole, and under its key. */
export class Publisher {
  readonly #root: string
  readonly #files: Files
  readonly #directories: Directories
  readonly #fsync: boolean
  readonly #clock: Clock
  readonly #logger: Logger
  #lastTimeMicros = 0

  constructor(options: {
    readonly root: string
    readonly files: Files
    readonly directories: Directories
    readonly fsync: boolean
    readonly clock: Clock
    readonly logger: Logger
  }) {
    this.#root = options.root
    this.#files = options.files
    this.#directories = options.directories
    this.#fsync = options.fsync
    this.#clock = options.clock
    this.#logger = options.logger
  }

  /** Makes the written temporary file durable and moves it to its key. The caller discards it in any case. */
  async publish(key: string, temp: TempFile, mode: 'replace' | 'ifAbsent'): Promise<ObjectInfo | null> {
    // A time of its own for each write: inode numbers come back, and the file system's clock stands still for milliseconds.
    this.#lastTimeMicros = Math.max(this.#clock.wallMs() * 1000, this.#lastTimeMicros + 1)
    await this.#files.setTime(temp.fd, this.#lastTimeMicros / 1e6)
    // Once only: after a failed fsync the kernel forgets which pages never came to disk, and a second one would lie.
    if (this.#fsync) await this.#files.fdatasync(temp.fd)
    const info = describe(key, await this.#files.statOpen(temp.fd))
    const target = path.join(this.#root, key)
    if (!(await this.#place(temp, target, mode))) return null
    try {
      await this.#directories.sync(path.dirname(target))
    } catch (error) {
      throw doubtful(error, `cannot make the folder of ${key} durable`)
    }
    return info
  }

  /** False when the key exists and must not. */
  async #place(temp: TempFile, target: string, mode: 'replace' | 'ifAbsent'): Promise<boolean> {
    const parent = path.dirname(target)
    for (let attempt = 1; ; attempt++) {
      await this.#directories.make(parent)
      try {
        if (mode === 'ifAbsent') await this.#files.link(temp.path, target)
        else {
          await this.#files.rename(temp.path, target)
          temp.moved = true
        }
        return true
      } catch (error) {
        const code = systemCode(error)
        if (code === 'EEXIST' && mode === 'ifAbsent') {
          if ((await this.#files.stat(target)).isDirectory()) throw new FrazilError('REFUSED', `${target} is a folder`, error)
          // "It exists" is an answer that people build on: it must outlast a power cut too.
          await this.#directories.sync(parent)
          return false
        }
        // Someone removed the folder by hand since it was made.
        if (code === 'ENOENT' && attempt === 1) {
          this.#directories.forget(parent)
          continue
        }
        throw storeFailure(error, `cannot move a file to ${target}`, 'doubt')
      }
    }
  }

  /** Closes, and removes what was not renamed away. A leftover is cleared at the next start. */
  async discard(temp: TempFile): Promise<void> {
    try {
      await this.#files.close(temp.fd)
      if (!temp.moved) await this.#files.unlink(temp.path)
    } catch (error) {
      this.#logger.warn({ file: temp.path, error: String(error) }, 'cannot remove a temporary file')
    }
  }
}

/** After the move: whatever the error, the new object may be there. */
function doubtful(error: unknown, what: string): FrazilError {
  return new FrazilError('STORE_UNKNOWN', `${what}: ${String(error)}`, error)
}

/** What an open or named file says of its object. */
export function describe(key: string, stats: BigIntStats): ObjectInfo {
  return { key, sizeBytes: Number(stats.size), etag: `${stats.ino.toString(16)}-${stats.mtimeNs.toString(16)}-${stats.size.toString(16)}` }
}
