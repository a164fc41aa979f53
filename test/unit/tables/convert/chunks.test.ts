import { expect, test } from 'vitest'
import { CHUNK_BYTES, ChunkPool } from '../../../../src/tables/convert/chunks.ts'
import { ManualClock } from '../../wal/harness.ts'

test('a chunk that came back is taken again, up to the bound', () => {
  const pool = new ChunkPool(new ManualClock(), 2 * CHUNK_BYTES)
  const given = Array.from({ length: 3 }, () => pool.take(100, 1e9))
  expect(given.map((chunk) => chunk.byteLength)).toEqual([CHUNK_BYTES, CHUNK_BYTES, CHUNK_BYTES])
  pool.give(given)
  const taken = Array.from({ length: 3 }, () => pool.take(100, 1e9))
  expect(taken.filter((chunk) => given.includes(chunk))).toHaveLength(2)
})

test('little is taken for little, more for an extent that is larger than a chunk, and neither is kept', () => {
  const pool = new ChunkPool(new ManualClock(), 64 * CHUNK_BYTES)
  const odd = [pool.take(100, 1000), pool.take(CHUNK_BYTES + 1, CHUNK_BYTES + 1)]
  expect(odd.map((chunk) => chunk.byteLength)).toEqual([1000, CHUNK_BYTES + 1])
  pool.give(odd)
  expect(odd).not.toContain(pool.take(100, 1000))
})

test('chunks that nobody takes are given up', async () => {
  const clock = new ManualClock()
  const pool = new ChunkPool(clock, 64 * CHUNK_BYTES)
  const chunk = pool.take(1, 1e9)
  pool.give([chunk])
  await clock.advance(59_000)
  pool.give([])
  await clock.advance(59_000)
  expect(pool.take(1, 1e9)).toBe(chunk)
  pool.give([chunk])
  await clock.advance(61_000)
  expect(pool.take(1, 1e9)).not.toBe(chunk)
})
