import { describe, expect, it } from 'vitest'
import { SeenEntries } from '../../../src/metadata/snapshot/seen.ts'

describe('entries of a shared log (L4)', () => {
  it('may go once they were seen for the retention, not sooner', () => {
    const seen = new SeenEntries(1000)
    seen.note(10, 0)
    expect(seen.floorMax(999)).toBe(1)
    expect(seen.floorMax(1000)).toBe(11)
    for (let entry = 11; entry <= 100; entry++) seen.note(entry, 1000 + entry)
    expect(seen.floorMax(1100)).toBe(11)
    const later = seen.floorMax(2060)
    expect(later).toBeGreaterThan(11)
    expect(later).toBeLessThanOrEqual(61)
    expect(seen.floorMax(10_000)).toBeGreaterThan(later)
  })

  it('of a log whose numbers cannot come free again may go at once', () => {
    const seen = new SeenEntries(0)
    seen.note(1, 0)
    expect(seen.floorMax(0)).toBe(Infinity)
  })
})
