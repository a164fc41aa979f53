import { expect, test } from 'vitest'
import { Errors } from '../../protocol/errors.ts'
import { MemoryLog } from '../unit/metadata/memoryLog.ts'
import { logWorld, offsets } from '../unit/log/harness.ts'

// E5: a trim removed more than was asked for, or left a hole that recovery could not pass.

test('trim to 100, crash, recover: 100 is readable, 99 is not', async () => {
  const log = new MemoryLog()
  let w = await logWorld({ log })
  for (let i = 0; i < 4; i++) await w.append(0, { count: 40 })
  await w.engine.propose({ kind: 'trimPartitions', trims: [{ topic: w.topic, partition: 0, logStartOffset: 100 }] })
  for (const restart of [false, true]) {
    if (restart) w = await logWorld({ log: new MemoryLog(log.disk), store: w.store })
    const [at, below] = await Promise.all([100, 99].map(async (fetchOffset) => (await w.fetch([{ partition: 0, fetchOffset }]))[0]))
    expect(offsets(at)).toEqual(Array.from({ length: 80 }, (_, i) => 80 + i))
    expect(below.error).toBe(Errors.OFFSET_OUT_OF_RANGE)
  }
  expect(await w.append(0, {})).toBe(160)
})
