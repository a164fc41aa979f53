import { expect, test } from 'vitest'
import { logWorld, offsets, type LogWorld } from '../unit/log/harness.ts'

// B12: the whole range up to the end was laid out before it was cut to the fetch size: cost grew with the lag.

const EXTENTS = 3000

async function lookups(w: LogWorld, fetchOffset: number): Promise<number> {
  const state = w.engine.state
  const original = state.extentAt.bind(state)
  let count = 0
  state.extentAt = (...args) => {
    count++
    return original(...args)
  }
  const [served] = await w.fetch([{ partition: 0, fetchOffset, maxBytes: 300 }])
  expect(offsets(served)[0]).toBe(fetchOffset)
  state.extentAt = original
  return count
}

test.each([1 << 26, 0])(
  'a fetch at the start looks at no more extents than one near the end (cache of %i bytes)',
  async (hotCacheBytes) => {
    const w = await logWorld({ hotCacheBytes, maxBytes: 1, maxInFlight: 64 })
    await Promise.all(Array.from({ length: EXTENTS }, () => w.append(0, {})))
    expect([...w.engine.state.extents(w.topic, 0, 0)].length).toBe(EXTENTS)
    const near = await lookups(w, EXTENTS - 10)
    const far = await lookups(w, 0)
    expect(far).toBeLessThanOrEqual(near + 1)
    expect(far).toBeLessThan(30)
  },
)
