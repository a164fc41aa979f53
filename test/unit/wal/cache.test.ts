import { expect, test } from 'vitest'
import { patchBatch } from '../../../protocol/records/header.ts'
import { batchIndexAt, HotCache } from '../../../src/wal/cache.ts'
import { batchBytes } from './harness.ts'

function frame(valueBytes: number): Uint8Array {
  return batchBytes({ valueBytes })
}

test('counts the memory that is kept alive, each frame once, and drops the oldest object first', () => {
  const cache = new HotCache({ maxBytes: 60_000 })
  const memory = new ArrayBuffer(20_000)
  cache.put(1, [new Uint8Array(memory, 0, 10_000)], [24])
  cache.put(2, [new Uint8Array(memory, 10_000, 10_000)], [24])
  expect(cache.retainedBytes).toBe(20_000)
  cache.put(3, [new Uint8Array(40_000)], [24])
  expect(cache.retainedBytes).toBe(60_000)
  cache.put(4, [new Uint8Array(10)], [24])
  expect([1, 2, 3, 4].map((object) => cache.find(object, 24, object === 4 ? 10 : object === 3 ? 40_000 : 10_000) !== null)).toEqual([
    false,
    false,
    true,
    true,
  ])
  expect(cache.retainedBytes).toBe(40_010)
  cache.remove(3)
  cache.remove(4)
  expect([cache.retainedBytes, cache.objects]).toEqual([0, 0])
})

test('a small batch does not hold a large frame', () => {
  const cache = new HotCache({ maxBytes: 1 << 20 })
  const memory = new Uint8Array(100_000).fill(7)
  cache.put(1, [memory.subarray(10, 20), memory.subarray(50, 70)], [0, 10])
  expect(cache.retainedBytes).toBe(30)
  const found = cache.find(1, 0, 30)!
  expect(found.batches.map((batch) => batch.length)).toEqual([10, 20])
  expect(found.batches[1][19]).toBe(7)
})

test.each([1, 1000])('a hit is a whole range of batches of that object, nothing else (times %i)', (times) => {
  const cache = new HotCache({ maxBytes: 1 << 20 })
  cache.put(
    5,
    [10, 20, 30].map((bytes) => new Uint8Array(bytes * times)),
    [24, 34, 100].map((at) => at * times),
  )
  const hit = (byteOffset: number, sizeBytes: number, object = 5): number[] | null => {
    const found = cache.find(object, byteOffset * times, sizeBytes * times)
    return found && found.batches.slice(found.from, found.to).map((batch) => batch.length / times)
  }
  expect(hit(24, 30)).toEqual([10, 20])
  expect(hit(34, 20)).toEqual([20])
  expect(hit(100, 30)).toEqual([30])
  expect(hit(24, 29)).toBeNull()
  expect(hit(25, 9)).toBeNull()
  expect(hit(0, 24)).toBeNull()
  expect(hit(34, 97)).toBeNull()
  expect(hit(24, 30, 6)).toBeNull()
})

test('small batches share slabs, which go with the last of them', () => {
  const cache = new HotCache({ maxBytes: 64 << 20 })
  for (let object = 0; object < 3000; object++) {
    const batches = Array.from({ length: 3 }, (_, index) => new Uint8Array(1000).fill(object * 3 + index))
    cache.put(object, batches, [24, 1024, 2024])
  }
  expect(cache.retainedBytes).toBeLessThan(3000 * 3000 * 1.1)
  const found = cache.find(2999, 1024, 2000)!
  expect(found.batches.slice(found.from, found.to).map((batch) => [batch.length, batch[0], batch[999]])).toEqual(
    [8998, 8999].map((value) => [1000, value & 255, value & 255]),
  )
  const target = new Uint8Array(2010)
  expect(cache.copy(7, 24, 2000, target, 5)).toBe(true)
  expect([target[4], target[5], target[1004], target[1005], target[2005]]).toEqual([0, 21, 21, 22, 0])
  expect(cache.copy(7, 24, 1999, target, 5)).toBe(false)
  expect(cache.copy(9000, 24, 1000, target, 5)).toBe(false)
  for (let object = 0; object < 3000; object++) cache.remove(object)
  expect([cache.retainedBytes, cache.objects]).toEqual([0, 0])
})

test('copies a range of large batches too', () => {
  const cache = new HotCache({ maxBytes: 64 << 20 })
  cache.put(1, [new Uint8Array(20_000).fill(1), new Uint8Array(30_000).fill(2)], [24, 20_024])
  const target = new Uint8Array(50_001)
  expect(cache.copy(1, 24, 50_000, target, 1)).toBe(true)
  expect([target[0], target[1], target[20_000], target[20_001], target[50_000]]).toEqual([0, 1, 1, 2, 2])
})

test('finds the batch that holds an offset', () => {
  const batches = [0, 10, 25].map((baseOffset) => {
    const batch = frame(5)
    patchBatch(batch, 0, baseOffset, 0)
    return batch
  })
  const found = { batches, from: 0, to: 3 }
  expect([0, 9, 10, 24, 25, 1000].map((offset) => batchIndexAt(found, offset))).toEqual([0, 0, 1, 1, 2, 2])
  expect(batchIndexAt({ ...found, from: 1 }, 3)).toBe(1)
})
