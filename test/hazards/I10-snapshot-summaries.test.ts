// I10: a compaction marked `overwrite`, a missing parent id, a missing operation: incremental readers and streams go wrong.
// "replace: Data and delete files were added and removed without changing table data".
import { afterEach, expect, it } from 'vitest'
import { FAN_IN } from '../../src/tables/compact/policy.ts'
import { bench, until, type Bench } from '../unit/tables/harness.ts'

let b: Bench
afterEach(() => b.end())

it('appends and merges form one chain, each with its operation', async () => {
  b = await bench()
  const topic = await b.topic('t', 1)
  await b.load(topic)
  for (let n = 0; n < FAN_IN; n++) {
    await b.produce(topic, 0, ['v'])
    await b.load(topic)
  }
  await until(() => b.table(topic).fileCount === 1, 'the merge')
  const { metadata } = await b.load(topic)
  const { snapshots } = metadata
  expect(snapshots.map((one) => one.summary['operation'])).toEqual([...Array.from({ length: FAN_IN + 1 }, () => 'append'), 'replace'])
  for (const [at, snapshot] of snapshots.entries()) {
    expect(snapshot['parent-snapshot-id']).toBe(snapshots[at - 1]?.['snapshot-id'])
    expect(snapshot['sequence-number']).toBe(at + 1)
    expect(snapshot['timestamp-ms']).toBeGreaterThanOrEqual(snapshots[at - 1]?.['timestamp-ms'] ?? 0)
  }
  expect(snapshots.at(-1)!.summary['total-records']).toBe(String(FAN_IN))
})
