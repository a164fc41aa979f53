import { serveTasks } from '../base/workers.ts'
import { firstInBatch } from './firstInBatch.ts'
import type { BatchTask } from './times.ts'

serveTasks(async ({ batch, baseOffset, from, timestampMs }: BatchTask) => ({ value: firstInBatch(batch, baseOffset, from, timestampMs) }))
