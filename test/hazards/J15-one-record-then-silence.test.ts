// J15: fifty records were never committed because no more came. The staleness bound holds whatever the volume.
import { afterEach, expect, it } from 'vitest'
import { ManualClock } from '../unit/wal/harness.ts'
import { bench, until, type Bench } from '../unit/tables/harness.ts'

let b: Bench
afterEach(() => b.end())

it('one record, then silence: in the table at the bound of five minutes', async () => {
  const clock = new ManualClock()
  b = await bench({ clock })
  const topic = await b.topic('t', 1)
  await b.produce(topic, 0, ['a'])
  for (let second = 10; second < 300; second += 10) await clock.advance(10_000)
  expect(b.table(topic).publication).toBe(0)
  await clock.advance(10_000)
  await until(() => b.table(topic).publication === 1, 'the publication')
})
