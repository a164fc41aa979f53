// J13: the table feature turned on, off and on again, with retention in between, leaves a gap in which translation is stuck
// for ever. Storage is the same either way: off only hides the table, so there is no gap.
import { afterEach, expect, it } from 'vitest'
import { currentSnapshot } from '../../src/tables/iceberg/table.ts'
import { advanceUntil, bench, type Bench } from '../unit/tables/harness.ts'

let b: Bench
afterEach(() => b.end())

it('on, off, retention, on: every record that was converted is there', async () => {
  b = await bench()
  const topic = await b.topic('t', 1, { 'table.commit.interval.ms': '1000' })
  const toggle = (value: string): Promise<unknown> =>
    b.engine.propose({ kind: 'alterConfigs', target: { topic: topic.topic }, set: { 'table.enable': value }, remove: [] })
  await b.produce(topic, 0, ['a'])
  await b.load(topic)
  await toggle('false')
  await b.produce(topic, 0, ['b', 'c'])
  await advanceUntil(b.clock, 1000, () => b.engine.state.unconvertedRecords(topic.topic) === 0, 'the conversion while it is off')
  await b.engine.propose({ kind: 'trimPartitions', trims: [{ topic: topic.topic, partition: 0, logStartOffset: 2 }] })
  await b.produce(topic, 0, ['d'])
  await b.engine.propose({ kind: 'trimPartitions', trims: [{ topic: topic.topic, partition: 0, logStartOffset: 4 }] })
  await toggle('true')
  await b.produce(topic, 0, ['e'])
  const { metadata } = await b.load(topic)
  // 'd' was deleted before it was converted: the owner's own wish (T20).
  expect(currentSnapshot(metadata)!.summary['total-records']).toBe('4')
  expect(b.engine.state.unconvertedRecords(topic.topic)).toBe(0)
})
