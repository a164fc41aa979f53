import { serveTasks } from '../../base/workers.ts'
import { decodeCheckpoint, encodeCheckpoint } from './checkpoint.ts'
import type { CheckpointTask } from './checkpoints.ts'

/** The thread that makes and reads large checkpoints. */
serveTasks(async (task: CheckpointTask) => {
  if (task.kind === 'read') return { value: await decodeCheckpoint(task.bytes) }
  const bytes = encodeCheckpoint(task.content)
  return { value: bytes, transfer: [bytes.buffer as ArrayBuffer] }
})
