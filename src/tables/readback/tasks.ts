import type { Transferable } from 'node:worker_threads'
import { freeBytes } from '../parquet/pageReader.ts'
import { indexFile, openGroup, type GroupIndex } from '../parquet/fileIndex.ts'
import { batchesOf, type BatchList } from './batches.ts'

/** Work of the reading back that would block the event loop. */
export type ReadbackTask =
  | { readonly kind: 'index'; readonly bytes: Uint8Array }
  | { readonly kind: 'decode'; readonly group: GroupIndex; readonly footer: Uint8Array | null; readonly bytes: Uint8Array }

/** What a worker of the reading back does with a task. */
export async function readbackTask(task: ReadbackTask): Promise<{ readonly value: unknown; readonly transfer?: readonly Transferable[] }> {
  if (task.kind === 'index') return { value: indexFile(task.bytes) }
  // What was handed over for this task ends with it.
  const value: BatchList = batchesOf(await openGroup(task.group, task.footer, task.bytes))
  freeBytes(task.bytes)
  return { value, transfer: [...new Set(value.batches.map((batch) => batch.buffer as Transferable))] }
}
