import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/base/random.ts'
import { StoreLog } from '../../src/metadata/logs/storeLog.ts'
import { MemoryStore } from '../../src/storage/memory.ts'
import { bytesOf, collect } from '../unit/metadata/entryLogSuite.ts'
import { QuickClock } from '../unit/storage/quickClock.ts'

// E2: a store that answered "slow down" while a pod read its log at start made it crash, again and again.

describe('E2: a log on a throttling store', () => {
  it('opens and reads, slower', async () => {
    const clock = new QuickClock()
    const store = new MemoryStore({ clock })
    const writer = new StoreLog({ store, clock })
    await writer.open()
    for (let number = 1; number <= 200; number++) await writer.append(number, bytesOf(`entry ${number}`))
    await writer.writeSnapshot(100, bytesOf('state'))
    for (let seed = 1; seed <= 20; seed++) {
      const random = seededRandom(seed)
      let throttled = 0
      store.faults = () => (random() < 0.3 && ++throttled > 0 ? { before: 'STORE_UNAVAILABLE' } : null)
      const log = new StoreLog({ store, clock, tries: 30 })
      await log.open()
      expect(await log.snapshots()).toEqual([100])
      expect((await log.readSnapshot(100)).toString()).toBe('state')
      expect((await collect(log, 101)).map(({ number }) => number)).toEqual(Array.from({ length: 100 }, (_, i) => 101 + i))
      expect(throttled).toBeGreaterThan(10)
      store.faults = null
    }
  })
})
