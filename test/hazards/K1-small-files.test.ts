// K1: small files with each commit, per partition, until compaction cannot keep up. A polled trickle over 20 partitions
// leaves fewer than eight files a level; N for an hour of loads every two seconds (1,800) is 7 on each of four levels, and
// the one being merged: 29.
import { afterEach, expect, it } from 'vitest'
import { chooseMerge, FAN_IN } from '../../src/tables/compact/policy.ts'
import { currentSnapshot } from '../../src/tables/iceberg/table.ts'
import { ManualClock } from '../unit/wal/harness.ts'
import { advanceUntil, bench, type Bench } from '../unit/tables/harness.ts'

const ROUNDS = 150
const PARTITIONS = 20

let b: Bench
afterEach(() => b.end())

it(`${ROUNDS} loads of a trickle over ${PARTITIONS} partitions`, async () => {
  const clock = new ManualClock()
  b = await bench({ clock })
  const topic = await b.topic('t', PARTITIONS)
  const table = b.table(topic)
  let most = 0
  for (let n = 0; n < ROUNDS; n++) {
    await b.produce(topic, n % PARTITIONS, [`v${n}`])
    await clock.advance(2000)
    await b.load(topic)
    most = Math.max(most, table.fileCount)
  }
  await advanceUntil(clock, 1, () => chooseMerge(b.engine.state, topic.topic, table.files(), 1 << 29) === null, 'the end of merging')
  const levels = Math.ceil(Math.log(ROUNDS) / Math.log(FAN_IN))
  expect(table.fileCount).toBeLessThanOrEqual(levels * (FAN_IN - 1))
  expect(most).toBeLessThanOrEqual(levels * (FAN_IN - 1) + 2 * FAN_IN)
  const { metadata, lines } = (await b.tables.publisher.load(table))!
  expect(currentSnapshot(metadata)!.summary['total-records']).toBe(String(ROUNDS))
  expect(lines.length).toBeLessThan(50)
  expect([...table.files()].reduce((sum, file) => sum + file.rows, 0)).toBe(ROUNDS)
})
