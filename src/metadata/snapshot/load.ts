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

/** How often a load begins anew when entries go while it reads. */
const TRIES = 5

type ReadableLog = Pick<EntryLog, 'floor' | 'read' | 'snapshots' | 'readSnapshot'>

/**
 * The state that the log holds: the newest snapshot that can be used, then the entries behind it. One that is damaged, or
 * that the entries do not follow from, is passed over with a warning (L4). Errors: LOG_CORRUPT, LEVEL_UNKNOWN, as EntryLog.
 */
export async function loadRooms(log: ReadableLog, logger: Logger): Promise<Loaded> {
<<<<<<< HEAD
  for (let floor = await log.floor(); ;) {
    const loaded = await loadFrom(floor, log, logger)
    if ('rooms' in loaded) return loaded
    // Another pod may have truncated meanwhile: then newer snapshots are there now.
    const now = await log.floor()
    if (now === floor)
      throw new FrazilError(
        'LOG_CORRUPT',
        `the metadata log begins with entry ${floor} and no snapshot before it can be used`,
        loaded.failure,
      )
    logger.info({ floor: now, before: floor }, 'the metadata log was truncated while it was loaded: loading it anew')
    floor = now
  }
}

async function loadFrom(floor: number, log: ReadableLog, logger: Logger): Promise<Loaded | { readonly failure: unknown }> {
  const bad = new Set<number>()
  let failure: unknown = null
=======
  for (let tries = 1; ; tries++) {
    const floor = await log.floor()
    try {
      return await loadOnce(log, logger, floor)
    } catch (error) {
      // Another pod truncated what was being read: there is a newer snapshot.
      if (tries === TRIES || !hasCode(error, 'LOG_CORRUPT') || (await log.floor()) === floor) throw error
    }
  }
}

async function loadOnce(log: ReadableLog, logger: Logger, floor: number): Promise<Loaded> {
  const bad = new Set<number>()
  let failure: FrazilError | null = null
>>>>>>> 7830afe (--metadata postgres://…, judged on a real server; entries age before they are truncated (L4); the first pod writes the snapshots; loads begin anew when entries go meanwhile)
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
<<<<<<< HEAD
  if (floor > 1) return { failure }
=======
  if (floor > 1) {
    const why = failure === null ? 'there is none' : failure.message
    throw new FrazilError(
      'LOG_CORRUPT',
      `the metadata log begins with entry ${floor} and no snapshot before it can be used (${why}): restore the latest snapshot from a backup`,
      failure ?? undefined,
    )
  }
>>>>>>> 7830afe (--metadata postgres://…, judged on a real server; entries age before they are truncated (L4); the first pod writes the snapshots; loads begin anew when entries go meanwhile)
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
