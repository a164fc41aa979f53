// J17: commits stalled for hours without a sign. While tables cannot be written the lag is a metric, loads say how far
// behind they are, and afterwards everything comes in order.
import { afterEach, expect, it } from 'vitest'
import { FrazilError } from '../../src/base/errors.ts'
import { currentSnapshot } from '../../src/tables/iceberg/table.ts'
import { ManualClock } from '../unit/wal/harness.ts'
import { advanceUntil, bench, type Bench } from '../unit/tables/harness.ts'
import { passing } from '../unit/tables/passing.ts'

let b: Bench
afterEach(() => b.end())

it('an hour without commits is seen, and caught up', async () => {
  const clock = new ManualClock()
  let down = true
  b = await bench({
    clock,
    metadata: (inner) =>
      passing(inner, async (command, propose) => {
        if (down && command.kind === 'commitTable') throw new FrazilError('LOG_UNAVAILABLE', 'down')
        return propose()
      }),
  })
  const topic = await b.topic('t', 1, { 'table.commit.interval.ms': '60000' })
  for (let minute = 0; minute < 60; minute++) {
    await b.produce(topic, 0, [`m${minute}`])
    for (let second = 0; second < 60; second += 10) {
      await clock.advance(10_000)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }
  const metric = async (name: string): Promise<number> =>
    Number(/topic="t"} (\S+)/.exec(await b.registry.getSingleMetricAsString(name))?.[1])
  expect(await metric('frazil_table_lag_records')).toBe(60)
  expect(await metric('frazil_table_lag_seconds')).toBeGreaterThanOrEqual(3600)
  expect(await metric('frazil_conversion_failures_total')).toBeGreaterThan(5)
  const load = b.tables.loads.flush(topic)
  let lag = { records: -1, ms: -1 }
  void load.then((answer) => (lag = answer))
  await advanceUntil(clock, 1000, () => lag.records >= 0, 'the answer of the load')
  expect(lag.records).toBe(60)
  expect(lag.ms).toBeGreaterThanOrEqual(3_600_000)
  down = false
  await advanceUntil(clock, 1000, () => b.engine.state.unconvertedRecords(topic.topic) === 0, 'the catching up')
  expect(await metric('frazil_table_lag_records')).toBe(0)
  expect(currentSnapshot((await b.load(topic)).metadata)!.summary).toMatchObject({ 'total-records': '60' })
})
