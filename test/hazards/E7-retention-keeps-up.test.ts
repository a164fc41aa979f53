import { expect, test } from 'vitest'
import { silentLogger } from '../../src/base/log.ts'
import { Retention } from '../../src/log/retention.ts'
import { logWorld } from '../unit/log/harness.ts'

// E7: retention took away one batch at a time and was slower than produce; the metadata grew without bound.

test('one pass takes everything that is due, of all partitions, by one entry, however many extents it is', async () => {
  const w = await logWorld()
  for (let round = 0; round < 25; round++) {
    for (let partition = 0; partition < 4; partition++) {
      await w.append(partition, { count: 3 })
      await w.convert(partition)
    }
  }
  const { engine: metadata, clock } = w
  const retention = new Retention({
    metadata,
    clock,
    logger: silentLogger,
    rules: () => ({ cleanupPolicy: new Set(['delete']), retentionMs: 1000, retentionBytes: -1 }),
    requestConversion: () => {},
  })
  const before = metadata.state.lastEntry
  expect(await retention.pass()).toBe(4)
  expect(metadata.state.lastEntry).toBe(before + 1)
  for (let partition = 0; partition < 4; partition++) expect([...metadata.state.extents(w.topic, partition, 0)]).toEqual([])
})
