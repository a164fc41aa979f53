import { execFileSync } from 'node:child_process'
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

test.runIf(process.platform === 'linux')("V8's helpers go behind the event loop", () => {
  const script = `
    import { readFileSync, readdirSync } from 'node:fs'
    import { getPriority } from 'node:os'
    import { lowerHelpersPriority } from ${JSON.stringify(new URL('../../../src/base/priority.ts', import.meta.url).href)}
    lowerHelpersPriority()
    const nameOf = (id) => readFileSync('/proc/self/task/' + id + '/comm', 'utf8').trim()
    const helpers = readdirSync('/proc/self/task').filter((id) => nameOf(id) === 'V8Worker')
    console.log(JSON.stringify({ helpers: helpers.map((id) => getPriority(Number(id))), main: getPriority(process.pid) }))
  `
  const { helpers, main } = JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })) as {
    helpers: number[]
    main: number
  }
  expect(helpers.length).toBeGreaterThan(0)
  expect(helpers.every((nice) => nice === Math.max(main, 10))).toBe(true)
})
