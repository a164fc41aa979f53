import fs from 'node:fs'
import path from 'node:path'
import { threadId } from 'node:worker_threads'
import type { Files } from './files.ts'
import { systemCode } from './failures.ts'

/** Folder of a store's root in which files stand until they are renamed into place; hidden from `list`. */
export const TEMP_FOLDER = '.tmp'

/**
 * When the process began, in ticks since the machine's start, or '0' where the system does not tell. A process id alone
 * proves nothing: in a container every process has the same one.
 */
function startTicks(pid: number): string {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
  } catch {
    return '0' // no such process, or no /proc: `isAlive` asks the system
  }
}

function isAlive(pid: number, ticks: string): boolean {
  const now = startTicks(pid)
  if (now !== '0') return now === ticks
  if (pid === process.pid) return ticks === '0'
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}

const OWN_TICKS = startTicks(process.pid)

/** An open temporary file; `moved` once it was renamed away, so that there is nothing left to remove. */
export interface TempFile {
  readonly fd: number
  readonly path: string
  moved: boolean
}

/** Names for temporary files that say which process wrote them. */
export class TempFiles {
  readonly folder: string
  readonly #prefix: string
  #count = 0

  /** `unique` tells stores of one thread apart. */
  constructor(root: string, unique: string) {
    this.folder = path.join(root, TEMP_FOLDER)
    this.#prefix = `${process.pid}-${OWN_TICKS}-${threadId}-${unique}`
  }

  async create(files: Files): Promise<TempFile> {
    const file = path.join(this.folder, `${this.#prefix}-${this.#count++}`)
    return { fd: await files.open(file, 'wx+'), path: file, moved: false }
  }

  /** Removes the files of processes that no longer run. Returns how many. */
  async removeDead(files: Files): Promise<number> {
    let removed = 0
    for (const entry of await files.list(this.folder)) {
      const match = /^(\d+)-(\d+)-/.exec(entry.name)
      if (match !== null && isAlive(Number(match[1]), match[2])) continue
      try {
        await files.unlink(path.join(this.folder, entry.name))
        removed++
      } catch (error) {
        if (systemCode(error) !== 'ENOENT') throw error
      }
    }
    return removed
  }
}
