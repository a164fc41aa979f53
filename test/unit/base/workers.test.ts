import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { WorkerPool } from '../../../src/base/workers.ts'

const url = new URL(
  'data:text/javascript,' +
    encodeURIComponent(`
  import { parentPort, threadId } from 'node:worker_threads'
  parentPort.on('message', (task) => (task === 'end' ? parentPort.close() : parentPort.postMessage({ value: [task, threadId] })))
`),
)

test('a worker that was started ahead takes the first task, and there is only one', async () => {
  const pool = new WorkerPool(url, { size: 2 })
  pool.warm()
  pool.warm()
  expect([pool.running, pool.queued]).toEqual([0, 0])
  const later = new Worker('', { eval: true })
  const laterId = later.threadId
  const [, first] = await pool.run<[string, number]>('a')
  const [, second] = await pool.run<[string, number]>('b')
  expect(second).toBe(first)
  expect(first).toBeLessThan(laterId)
  await pool.close()
  pool.warm()
  await expect(pool.run('c')).rejects.toMatchObject({ code: 'CLOSED' })
})
