import { describe, expect, it } from 'vitest'
import type { FrazilError } from '../../../src/base/errors.ts'
import { seededRandom } from '../../../src/base/random.ts'
import { seededFaults } from '../../../src/storage/faults.ts'
import { MemoryStore } from '../../../src/storage/memory.ts'
import { QuickClock } from './quickClock.ts'
import { keys, storeSuite, text } from './suite.ts'

storeSuite('memory store', async () => new MemoryStore())
storeSuite('memory store that delays, in small pages', async () => {
  return new MemoryStore({ pageKeys: 3, clock: new QuickClock(), faults: seededFaults(seededRandom(7), { delayMaxMs: 1 }) })
})

describe('memory store: faults', () => {
  it('fails before or after the effect, as planned', async () => {
    const store = new MemoryStore()
    store.faults = () => ({ before: 'STORE_UNAVAILABLE' })
    await expect(store.put('a', text('1'))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    store.faults = () => ({ after: 'STORE_UNKNOWN' })
    await expect(store.putIfAbsent('b', text('2'))).rejects.toMatchObject({ code: 'STORE_UNKNOWN' })
    store.faults = null
    expect(await keys(store, '')).toEqual(['b'])
  })

  it('lets a request that failed take effect later', async () => {
    const clock = new QuickClock()
    const store = new MemoryStore({ clock })
    store.faults = () => ({ lateMs: 5 })
    await expect(store.put('a', text('1'))).rejects.toMatchObject({ code: 'STORE_UNKNOWN' })
    store.faults = null
    expect(await store.head('a')).toBeNull()
    await clock.sleep(6)
    expect((await store.get('a')).body.toString()).toBe('1')
  })

  it('gives one seed one history', async () => {
    const history = async (seed: number): Promise<string[]> => {
      const store = new MemoryStore({ faults: seededFaults(seededRandom(seed), { errorRate: 0.2, lostAnswerRate: 0.2, unknownRate: 0.2 }) })
      const trace: string[] = []
      for (let i = 0; i < 100; i++) {
        trace.push(
          await store.putIfAbsent(`k${i % 10}`, text(String(i))).then(
            (info) => info?.etag ?? 'exists',
            (error: FrazilError) => error.code,
          ),
        )
      }
      return trace
    }
    const first = await history(42)
    expect(await history(42)).toEqual(first)
    expect(await history(43)).not.toEqual(first)
    expect(new Set(first)).toContain('STORE_UNKNOWN')
    expect(new Set(first)).toContain('STORE_UNAVAILABLE')
  })

  it('is full at its capacity and recovers when something goes', async () => {
    const store = new MemoryStore()
    store.capacityBytes = 10
    await store.put('a', Buffer.alloc(8))
    await expect(store.put('b', Buffer.alloc(3))).rejects.toMatchObject({ code: 'STORE_FULL' })
    expect(await store.head('b')).toBeNull()
    await store.put('a', Buffer.alloc(7))
    await store.put('b', Buffer.alloc(3))
    await store.delete(['a'])
    await store.put('b', Buffer.alloc(10))
  })
})
