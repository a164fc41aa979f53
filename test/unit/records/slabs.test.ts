import { expect, test } from 'vitest'
import { BatchBuilder } from '../../../protocol/records/build.ts'
import { batchCrcValid } from '../../../protocol/records/header.ts'

/** Batches of records whose sizes begin small, grow past a slab, and are small again. */
function batches(builder: BatchBuilder): Uint8Array[] {
  const made: Uint8Array[] = []
  let seed = 7
  for (let offset = 0; offset < 400; offset++) {
    seed = (seed * 48271) % 2147483647
    const value = Buffer.alloc(offset === 200 ? 9000 : seed % 700, offset & 255)
    builder.append(offset, 1790000000000 + offset, value, 0, Math.min(5, value.length), value, 0, value.length)
    if (builder.sizeBytes >= 1500) made.push(builder.finish())
  }
  if (builder.count > 0) made.push(builder.finish())
  return made
}

test('batches that lie side by side in slabs are the same, and stay as they were finished', () => {
  const alone = batches(new BatchBuilder())
  const slabs = batches(new BatchBuilder({ slabBytes: 4096 }))
  expect(slabs.map((batch) => Buffer.from(batch).toString('hex'))).toEqual(alone.map((batch) => Buffer.from(batch).toString('hex')))
  expect(slabs.every((batch) => batchCrcValid(batch))).toBe(true)
  const buffers = new Set(slabs.map(({ buffer }) => buffer))
  expect(buffers.size).toBeLessThan(slabs.length / 1.5)
})
