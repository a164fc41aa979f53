import type { TaskRunner } from '../../../src/base/workers.ts'
import { snapshotTasks, type SnapshotTask } from '../../../src/metadata/snapshot/tasks.ts'
import { encode, merge } from '../../../src/tables/convert/files.ts'
import type { Encoders } from '../../../src/tables/convert/workers.ts'
import { readbackTask, type ReadbackTask } from '../../../src/tables/readback/tasks.ts'
import type { ObjectStore } from '../../../src/storage/store.ts'
import type { Process } from '../world/process.ts'

const TASK_MS = 3

/** Runs a task in this thread, and answers some time later, as a worker thread would. */
function runner(process: Process, handle: (task: never) => unknown): TaskRunner {
  return {
    async run<T>(task: unknown): Promise<T> {
      await process.clock.sleep(process.world.delay(TASK_MS))
      return ((await handle(task as never)) as { value: T }).value
    },
    warm() {},
    async close() {},
  }
}

/** In place of the thread that replays the log for snapshots. */
export function snapshotRunner(process: Process): TaskRunner {
  return runner(process, snapshotTasks() as (task: never) => unknown)
}

/** In place of the threads that decode table files. */
export function readbackRunner(process: Process): TaskRunner {
  return runner(process, (task: ReadbackTask) => readbackTask(task))
}

/** In place of the threads that write table files. */
export function inlineEncoders(process: Process, store: ObjectStore): Encoders {
  const wait = (): Promise<void> => process.clock.sleep(process.world.delay(TASK_MS * 2))
  return {
    async encode(task) {
      await wait()
      return encode(task, store)
    },
    async merge(task) {
      await wait()
      return merge(task, store)
    },
    async close() {},
  }
}

export type { SnapshotTask }
