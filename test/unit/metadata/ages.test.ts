import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { EntryAges } from '../../../src/metadata/snapshot/ages.ts'

describe('ages of entries (L4)', () => {
  it('an entry is old enough once it was seen for the retention, never earlier, and memory stays small', () => {
    let nowMs = 0
    const ages = new EntryAges({ ...systemClock, monotonicMs: () => nowMs }, 1000)
    const seenMs: number[] = []
    for (let entry = 1; entry <= 20_000; entry++) {
      nowMs += entry % 7 === 0 ? 10 : 0
      seenMs[entry] = nowMs
      ages.note(entry)
      const old = ages.oldEnough()
      if (old > 0) expect(nowMs - seenMs[old]).toBeGreaterThanOrEqual(1000)
      // What is well past the retention is found, a sixteenth of it late at most.
      if (nowMs > 2000) expect(nowMs - seenMs[old]).toBeLessThan(1000 + 2 * 63)
    }
    nowMs += 1000
    expect(ages.oldEnough()).toBeGreaterThan(19_900)
    expect(new EntryAges(systemClock, 0).oldEnough()).toBe(Infinity)
  })
})
