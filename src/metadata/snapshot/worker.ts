import { serveTasks } from '../../base/workers.ts'
import { snapshotTasks, type SnapshotTask } from './tasks.ts'

const handle = snapshotTasks()

serveTasks(async (task: SnapshotTask) => handle(task))
