import { expect, test } from 'vitest'
import { GarbageBound } from '../../../src/base/garbage.ts'

const MIB = 1024 * 1024

/** Each MiB that moves leaves one in use; a collection leaves `liveMib`. */
function run(steps: number, liveMib: (step: number) => number, naturalEvery = Infinity): { peak: number; collections: number } {
  let used = 0
  let step = 0
  let peak = 0
  let collections = 0
  const bound = new GarbageBound({
    limitBytes: 100 * MIB,
    used: () => used * MIB,
    collect: () => {
      collections++
      used = liveMib(step)
    },
  })
  for (; step < steps; step++) {
    used++
    if (step % naturalEvery === naturalEvery - 1) used = liveMib(step)
    peak = Math.max(peak, used)
    bound.moved(MIB)
  }
  return { peak, collections }
}

test('buffers nobody holds stay within the bound', () => {
  const { peak, collections } = run(2000, () => 50)
  expect(peak).toBeLessThanOrEqual(50 + 100 + 16)
  expect(collections).toBeGreaterThan(10)
})

test('what is alive is not collected over and over: the distance counts from what a collection left', () => {
  const { peak, collections } = run(2000, (step) => (step < 500 ? 50 : 900))
  expect(peak).toBeLessThanOrEqual(900 + 100 + 16)
  expect(collections).toBeLessThan(30)
})

test('while V8 comes first, nothing is done', () => {
  expect(run(2000, () => 20, 60).collections).toBe(0)
})

test('without a collector nothing is looked at', () => {
  const bound = new GarbageBound({
    limitBytes: 1,
    used: () => {
      throw new Error('asked')
    },
    collect: undefined,
  })
  expect(() => bound.moved(100 * MIB)).not.toThrow()
})
