import { FrazilError, hasCode } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import { followEntry } from '../metadata/apply/apply.ts'
import type { EntryLog } from '../metadata/entryLog.ts'
import { decodeSnapshot, encodeSnapshot } from '../metadata/snapshot/file.ts'
import { hashRooms } from '../metadata/snapshot/hash.ts'
import { loadRooms } from '../metadata/snapshot/load.ts'
import type { Rooms } from '../metadata/state/state.ts'
import type { Report } from './report.ts'

/**
 * Loads the state as a pod would, then follows the log from every snapshot that is there: all must lead to the same state (L5). With
 * `repair` a damaged snapshot is written anew, where the log and another snapshot prove what it must hold. Errors: as loadRooms.
 */
export async function checkLog(log: EntryLog, logger: Logger, report: Report, repair: boolean): Promise<Rooms> {
  const floor = await log.floor()
  const { rooms } = await loadRooms(log, logger)
  if (rooms.lastEntry === 0) throw new FrazilError('REFUSED', 'there is no cluster here: the metadata log is empty')
  report.count('metadata entries', rooms.lastEntry - floor + 1)
  const wanted = hashRooms(rooms)
  const snapshots = await log.snapshots()
  const bad: number[] = []
  for (const snapshot of snapshots) {
    report.count('metadata snapshots')
    try {
      const state = decodeSnapshot(snapshot, await log.readSnapshot(snapshot))
      if (snapshot + 1 >= floor) {
        await follow(log, state, Infinity)
        if (!hashRooms(state).equals(wanted)) throw new FrazilError('CORRUPT', `metadata snapshot ${snapshot} leads to another state`)
      }
    } catch (error) {
      if (!hasCode(error, 'CORRUPT') && !hasCode(error, 'LOG_CORRUPT') && !hasCode(error, 'STORE_NOT_FOUND')) throw error
      report.lost(`${error.message}; a pod starts from another one. frazil check --repair writes it anew where that is proven`)
      bad.push(snapshot)
    }
  }
  if (repair) for (const snapshot of bad) await rewrite(log, snapshots, bad, snapshot, floor, report)
  return rooms
}

async function follow(log: EntryLog, state: Rooms, last: number): Promise<void> {
  if (state.lastEntry >= last) return
  for await (const raw of log.read(state.lastEntry + 1)) {
    followEntry(state, raw)
    if (state.lastEntry >= last) return
  }
}

/** The state after entry `snapshot`, from an older good snapshot and the chain of entries behind it: there is only one. */
async function rewrite(
  log: EntryLog,
  snapshots: readonly number[],
  bad: readonly number[],
  snapshot: number,
  floor: number,
  report: Report,
): Promise<void> {
  const base = snapshots.find((other) => other < snapshot && other + 1 >= floor && !bad.includes(other))
  if (base === undefined) return report.lost(`metadata snapshot ${snapshot} cannot be written anew: no good one before it is left`)
  const state = decodeSnapshot(base, await log.readSnapshot(base))
  await follow(log, state, snapshot)
  if (state.lastEntry !== snapshot) return report.lost(`metadata snapshot ${snapshot} cannot be written anew: the log ends before it`)
  await log.writeSnapshot(snapshot, encodeSnapshot(state))
  decodeSnapshot(snapshot, await log.readSnapshot(snapshot))
  report.repaired(`metadata snapshot ${snapshot} was written anew from snapshot ${base} and the entries behind it`)
}
