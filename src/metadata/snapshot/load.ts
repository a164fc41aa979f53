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
  const bad = new Set<number>()
  const floor = await log.floor()
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
  if (floor > 1) {
    throw new FrazilError('LOG_CORRUPT', `the metadata log begins with entry ${floor} and no snapshot before it can be used`, failure)
  }
  const rooms = new Rooms()
  await replay(log, rooms)
  return { rooms, bad, snapshot: 0 }
}

async function replay(log: ReadableLog, rooms: Rooms): Promise<void> {
  for await (const raw of log.read(rooms.lastEntry + 1)) followEntry(rooms, raw)
}
