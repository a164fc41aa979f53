import type { Deleted, EnqueueDeletions, Result } from '../commands.ts'
import { type Context, OK } from './context.ts'

export function deleted({ rooms }: Context, command: Deleted): Result {
  for (const id of command.ids) rooms.deletionRows.remove(id)
  return OK
}

/** Orphans (L13). A key that the state refers to is passed over: nothing is deleted on doubt (P4). */
export function enqueueDeletions({ rooms, timeMs }: Context, command: EnqueueDeletions): Result {
  for (const { key, graceMs } of command.items) {
    if (key !== '' && !rooms.objects.hasKey(key) && !rooms.tableRows.refersTo(key)) rooms.deletionRows.add(key, timeMs + graceMs)
  }
  return OK
}
