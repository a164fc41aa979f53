import { FrazilError } from '../../base/errors.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { encodeSnapshot } from '../snapshot/file.ts'
import type { Rooms } from '../state/state.ts'
import { Marks } from './marks.ts'
import { digits } from './segment.ts'
import { ENTRIES, entryKey, entryNumber } from './storeEntries.ts'

const PREFIX = 'meta/'
/** A pod of the other history would have to write as many entries before its numbers meet ours. */
const NUMBERS_LEFT_OUT = 1_000_000_000

/**
 * A log in a bucket that was copied object by object while pods wrote it: whatever the copy missed lies at its end. What stands behind
 * the first entry that is missing is deleted, and snapshots of what is not there; the last entry that is left. Errors: LOG_CORRUPT
 * when no snapshot and the entries behind it make a state; STORE_….
 */
export async function settleCopy(store: ObjectStore): Promise<number> {
  const marks = new Marks(store, PREFIX)
  const floor = await marks.floor()
  const numbers: number[] = []
  for await (const { key } of store.list(ENTRIES, { reason: 'metadata' })) {
    const number = entryNumber(key)
    if (number !== null && number >= floor) numbers.push(number)
  }
  const snapshots = await marks.snapshots()
  const last = numbers.at(-1) ?? Infinity
  const there = new Set(numbers)
  const reach = (base: number): number => {
    let end = base
    while (there.has(end + 1)) end++
    return end
  }
  const bases = [...(floor === 1 && there.has(1) ? [0] : []), ...snapshots.filter((snapshot) => snapshot + 1 >= floor && snapshot <= last)]
  if (bases.length === 0)
    throw new FrazilError('LOG_CORRUPT', 'the copy of the metadata log has no snapshot that its entries follow: copy meta/ again')
  const end = Math.max(...bases.map(reach))
  const dead = [
    ...numbers.filter((number) => number > end).map(entryKey),
    ...snapshots.filter((snapshot) => snapshot > end).map((snapshot) => `${PREFIX}snapshots/${digits(snapshot)}.snap`),
  ]
  const failed = dead.length === 0 ? [] : await store.delete(dead, { reason: 'metadata' })
  if (failed.length > 0) throw failed[0]!.error
  return end
}

/**
 * The log of a new timeline goes on far behind the old one: a pod of the other history that writes here, as if nothing had happened,
 * writes below the floor, where nobody reads (L4). The state is in a snapshot; the number that it has taken is returned.
 */
export async function leapAhead(store: ObjectStore, rooms: Rooms): Promise<number> {
  const marks = new Marks(store, PREFIX)
  rooms.lastEntry += NUMBERS_LEFT_OUT
  await marks.writeSnapshot(rooms.lastEntry, encodeSnapshot(rooms))
  await marks.raiseFloor(rooms.lastEntry + 1)
  return rooms.lastEntry
}
