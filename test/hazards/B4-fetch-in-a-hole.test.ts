import { describe, expect, test } from 'vitest'
import { batchCrcValid, isControl, readBatchHeader } from '../../protocol/records/header.ts'
import { logWorld, offsets } from '../unit/log/harness.ts'

// B4: the next offset was gone; the broker answered with records below it only, the client dropped them and asked again,
// for ever. What is served at a hole must reach beyond it (L18).

describe('rows 4 to 6 are deleted from the table', () => {
  test.each([3, 4, 5, 6])('fetch at %i passes the hole', async (fetchOffset) => {
    const w = await logWorld()
    await w.append(0, { count: 10 })
    await w.convert(0, (offset) => offset >= 4 && offset <= 6)
    const [served] = await w.fetch([{ partition: 0, fetchOffset }])
    expect(Math.max(...offsets(served))).toBeGreaterThanOrEqual(7)
  })

  test('a hole that ends in the next extent', async () => {
    const w = await logWorld()
    await w.append(0, { count: 5 })
    await w.convert(0, (offset) => offset >= 3)
    await w.append(0, { count: 5 })
    await w.convert(0, (offset) => offset === 5)
    await w.append(0, { count: 1 })
    for (const fetchOffset of [3, 4, 5, 6]) {
      const [served] = await w.fetch([{ partition: 0, fetchOffset }], { maxWaitMs: 60_000 })
      expect(offsets(served)[0]).toBe(6)
    }
  })

  test('a hole up to the end is served as one control batch that reaches to the end', async () => {
    const w = await logWorld()
    await w.append(0, { count: 5 })
    await w.convert(0, (offset) => offset >= 3)
    for (const fetchOffset of [3, 4]) {
      const [served] = await w.fetch([{ partition: 0, fetchOffset }], { maxWaitMs: 60_000 })
      expect(served.records).toHaveLength(1)
      const header = readBatchHeader(served.records[0])
      expect(isControl(header.attributes)).toBe(true)
      expect([header.baseOffset, header.baseOffset + header.lastOffsetDelta, header.producerId]).toEqual([fetchOffset, 4, -1])
      expect(batchCrcValid(served.records[0])).toBe(true)
    }
    await w.append(0, {})
    expect(offsets((await w.fetch([{ partition: 0, fetchOffset: 3 }]))[0])).toEqual([5])
  })

  test('a hole in the first partition hides the others for one fetch only', async () => {
    const w = await logWorld()
    await w.append(0, { count: 5 })
    await w.convert(0, (offset) => offset >= 3)
    await w.append(1, { valueBytes: 1000 })
    await w.fetch([{ partition: 0, fetchOffset: 3 }, { partition: 1 }], { maxBytes: 1 })
    const fetched = await w.fetch([{ partition: 0, fetchOffset: 5 }, { partition: 1 }], { maxBytes: 1 })
    expect(fetched.map(offsets)).toEqual([[], [0]])
  })
})
