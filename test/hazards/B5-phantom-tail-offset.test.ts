import { expect, test } from 'vitest'
import { MemoryLog } from '../unit/metadata/memoryLog.ts'
import { logWorld, offsets } from '../unit/log/harness.ts'

// B5: the end of the log was for ever one past the last readable record: lag 1 for good.

test('40 idempotent records in, 40 out, the next offset is the end; the same after a restart', async () => {
  const log = new MemoryLog()
  let w = await logWorld({ log })
  for (let i = 0; i < 40; i++) await w.append(0, { producerId: 4, sequence: i })
  for (const restart of [false, true]) {
    if (restart) w = await logWorld({ log: new MemoryLog(log.disk), store: w.store })
    const read: number[] = []
    let end = -1
    while (read.length !== end) {
      expect(read.length).toBeLessThan(40)
      const [some] = await w.fetch([{ partition: 0, fetchOffset: read.length }])
      read.push(...offsets(some))
      end = some.highWatermark
    }
    expect(read).toEqual(Array.from({ length: 40 }, (_, i) => i))
  }
})

test('refused and repeated batches leave no offset behind', async () => {
  const w = await logWorld()
  await w.append(
    0,
    { producerId: 4, sequence: 0 },
    { producerId: 4, sequence: 0 },
    { producerId: 4, sequence: 9 },
    { producerId: 4, sequence: 1 },
  )
  const [all] = await w.fetch([{ partition: 0 }])
  expect(offsets(all)).toEqual([0, 1])
  expect(all.highWatermark).toBe(2)
})
