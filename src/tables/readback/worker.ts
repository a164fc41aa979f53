import { serveTasks } from '../../base/workers.ts'
import { readbackTask } from './tasks.ts'

serveTasks(readbackTask)
