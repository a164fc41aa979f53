import type { Transferable } from 'node:worker_threads'
import { serveTasks } from '../../base/workers.ts'
import { RowGroupReader } from '../parquet/rowGroupReader.ts'
import { batchesOf, type BatchList } from './batches.ts'
import { indexFile, unpackPlaces, type GroupIndex } from './fileIndex.ts'
import { foreignRows } from './foreign.ts'

/** Work of the reading back that would block the event loop. */
export type ReadbackTask =
  | { readonly kind: 'index'; readonly bytes: Uint8Array }
  | { readonly kind: 'decode'; readonly group: GroupIndex; readonly footer: Uint8Array | null; readonly bytes: Uint8Array }

serveTasks(async (task: ReadbackTask) => {
  if (task.kind === 'index') return { value: indexFile(task.bytes) }
  const { group, bytes, footer } = task
  const source =
    group.places === null
      ? await foreignRows(footer!, bytes, group.start, group.firstRow, group.rows)
      : new RowGroupReader(group.rows, unpackPlaces(group.places), bytes, group.start)
  const value: BatchList = batchesOf(source)
  return { value, transfer: value.batches.map((batch) => batch.buffer as Transferable) }
})
