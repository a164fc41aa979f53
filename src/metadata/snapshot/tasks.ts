import { FrazilError } from '../../base/errors.ts'
import { followEntry } from '../apply/apply.ts'
import { Rooms } from '../state/state.ts'
import { decodeSnapshot, encodeSnapshot } from './file.ts'

/** Entries in one buffer, one after the other. */
export interface EntryBatch {
  readonly firstEntry: number
  readonly sizesBytes: readonly number[]
  readonly attachmentsBytes: readonly number[]
  readonly bytes: Uint8Array
}

export type SnapshotTask =
  /** Begins with a snapshot, or (lastEntry 0) with nothing. CORRUPT when it is bad. */
  | { readonly kind: 'begin'; readonly lastEntry: number; readonly snapshot: Uint8Array | null }
  | { readonly kind: 'follow'; readonly batch: EntryBatch }
  /** Answers the bytes of the new snapshot and forgets the state. */
  | { readonly kind: 'finish' }
  /** Decodes what was written and compares its hash. CORRUPT when it does not hold. */
  | { readonly kind: 'verify'; readonly lastEntry: number; readonly snapshot: Uint8Array }

/** What a snapshot worker does with its tasks; each handler has a state of its own. */
export function snapshotTasks(): (task: SnapshotTask) => { readonly value: unknown; readonly transfer?: readonly ArrayBuffer[] } {
  let rooms: Rooms | null = null
  return (task) => {
    if (task.kind === 'begin') {
      rooms = task.snapshot === null ? new Rooms() : decodeSnapshot(task.lastEntry, task.snapshot)
      return { value: rooms.lastEntry }
    }
    if (task.kind === 'verify') return { value: decodeSnapshot(task.lastEntry, task.snapshot).lastEntry }
    if (rooms === null) throw new FrazilError('REFUSED', 'the snapshot worker has no state to go on from')
    if (task.kind === 'follow') {
      follow(rooms, task.batch)
      return { value: rooms.lastEntry }
    }
    // Own memory, so that it can be moved to the other thread instead of copied.
    const bytes = new Uint8Array(encodeSnapshot(rooms))
    rooms = null
    return { value: bytes, transfer: [bytes.buffer] }
  }
}

function follow(state: Rooms, { firstEntry, sizesBytes, attachmentsBytes, bytes }: EntryBatch): void {
  let at = 0
  sizesBytes.forEach((sizeBytes, i) => {
    followEntry(state, { number: firstEntry + i, bytes: bytes.subarray(at, at + sizeBytes), attachmentBytes: attachmentsBytes[i] })
    at += sizeBytes
  })
}
