import { serveTasks } from '../../base/workers.ts'
import { openStore } from '../../storage/open.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { RowFileEncoder } from '../parquet/encoder.ts'
import { fileResult } from './fileResult.ts'
import type { EncodeTask, FileResult, WorkerData } from './tasks.ts'

/**
 * The thread that writes table files: batches in, Parquet out, uploaded from here, so that the event loop never touches
 * the bytes. Without a store of its own it hands the file back.
 */
let opened: Promise<ObjectStore> | null = null

async function encode(task: EncodeTask, store: ObjectStore | null): Promise<FileResult> {
  const encoder = new RowFileEncoder()
  for (const part of task.parts) {
    const bytes = new Uint8Array(task.bytes, part.at, part.sizeBytes)
    encoder.addBatches(part.partition, part.baseOffset, bytes, { fromOffset: part.fromOffset, toOffset: part.toOffset })
  }
  const { chunks, ...stats } = encoder.finish()
  if (stats.rows > 0 && store !== null) await store.put(task.key, chunks, { reason: 'convert' })
  return fileResult(task.key, stats, store === null ? chunks : null)
}

serveTasks(async (task: EncodeTask, data: WorkerData) => {
  if (data.store !== null) opened ??= openStore(data.store)
  return { value: await encode(task, await opened) }
})
