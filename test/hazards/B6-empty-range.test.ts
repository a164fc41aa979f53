import { expect, test } from 'vitest'
import { logWorld } from '../unit/log/harness.ts'

// B6: log start equal to the end was an assertion elsewhere, or an end of partition that was never told.

test('everything deleted: fetch at the end is empty, without error, with end and start told', async () => {
  const w = await logWorld()
  await w.append(0, { count: 5 })
  await w.engine.propose({ kind: 'trimPartitions', trims: [{ topic: w.topic, partition: 0, logStartOffset: 5 }] })
  const [served] = await w.fetch([{ partition: 0, fetchOffset: 5 }])
  expect(served).toMatchObject({ error: 0, highWatermark: 5, logStartOffset: 5, sizeBytes: 0 })
  expect(await w.plog.offsetByTime(w.topic, 0, 0)).toBeNull()
  expect(await w.plog.offsetOfMaxTimestamp(w.topic, 0)).toBeNull()
})
