import { getPriority } from 'node:os'
import { expect, test } from 'vitest'
import { WorkerPool } from '../../../src/base/workers.ts'

const URL_OF_WORKER = new URL('./priorityWorker.ts', import.meta.url)

test('background workers get their data and run behind everything else; others run as the process does', async () => {
  const background = new WorkerPool(URL_OF_WORKER, { size: 1, data: 'd', background: true })
  const ordinary = new WorkerPool(URL_OF_WORKER, { size: 1, data: 'e' })
  const own = process.platform === 'linux' ? getPriority() : null
  expect(await ordinary.run(2)).toEqual({ task: 2, data: 'e', nice: own })
  expect(await background.run(1)).toEqual({ task: 1, data: 'd', nice: own === null ? null : Math.max(own, 10) })
  await Promise.all([background.close(), ordinary.close()])
})
