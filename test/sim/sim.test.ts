import { expect, test } from 'vitest'
import { runSeed } from './seed.ts'

const SEEDS = 8

test('the same seed gives the same trace', { timeout: 120_000 }, async () => {
  const [first, second] = [await runSeed(7, { keepTrace: true }), await runSeed(7, { keepTrace: true })]
  expect(first.trace.length).toBeGreaterThan(1000)
  expect(second.trace).toEqual(first.trace)
  expect(second.digest).toBe(first.digest)
})

test.each(Array.from({ length: SEEDS }, (_, i) => i + 1))(
  'seed %i: nothing is lost, doubled, reordered or torn',
  { timeout: 120_000 },
  async (seed) => {
    const { violations, operations, faultTotal, forgotten } = await runSeed(seed)
    expect(violations).toEqual([])
    expect(forgotten).toBeGreaterThan(0)
    expect(operations).toBeGreaterThanOrEqual(500)
    expect(faultTotal).toBeGreaterThanOrEqual(10)
  },
)
