import { expect, test } from 'vitest'
import { runSeed } from './seed.ts'

const SEEDS = 12

test('the same seed gives the same trace', async () => {
  const [first, second] = [await runSeed(7, { keepTrace: true }), await runSeed(7, { keepTrace: true })]
  expect(first.trace.length).toBeGreaterThan(1000)
  expect(second.trace).toEqual(first.trace)
  expect(second.digest).toBe(first.digest)
  expect((await runSeed(8)).digest).not.toBe(first.digest)
})

test(`${SEEDS} seeds: nothing is lost, doubled, reordered or torn`, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { violations, operations, faultTotal } = await runSeed(seed)
    expect({ seed, violations }).toEqual({ seed, violations: [] })
    expect(operations).toBeGreaterThanOrEqual(500)
    expect(faultTotal).toBeGreaterThanOrEqual(10)
  }
})
