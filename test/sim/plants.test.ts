import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { PLANTS } from './plants.ts'
import { findPlant } from './plantsFound.ts'

/** Those that show at once; `.ci/run` looks for all of them. */
const QUICK = new Set(['acknowledge-before-durable', 'stale-lease-still-writes', 'offset-patched-wrong'])

test('every planted bug has its place in src', () => {
  expect(PLANTS.length).toBeGreaterThanOrEqual(12)
  for (const { name, patches } of PLANTS) {
    for (const { file, find } of patches) {
      const source = readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8')
      expect([name, file, source.split(find).length - 1]).toEqual([name, file, 1])
    }
  }
})

test.each(PLANTS.filter(({ name }) => QUICK.has(name)))('$name is found', { timeout: 240_000 }, async (plant) => {
  const { seed, output } = await findPlant(plant)
  expect({ isFound: seed > 0, output: seed > 0 ? '' : output }).toEqual({ isFound: true, output: '' })
})
