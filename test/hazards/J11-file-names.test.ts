// J11: every flush wrote the same file name, and later commits were refused as duplicates. Names are unique over flushes,
// processes and restarts.
import { afterEach, expect, it } from 'vitest'
import { bench, type Bench } from '../unit/tables/harness.ts'

let b: Bench
afterEach(() => b.end())

it('two flushes and a restart: three names, each with its incarnation', async () => {
  const first = await bench()
  const topic = await first.topic('t', 1)
  for (const value of ['a', 'b']) {
    await first.produce(topic, 0, [value])
    await first.load(topic)
  }
  await first.kill()
  b = await bench({ folder: first.folder, log: first.log, clock: first.clock })
  const again = b.engine.state.topicByName('t')!
  await b.produce(again, 0, ['c'])
  await b.load(again)
  const names = [...b.table(again).files()].map((file) => file.key.split('/').at(-1)!)
  expect(new Set(names).size).toBe(3)
  expect(names.map((name) => Number(name.split('-')[0]))).toEqual([1, 1, 2])
})
