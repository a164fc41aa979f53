import { FrazilError } from '../../base/errors.ts'
import { SNAPSHOT_VERSION, SnapshotType } from '../schema/snapshot.ts'
import type { Rooms } from '../state/state.ts'
import type { StateData } from './data.ts'
import { dumpRooms } from './dump.ts'
import { hashState } from './hash.ts'
import { restoreRooms } from './restore.ts'

/** The bytes of a snapshot of this state. */
export function encodeSnapshot(rooms: Rooms): Uint8Array {
  const state = dumpRooms(rooms)
  return SnapshotType.encode({ version: SNAPSHOT_VERSION, lastHash: rooms.lastHash, stateHash: hashState(state), state }).finish()
}

/**
 * The state in a snapshot, which is proved to be the one that was written by its hash.
 * Error: CORRUPT, also for a version that is not known.
 */
export function decodeSnapshot(lastEntry: number, bytes: Uint8Array): Rooms {
  try {
    const { version, lastHash, stateHash, state } = SnapshotType.decode(bytes) as unknown as {
      version: number
      lastHash: Uint8Array
      stateHash: Uint8Array
      state: StateData
    }
    if (version !== SNAPSHOT_VERSION) {
      const newer = version > SNAPSHOT_VERSION ? ': start a newer one' : ''
      throw new FrazilError('CORRUPT', `it has version ${version}, this program reads ${SNAPSHOT_VERSION}${newer}`)
    }
    const rooms = restoreRooms(state, lastHash)
    const hash = hashState(dumpRooms(rooms))
    if (hash.compare(stateHash) !== 0 || rooms.lastEntry !== lastEntry) throw new FrazilError('CORRUPT', 'its hash is another')
    return rooms
  } catch (error) {
    const why = error instanceof FrazilError ? error.message : 'it cannot be decoded'
    throw new FrazilError('CORRUPT', `metadata snapshot ${lastEntry} is bad: ${why}`, error)
  }
}
