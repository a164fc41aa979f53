import { expect, test } from 'vitest'
import { logWorld, offsets } from '../unit/log/harness.ts'

// B14: a waiting fetch mixed the offset of one append with the position of another and was not woken.

test('a fetch at the end is woken by two appends at the same time, 500 times', async () => {
  const w = await logWorld()
  let next = 0
  for (let round = 0; round < 500; round++) {
    const fetching = w.fetch([{ partition: 0, fetchOffset: next }, { partition: 1 }], { maxWaitMs: 60_000 })
    const appends = [w.append(0, { count: 2 }), w.append(0, { count: 3 })]
    const served = offsets((await fetching)[0])
    expect(served[0]).toBe(next)
    await Promise.all(appends)
    next += 5
  }
  expect(w.clock.timers).toBeLessThanOrEqual(w.idleTimers + 1)
})
