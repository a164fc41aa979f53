import { expect, test } from 'vitest'
import type { WalExtent } from '../../../src/metadata/view.ts'
import { batchBytes, settle, walBatch, world, type World } from './harness.ts'

/** Appends `count` batches of `valueBytes` to partition 0 as one object and gives the extent and what was sent. */
async function append(w: World, count: number, valueBytes: number): Promise<{ extent: WalExtent; sent: Uint8Array[] }> {
  const sent = Array.from({ length: count }, (_, fill) => batchBytes({ valueBytes, fill, count: 1 + (fill % 3) }))
  const copies = sent.map((bytes) => new Uint8Array(bytes))
  const [first] = await w.wal.append(copies.map((bytes) => ({ topic: w.topic, partition: 0, batch: walBatch({}, bytes) })))
  return { extent: w.engine.state.extentAt(w.topic, 0, first.baseOffset) as WalExtent, sent }
}

test('a small object is read whole, with one request, shared by those who ask at the same time', async () => {
  const w = await world({ hotCacheBytes: 0 })
  const { extent, sent } = await append(w, 5, 100)
  const all = await Promise.all([3, 0, 3].map((offset) => w.wal.readFrom(extent, offset, 1)))
  // Batches have 1, 2, 3, 1, 2 records: offset 3 is in the third one.
  expect(all.map(({ baseOffset }) => baseOffset)).toEqual([3, 0, 3])
  expect(Buffer.compare(all[0].bytes, sent[2])).toBe(0)
  expect(w.store.count('get')).toBe(1)
  await w.wal.readFrom(extent, 1, 1 << 20)
  expect(w.store.count('get')).toBe(1)
})

test('an extent of a large object is looked up in the index, and only what was asked for is read', async () => {
  const w = await world({ hotCacheBytes: 0 })
  const { extent, sent } = await append(w, 80, 20_000)
  const bytes = sent.map((batch) => batch.length)
  const found = await w.wal.readFrom(extent, 10, bytes[5] + bytes[6])
  expect(found.baseOffset).toBe(9)
  expect(Buffer.compare(found.bytes, Buffer.concat(sent.slice(5, 7)))).toBe(0)
  expect(w.store.count('get')).toBe(2)
})

test('the last batch of an extent is found by the index too', async () => {
  const w = await world({ hotCacheBytes: 0 })
  const { extent, sent } = await append(w, 80, 20_000)
  const last = await w.wal.readFrom(extent, extent.lastOffset, 1)
  expect(Buffer.compare(last.bytes, sent[79])).toBe(0)
  expect(w.store.count('get')).toBe(2)
})

test('an extent that is wanted from its start and fits is read without the index', async () => {
  const w = await world({ hotCacheBytes: 0 })
  const { extent, sent } = await append(w, 80, 20_000)
  const found = await w.wal.readFrom(extent, 0, 1 << 24)
  expect(Buffer.compare(found.bytes, Buffer.concat(sent))).toBe(0)
  expect(w.store.count('get')).toBe(1)
})

test('an object of which a second range is read is read whole (L15)', async () => {
  const w = await world({ hotCacheBytes: 0 })
  const { extent } = await append(w, 80, 20_000)
  for (const offset of [0, 10, 20, 30, 40, 50]) await w.wal.readFrom(extent, offset, 1)
  // index, one range, the whole
  expect(w.store.count('get')).toBe(3)
})

test('whole reads are shared and kept', async () => {
  const w = await world({ hotCacheBytes: 0 })
  const { extent, sent } = await append(w, 4, 1000)
  const reads = await Promise.all([1, 2, 3].map(() => w.wal.read(extent.object, extent.byteOffset, extent.sizeBytes, { whole: true })))
  for (const bytes of reads) expect(Buffer.compare(bytes, Buffer.concat(sent))).toBe(0)
  expect(w.store.count('get')).toBe(1)
})

test('random ranges against what was sent, with caches that hold next to nothing (hazard E11)', async () => {
  const w = await world({ hotCacheBytes: 0, coldCacheBytes: 3000 })
  const made = [await append(w, 10, 500), await append(w, 10, 900), await append(w, 10, 100)]
  let seed = 7
  for (let i = 0; i < 300; i++) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    const { extent, sent } = made[seed % 3]
    const from = (seed >>> 4) % 10
    const to = from + 1 + ((seed >>> 8) % (10 - from))
    const start = sent.slice(0, from).reduce((sum, one) => sum + one.length, extent.byteOffset)
    const expected = Buffer.concat(sent.slice(from, to))
    const bytes = await w.wal.read(extent.object, start, expected.length, { whole: (seed >>> 12) % 2 === 0 })
    expect(Buffer.compare(bytes, expected)).toBe(0)
  }
})

test('an object that is gone: a barrier first, then the error (L8)', async () => {
  const w = await world({ hotCacheBytes: 0 })
  const { extent } = await append(w, 1, 10)
  w.store.objects.clear()
  const before = w.log.endCalls
  await expect(w.wal.read(extent.object, extent.byteOffset, extent.sizeBytes)).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
  expect(w.log.endCalls).toBe(before + 1)
  await expect(w.wal.read(99, 0, 1)).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
})

test('a failed read is not kept: the next one asks again', async () => {
  const w = await world({ hotCacheBytes: 0 })
  const { extent } = await append(w, 1, 10)
  let failures = 1
  w.store.before = (request) => {
    if (request === 'get' && failures-- > 0) throw new Error('slow down')
  }
  await expect(w.wal.readFrom(extent, 0, 1)).rejects.toThrow('slow down')
  await settle()
  expect((await w.wal.readFrom(extent, 0, 1)).baseOffset).toBe(0)
})
