// J7: one failed commit, the task stays "running", source offsets advance, nothing is written. Here the WAL keeps a record
// until the entry that puts it into the table is applied; failures count, and a refusal is staged again.
import { afterEach, expect, it } from 'vitest'
import { FrazilError } from '../../src/base/errors.ts'
import { currentSnapshot } from '../../src/tables/iceberg/table.ts'
import { ManualClock } from '../unit/wal/harness.ts'
import { advanceUntil, bench, type Bench } from '../unit/tables/harness.ts'
import { passing } from '../unit/tables/passing.ts'

let b: Bench
afterEach(() => b.end())

it.each([
  ['refused once', 1, 0],
  ['refused twenty times', 20, 0],
  ['unavailable three times', 0, 3],
])('%s: visible, and nothing is lost', async (_name, refusals, failures) => {
  const clock = new ManualClock()
  let refused = 0
  let failed = 0
  b = await bench({
    clock,
    metadata: (inner) =>
      passing(inner, async (command, propose) => {
        if (command.kind !== 'commitTable') return propose()
        if (refused++ < refusals) return { kind: 'table', accepted: false, reason: 'a test says no' }
        if (failed++ < failures) throw new FrazilError('LOG_UNAVAILABLE', 'a test says nothing')
        return propose()
      }),
  })
  const topic = await b.topic('t', 1)
  await b.produce(topic, 0, ['a'])
  b.tables.converter.request(topic.topic, 'convert')
  await advanceUntil(clock, 1000, () => b.engine.state.unconvertedRecords(topic.topic) === 0, 'the conversion')
  expect(currentSnapshot((await b.load(topic)).metadata)!.summary['total-records']).toBe('1')
  const commits = await b.registry.getSingleMetricAsString('frazil_table_commits_total')
  const counted = Number(/outcome="refused"} (\d+)/.exec(commits)?.[1] ?? 0)
  expect(counted).toBe(refusals)
  const errors = await b.registry.getSingleMetricAsString('frazil_conversion_failures_total')
  expect(errors.includes('topic="t"')).toBe(refusals > 8 || failures > 0)
})
