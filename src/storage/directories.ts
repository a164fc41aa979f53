import fs from 'node:fs'
import path from 'node:path'
import type { Files } from './files.ts'
import { systemCode } from './failures.ts'

interface Round {
  running: Promise<void>
  next: Promise<void> | null
}

/**
 * Makes folders and makes their entries durable. Writers that finish in one folder while an fsync of it runs share the next
 * one: it begins after all their renames, so it covers them.
 */
export class Directories {
  readonly #files: Files
  readonly #fsync: boolean
  readonly #rounds = new Map<string, Round>()
  readonly #made = new Set<string>()

  constructor(files: Files, fsync: boolean) {
    this.#files = files
    this.#fsync = fsync
  }

  /** Durable entries of this folder, as they were when the call was made. */
  sync(directory: string): Promise<void> {
    if (!this.#fsync) return Promise.resolve()
    const round = this.#rounds.get(directory)
    if (round === undefined) return this.#start(directory)
    // When the running one fails, so does the next: what it could not write may be what these writers wait for, and another
    // fsync would not say so.
    round.next ??= round.running.then(() => this.#start(directory))
    return round.next
  }

  #start(directory: string): Promise<void> {
    const round: Round = { running: this.#syncNow(directory), next: null }
    this.#rounds.set(directory, round)
    round.running.then(
      () => {
        if (round.next === null) this.#rounds.delete(directory)
      },
      () => this.#rounds.delete(directory),
    )
    return round.running
  }

  async #syncNow(directory: string): Promise<void> {
    const fd = await this.#files.open(directory, fs.constants.O_RDONLY)
    try {
      await this.#files.fsync(fd)
    } finally {
      await this.#files.close(fd)
    }
  }

  /** Makes a folder and its parents, durably. */
  async make(directory: string): Promise<void> {
    if (this.#made.has(directory)) return
    try {
      await this.#files.mkdir(directory)
    } catch (error) {
      const code = systemCode(error)
      if (code === 'ENOENT') {
        const parent = path.dirname(directory)
        if (parent === directory) throw error
        this.#made.delete(parent)
        await this.make(parent)
        return this.make(directory)
      }
      if (code !== 'EEXIST') throw error
      if (!(await this.#files.stat(directory)).isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' })
    }
    // Also when it existed: whoever made it may not have come to its fsync yet.
    await this.sync(path.dirname(directory))
    if (this.#made.size >= 4096) this.#made.clear()
    this.#made.add(directory)
  }

  /** Forgets what is known of a folder, because it is gone. */
  forget(directory: string): void {
    this.#made.delete(directory)
  }
}
