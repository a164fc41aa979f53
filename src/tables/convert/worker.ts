import { serveTasks } from '../../base/workers.ts'
import { openStore } from '../../storage/open.ts'
import { RequestTally } from '../../storage/metrics.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { encode, merge } from './files.ts'
import type { EncodeTask, MergeTask, WorkerAnswer, WorkerData } from './tasks.ts'

/**
 * The thread that writes table files: batches in, Parquet out, uploaded from here through a store of its own, so that the
 * event loop never touches the bytes.
 */
let opened: Promise<ObjectStore> | null = null
const requests = new RequestTally()

serveTasks(async (task: EncodeTask | MergeTask, data: WorkerData) => {
  opened ??= openStore(data.store, requests)
  const store = await opened
  const file = task.kind === 'encode' ? await encode(task, store) : await merge(task, store)
  const chunks = task.kind === 'encode' ? task.chunks : []
  return { value: { file, requests: requests.take(), chunks } satisfies WorkerAnswer, transfer: chunks }
})
