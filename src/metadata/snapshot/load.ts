import { FrazilError, hasCode } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { followEntry } from '../apply/apply.ts'
import type { EntryLog } from '../entryLog.ts'
import { Rooms } from '../state/state.ts'
import { decodeSnapshot } from './file.ts'

export interface Loaded {
  readonly rooms: Rooms
  /** Snapshots that were found bad on the way. */
  readonly bad: ReadonlySet<number>
  /** The snapshot that the state was built on; 0 for none. */
  readonly snapshot: number
}

type ReadableLog = Pick<EntryLog, 'floor' | 'read' | 'snapshots' | 'readSnapshot'>

/**
 * The state that the log holds: the newest snapshot that can be used, then the entries behind it. One that is damaged, or
 * that the entries do not follow from, is passed over with a warning (L4). Errors: LOG_CORRUPT, LEVEL_UNKNOWN, as EntryLog.
 */
export async function loadRooms(log: ReadableLog, logger: Logger): Promise<Loaded> {
  for (let floor = await log.floor(); ;) {
    const loaded = await loadFrom(floor, log, logger)
    if ('rooms' in loaded) return loaded
    // Another pod may have truncated meanwhile: then newer snapshots are there now.
    const now = await log.floor()
    if (now === floor)
      throw new FrazilError(
        'LOG_CORRUPT',
        `the metadata log begins with entry ${floor} and no snapshot before it can be used (${String((loaded.failure as Error | null)?.message ?? 'there is none')}): restore the latest snapshot from a backup`,
        loaded.failure,
      )
    logger.info({ floor: now, before: floor }, 'the metadata log was truncated while it was loaded: loading it anew')
    floor = now
  }
}

async function loadFrom(floor: number, log: ReadableLog, logger: Logger): Promise<Loaded | { readonly failure: unknown }> {
  const bad = new Set<number>()
  let failure: unknown = null
  for (const snapshot of await log.snapshots()) {
    if (snapshot + 1 < floor) break
    try {
      const rooms = decodeSnapshot(snapshot, await log.readSnapshot(snapshot))
      await replay(log, rooms)
      return { rooms, bad, snapshot }
    } catch (error) {
      if (!hasCode(error, 'CORRUPT') && !hasCode(error, 'LOG_CORRUPT') && !hasCode(error, 'STORE_NOT_FOUND')) throw error
      logger.warn({ snapshot, reason: error.message }, 'a metadata snapshot cannot be used: going back to the one before')
      bad.add(snapshot)
      failure = error
    }
  }
  if (floor > 1) return { failure }
  const rooms = new Rooms()
  try {
    await replay(log, rooms)
  } catch (error) {
    if (!hasCode(error, 'STORE_NOT_FOUND')) throw error
    return { failure: error }
  }
  return { rooms, bad, snapshot: 0 }
}

async function replay(log: ReadableLog, rooms: Rooms): Promise<void> {
  for await (const raw of log.read(rooms.lastEntry + 1)) followEntry(rooms, raw)
}
