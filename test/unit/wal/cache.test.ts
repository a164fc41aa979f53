import { expect, test } from 'vitest'
import { patchBatch } from '../../../protocol/records/header.ts'
import { batchIndexAt, HotCache } from '../../../src/wal/cache.ts'
import { batchBytes } from './harness.ts'

function frame(valueBytes: number): Uint8Array {
  return batchBytes({ valueBytes })
}

test('counts the memory that is kept alive, each frame once, and drops the oldest object first', () => {
  const cache = new HotCache({ maxBytes: 3000 })
  const memory = new ArrayBuffer(1000)
  cache.put(1, [new Uint8Array(memory, 0, 500)], [24])
  cache.put(2, [new Uint8Array(memory, 500, 500)], [24])
  expect(cache.retainedBytes).toBe(1000)
  cache.put(3, [new Uint8Array(2000)], [24])
  expect(cache.retainedBytes).toBe(3000)
  cache.put(4, [new Uint8Array(10)], [24])
  expect([1, 2, 3, 4].map((object) => cache.find(object, 24, object === 4 ? 10 : object === 3 ? 2000 : 500) !== null)).toEqual([
    false,
    false,
    true,
    true,
  ])
  expect(cache.retainedBytes).toBe(2010)
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

test('a hit is a whole range of batches of that object, nothing else', () => {
  const cache = new HotCache({ maxBytes: 1 << 20 })
  cache.put(5, [new Uint8Array(10), new Uint8Array(20), new Uint8Array(30)], [24, 34, 100])
  const hit = (byteOffset: number, sizeBytes: number, object = 5): number[] | null => {
    const found = cache.find(object, byteOffset, sizeBytes)
    return found && [found.from, found.to]
  }
  expect(hit(24, 30)).toEqual([0, 2])
  expect(hit(34, 20)).toEqual([1, 2])
  expect(hit(100, 30)).toEqual([2, 3])
  expect(hit(24, 29)).toBeNull()
  expect(hit(25, 9)).toBeNull()
  expect(hit(0, 24)).toBeNull()
  expect(hit(34, 97)).toBeNull()
  expect(hit(24, 30, 6)).toBeNull()
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
