import { expect, test } from 'vitest'
import { logWorld, offsets } from '../unit/log/harness.ts'

// B19: retention removed everything; the first record after it lay behind a gap, and the fetch path fell over.

test('produce, expire all, produce again: start, fetch and lookups agree', async () => {
  const w = await logWorld()
  await w.append(0, { count: 7, timestampsMs: [9, 9, 9, 9, 9, 9, 9] })
  await w.convert(0)
  await w.engine.propose({ kind: 'trimPartitions', trims: [{ topic: w.topic, partition: 0, logStartOffset: 7 }] })
  expect(await w.plog.offsetOfMaxTimestamp(w.topic, 0)).toBeNull()
  await w.append(0, { count: 2, timestampsMs: [3, 4] })
  const { logStartOffset, endOffset } = w.engine.state.partition(w.topic, 0)!
  expect([logStartOffset, endOffset]).toEqual([7, 9])
  expect(offsets((await w.fetch([{ partition: 0, fetchOffset: 7 }]))[0])).toEqual([7, 8])
  expect(await w.plog.offsetByTime(w.topic, 0, 4)).toEqual({ offset: 8, timestampMs: 4 })
  expect(await w.plog.offsetOfMaxTimestamp(w.topic, 0)).toEqual({ offset: 8, timestampMs: 4 })
  await w.convert(0)
  expect(offsets((await w.fetch([{ partition: 0, fetchOffset: 7 }]))[0])).toEqual([7, 8])
})
