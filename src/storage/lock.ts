import fs from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { FrazilError } from '../base/errors.ts'
import { systemClock, type Clock } from '../base/clock.ts'
import { storeFailure } from './failures.ts'

export interface FolderLock {
  release(): void
}

const POLL_MS = 50
const SQLITE_BUSY = 5

/**
 * Takes the folder for this process (L22): an exclusive SQLite transaction on `<root>/meta/lock.db` that stays open, so that
 * the lock dies with the process whatever ends it. `meta/lock.owner` names the holder, for the sentence only.
 * Errors: STORE_IN_USE after `waitMs` (5000 by default), STORE_UNAVAILABLE when the folder cannot be written.
 */
export async function lockFolder(
  root: string,
  podName: string,
  options: { readonly waitMs?: number; readonly clock?: Clock } = {},
): Promise<FolderLock> {
  const clock = options.clock ?? systemClock
  const folder = path.join(path.resolve(root), 'meta')
  const ownerFile = path.join(folder, 'lock.owner')
  const giveUpAt = clock.monotonicMs() + (options.waitMs ?? 5000)
  for (;;) {
    const database = take(folder)
    if (database !== null) {
      try {
        fs.writeFileSync(ownerFile, `pod ${JSON.stringify(podName)}, process ${process.pid}\n`)
      } catch (error) {
        database.close()
        throw storeFailure(error, `the folder ${root} cannot be used`, 'write')
      }
      return { release: () => database.isOpen && database.close() }
    }
    if (clock.monotonicMs() >= giveUpAt) {
      throw new FrazilError('STORE_IN_USE', `the folder ${root} belongs to another running process (${owner(ownerFile)})`)
    }
    await clock.sleep(POLL_MS)
  }
}

/** The open transaction, or null when another connection holds it. */
function take(folder: string): DatabaseSync | null {
  let database: DatabaseSync | undefined
  try {
    fs.mkdirSync(folder, { recursive: true })
    database = new DatabaseSync(path.join(folder, 'lock.db'), { timeout: 0 })
    // The journal stays in memory: nothing is ever written, and no file is left behind by a kill.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    if (database?.isOpen) database.close()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return null
    throw storeFailure(error, `the folder ${folder} cannot be locked`, 'write')
  }
}

function owner(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8').slice(0, 200).trim()
  } catch {
    return 'which did not leave its name' // the name is a courtesy; the lock itself is what counts
  }
}
