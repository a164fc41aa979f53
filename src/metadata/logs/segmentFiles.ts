import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { FrazilError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { Directories } from '../../storage/directories.ts'
import { systemCode } from '../../storage/failures.ts'
import { readInto, writeAll, type Files } from '../../storage/files.ts'
import { decodeSegmentHead, encodeSegmentHead, isOtherVersion, isZero, SECTOR_BYTES } from './frame.ts'
import { digits, Segment } from './segment.ts'

const STEP_BYTES = 1 << 20
const READY_NAME = 'ready.tmp'
const PLAIN_NAME = 'new.tmp'

interface Unnamed {
  readonly fd: number
  readonly seed: number
  readonly file: string
  readonly sizeBytes: number
}

/**
 * The files of the log: opens those that exist and makes new ones. The next file is made ahead, in the background and full
 * of zeros: an append into space that a file already has changes no metadata of the file system, and syncs in half the time.
 */
export class SegmentFiles {
  readonly folder: string
  /** True when a write through a segment's descriptor is durable once it returns. */
  readonly syncsItself: boolean
  readonly #files: Files
  readonly #fsync: boolean
  /** Size of a file that is made ahead; 0 when none is. */
  readonly readyBytes: number
  readonly #logger: Logger
  readonly #directories: Directories
  readonly #flags: number
  #ready: Unnamed | null = null
  #making: Promise<void> | null = null

  constructor(options: {
    readonly folder: string
    readonly files: Files
    readonly fsync: boolean
    /** Size of files made ahead; 0: none are. */
    readonly readyBytes: number
    readonly logger: Logger
  }) {
    this.folder = options.folder
    this.#files = options.files
    this.#fsync = options.fsync
    this.readyBytes = options.readyBytes
    this.#logger = options.logger
    this.#directories = new Directories(options.files, options.fsync)
    // On Linux O_DSYNC makes write and fdatasync one call. On macOS it does not reach the disk, as fdatasync of libuv does.
    this.syncsItself = options.fsync && process.platform === 'linux'
    this.#flags = fs.constants.O_RDWR | (this.syncsItself ? fs.constants.O_DSYNC : 0)
  }

  /** First entries of the files that exist, ascending. Clears unfinished ones. */
  async list(): Promise<readonly number[]> {
    await this.#directories.make(this.folder)
    // A killed process may have renamed files into it, or raised the floor beside it, and not come to make that durable.
    await this.#directories.sync(this.folder)
    await this.#directories.sync(path.dirname(this.folder))
    const firsts: number[] = []
    for (const { name } of await this.#files.list(this.folder)) {
      const match = /^(\d{20})\.log$/.exec(name)
      if (match !== null) firsts.push(Number(match[1]))
      else if (name === READY_NAME || name === PLAIN_NAME) await this.#files.unlink(path.join(this.folder, name))
    }
    return firsts.sort((a, b) => a - b)
  }

  /** An existing file: 'blank' when it never got its head, null when the head is damaged. */
  async open(firstEntry: number): Promise<Segment | 'blank' | null> {
    const file = this.pathOf(firstEntry)
    const fd = await this.#files.open(file, this.#flags)
    const head = Buffer.alloc(SECTOR_BYTES)
    const n = await readInto(this.#files, fd, head, 0)
    const seed = decodeSegmentHead(head)
    if (seed !== null) return new Segment(this.#files, { path: file, firstEntry, seed, fd })
    await this.#files.close(fd)
    if (isOtherVersion(head)) throw new FrazilError('LEVEL_UNKNOWN', `the log file ${file} was written by a newer version of Frazil`)
    return n < SECTOR_BYTES || isZero(head, 0, SECTOR_BYTES) ? 'blank' : null
  }

  /** Opens the same file anew. */
  reopen(segment: Segment): Promise<number> {
    return this.#files.open(segment.path, this.#flags)
  }

  /** A new file, durable under its name; of zeros when one is ready. */
  async create(firstEntry: number): Promise<Segment> {
    const unnamed = this.#ready ?? (await this.#make(PLAIN_NAME, 0))
    this.#ready = null
    const file = this.pathOf(firstEntry)
    try {
      await this.#files.rename(unnamed.file, file)
      await this.#directories.sync(this.folder)
    } catch (error) {
      await this.#files.close(unnamed.fd)
      throw error
    }
    const segment = new Segment(this.#files, { path: file, firstEntry, seed: unnamed.seed, fd: unnamed.fd })
    segment.spaceBytes = unnamed.sizeBytes
    return segment
  }

  /** True when a file of zeros waits to be used. */
  get ready(): boolean {
    return this.#ready !== null
  }

  /** Begins to make the next file, unless it is ready or being made. */
  makeReady(): void {
    if (this.readyBytes === 0 || this.#ready !== null || this.#making !== null) return
    this.#making = this.#make(READY_NAME, this.readyBytes).then(
      (unnamed) => {
        this.#ready = unnamed
        this.#making = null
      },
      (error: unknown) => {
        // Only speed is lost. A full disk shows at the append that needs the space.
        this.#logger.debug({ error: String(error) }, 'cannot make a log file ahead')
        this.#making = null
      },
    )
  }

  async #make(name: string, sizeBytes: number): Promise<Unnamed> {
    const file = path.join(this.folder, name)
    const id = crypto.randomBytes(16)
    const head = encodeSegmentHead(id)
    const fd = await this.#files.open(file, this.#flags | fs.constants.O_CREAT | fs.constants.O_TRUNC)
    try {
      await writeAll(this.#files, fd, [head], 0)
      const zeros = Buffer.alloc(Math.min(STEP_BYTES, sizeBytes))
      for (let at = SECTOR_BYTES; at < sizeBytes;) {
        at = await writeAll(this.#files, fd, [zeros.subarray(0, Math.min(zeros.length, sizeBytes - at))], at)
      }
      if (this.#fsync) await this.#files.fdatasync(fd)
      return { fd, seed: decodeSegmentHead(head)!, file, sizeBytes }
    } catch (error) {
      await this.#files.close(fd)
      await this.remove(file)
      throw error
    }
  }

  async remove(file: string): Promise<void> {
    try {
      await this.#files.unlink(file)
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error
    }
  }

  pathOf(firstEntry: number): string {
    return path.join(this.folder, `${digits(firstEntry)}.log`)
  }

  /** Waits for what runs and removes the file made ahead. */
  async close(): Promise<void> {
    await this.#making
    if (this.#ready === null) return
    await this.#files.close(this.#ready.fd)
    await this.remove(this.#ready.file)
    this.#ready = null
  }
}
