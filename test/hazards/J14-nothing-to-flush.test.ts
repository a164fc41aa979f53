// J14: a flush without a batch crashed the translator; a lost notice left a topic without one. Flushing nothing, a deleted
// range, or a topic that goes meanwhile is no event; progress does not depend on notices.
import { afterEach, expect, it } from 'vitest'
import { currentSnapshot } from '../../src/tables/iceberg/table.ts'
import { bench, type Bench } from '../unit/tables/harness.ts'

let b: Bench
afterEach(() => b.end())

it('flushes of nothing', async () => {
  b = await bench()
  const topic = await b.topic('t', 2)
  for (let n = 0; n < 3; n++) await b.load(topic)
  expect(b.table(topic).publication).toBe(1)
  await b.produce(topic, 0, ['gone'])
  await b.engine.propose({ kind: 'trimPartitions', trims: [{ topic: topic.topic, partition: 0, logStartOffset: 1 }] })
  await b.load(topic)
  await b.produce(topic, 0, ['a'])
  await b.produce(topic, 1, ['b'])
  expect(currentSnapshot((await b.load(topic)).metadata)!.summary['total-records']).toBe('2')
  const load = b.tables.loads.flush(topic)
  await b.engine.propose({ kind: 'deleteTopic', topic: topic.topic, keepTableAs: '', graceMs: 0 })
  expect(await load).toEqual({ records: 0, ms: 0 })
})

it('a converter that starts late finds what is there', async () => {
  b = await bench({ start: false })
  const topic = await b.topic('t', 1)
  await b.produce(topic, 0, ['a'])
  b.tables.start()
  expect(currentSnapshot((await b.load(topic)).metadata)!.summary['total-records']).toBe('1')
})
