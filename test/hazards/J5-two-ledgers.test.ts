// J5: the lake commit is done, the bookkeeping of its own fails, and the same range is committed again. Here both are one
// entry (P4); whether it landed is read back, and the next conversion begins where the table ends.
import { afterEach, expect, it } from 'vitest'
import { FrazilError } from '../../src/base/errors.ts'
import { currentSnapshot } from '../../src/tables/iceberg/table.ts'
import { ManualClock } from '../unit/wal/harness.ts'
import { passing } from '../unit/tables/passing.ts'
import { bench, until, type Bench } from '../unit/tables/harness.ts'

let b: Bench
afterEach(() => b.end())

it.each(['before', 'after'])('a crash %s the entry was written: every record is in the table once', async (when) => {
  const clock = new ManualClock()
  let crash = false
  let proposed = false
  const first = await bench({
    clock,
    metadata: (inner) =>
      passing(inner, async (command, propose) => {
        if (!crash || command.kind !== 'commitTable') return propose()
        if (when === 'after') await propose()
        proposed = true
        throw new FrazilError('LOG_UNAVAILABLE', 'the process is about to die')
      }),
  })
  const topic = await first.topic('t', 1)
  await first.produce(topic, 0, ['a', 'b'])
  crash = true
  const load = first.tables.loads.flush(topic)
  await until(() => proposed, 'the proposal')
  await clock.advance(5000)
  await load
  await first.kill()
  b = await bench({ clock, folder: first.folder, log: first.log })
  const again = b.engine.state.topicByName('t')!
  await b.produce(again, 0, ['c'])
  const { metadata } = await b.load(again)
  expect(currentSnapshot(metadata)!.summary['total-records']).toBe('3')
  const brought = metadata.snapshots.map((one) => one.summary['frazil.offsets.0']).filter((range) => range !== undefined)
  expect(brought).toEqual(when === 'after' ? ['0-1', '2-2'] : ['0-2'])
})
