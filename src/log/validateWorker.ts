import { validateRecords, type BatchRules } from '../../protocol/records/validate.ts'
import { serveTasks } from '../base/workers.ts'

serveTasks(async (task: { readonly batch: Uint8Array; readonly rules: BatchRules }) => ({ value: validateRecords(task.batch, task.rules) }))
