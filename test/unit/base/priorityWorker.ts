import { readlinkSync } from 'node:fs'
import { getPriority } from 'node:os'
import { serveTasks } from '../../../src/base/workers.ts'

serveTasks(async (task: number, data: string) => ({
  value: {
    task,
    data,
    nice: process.platform === 'linux' ? getPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1))) : null,
  },
}))
