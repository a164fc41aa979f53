import { serveTasks } from '../../base/workers.ts'
import { type CheckTask, runCheck } from './check.ts'

serveTasks(async (task: CheckTask) => ({ value: runCheck(task) }))
