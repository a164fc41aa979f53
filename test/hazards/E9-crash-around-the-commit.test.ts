import { expect, test } from 'vitest'
import { silentLogger } from '../../src/base/log.ts'
import { enqueueOrphans } from '../../src/wal/orphans.ts'
import { MemoryLog } from '../unit/metadata/memoryLog.ts'
import { TestStore } from '../unit/wal/testStore.ts'
import { settle } from '../unit/wal/harness.ts'
import { logWorld, offsets } from '../unit/log/harness.ts'

// E9: what the WAL held and what the controller knew did not meet after a crash: a hole of one record.

const never = new Promise<void>(() => {})

test('killed after the upload, before the commit: nothing of it is there, the retry gets its offsets', async () => {
  const log = new MemoryLog()
  const store = new TestStore()
  const before = await logWorld({ log, store })
  await before.append(0, { producerId: 3, sequence: 0 })
  log.beforeAppend = () => never
  void before.append(0, { producerId: 3, sequence: 1 })
  await settle()
  expect(store.objects.size).toBe(2)

  const after = await logWorld({ log: new MemoryLog(log.disk), store })
  expect(await after.append(0, { producerId: 3, sequence: 1 })).toBe(1)
  const [all] = await after.fetch([{ partition: 0 }])
  expect([offsets(all), all.highWatermark]).toEqual([[0, 1], 2])
  expect(await enqueueOrphans({ store, metadata: after.engine, logger: silentLogger, graceMs: 0 })).toBe(1)
})

test.each([0, 1 << 20])(
  'killed after the commit, before the answer: the retry is the same record (inline up to %i)',
  async (inlineMaxBytes) => {
    const log = new MemoryLog()
    const store = new TestStore()
    const before = await logWorld({ log, store, inlineMaxBytes })
    await before.append(0, { producerId: 3, sequence: 0 })
    log.afterAppend = () => never
    void before.append(0, { producerId: 3, sequence: 1 })
    await settle()

    const after = await logWorld({ log: new MemoryLog(log.disk), store, inlineMaxBytes })
    expect(await after.append(0, { producerId: 3, sequence: 1 })).toBe(1)
    expect(await after.append(0, { producerId: 3, sequence: 2 })).toBe(2)
    const [all] = await after.fetch([{ partition: 0 }])
    expect([offsets(all), all.highWatermark]).toEqual([[0, 1, 2], 3])
    expect(await enqueueOrphans({ store, metadata: after.engine, logger: silentLogger, graceMs: 0 })).toBe(0)
  },
)
