import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { seededRandom } from '../../../src/base/random.ts'
import { StoreLog } from '../../../src/metadata/logs/storeLog.ts'
import { seededFaults } from '../../../src/storage/faults.ts'
import { FolderStore } from '../../../src/storage/folder.ts'
import { MemoryStore } from '../../../src/storage/memory.ts'
import type { ObjectStore } from '../../../src/storage/store.ts'
import { keys } from '../storage/suite.ts'
import { QuickClock } from '../storage/quickClock.ts'
import { tempFolder } from '../storage/temp.ts'
import { bytesOf, collect, entryLogSuite, type LogHome } from './entryLogSuite.ts'

function home(store: ObjectStore, tries?: number, clock?: QuickClock): LogHome {
  return {
    open: async () => {
      const log = new StoreLog({ store, tries, clock })
      await log.open()
      return log
    },
  }
}

entryLogSuite('log over a memory store', async () => home(new MemoryStore({ pageKeys: 7 })))

entryLogSuite('log over a memory store that fails, delays and loses answers', async () => {
  const faults = seededFaults(seededRandom(11), { errorRate: 0.1, lostAnswerRate: 0.1, unknownRate: 0.1, delayMaxMs: 1 })
  const clock = new QuickClock()
  return home(new MemoryStore({ pageKeys: 100, faults, clock }), 20, clock)
})

entryLogSuite('log over a folder store', async () => {
  const store = new FolderStore({ path: tempFolder(), fsync: false })
  await store.open()
  return home(store)
})

describe('log over a store: other writers', () => {
  it('gives each number to one of two writers, and both read one history, whatever answers are lost', async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const faults = seededFaults(seededRandom(seed), {
        errorRate: 0.1,
        lostAnswerRate: 0.2,
        unknownRate: 0.1,
        lateRate: 0.1,
        lateMs: 30,
        delayMaxMs: 1,
      })
      const clock = new QuickClock()
      const store = new MemoryStore({ faults, clock })
      const written: [number: number, content: string][] = []
      const write = async (id: string): Promise<void> => {
        const log = await home(store, 50, clock).open()
        for (let number = 1; number <= 15;) {
          const answer = await log.append(number, bytesOf(`${id} ${number}`))
          if (answer === 'written') written.push([number, `${id} ${number}`])
          number = (await log.end()) + 1
        }
      }
      await Promise.all([write('a'), write('b')])
      const log = await home(store, 50, clock).open()
      const history = await collect(log, 1)
      expect(history.map(({ number }) => number)).toEqual(history.map((_, i) => i + 1))
      expect(new Set(written.map(([number]) => number)).size).toBe(written.length)
      for (const [number, content] of written) expect(Buffer.from(history[number - 1].bytes).toString()).toBe(content)
    }
  })

  it.each(['monotonicMs', 'wallMs'] as const)(
    'a pod that slept through a truncation believes nothing it finds or makes (L4, %s)',
    async (which) => {
      const store = new MemoryStore()
      const nowMs = { monotonicMs: 0, wallMs: 0 }
      const clock = { ...systemClock, monotonicMs: () => nowMs.monotonicMs, wallMs: () => nowMs.wallMs }
      const open = async (): Promise<StoreLog> => {
        const log = new StoreLog({ store, clock, retentionMs: 60_000 })
        await log.open()
        return log
      }
      const [writer, reader, prober] = [await open(), await open(), await open()]
      await writer.append(1, bytesOf('1'))
      for (const log of [reader, prober]) expect(await log.end()).toBe(1)
      const other = await home(store).open()
      for (let number = 2; number <= 10; number++) await other.append(number, bytesOf(String(number)))
      await other.truncate(6)
      expect(await store.head('meta/entries/00000000000000000002')).toBeNull()
      nowMs[which] = 60_001
      expect(await writer.append(2, bytesOf('too late'))).toBe('conflict')
      // What the late writer made is there for anyone who asks by number.
      expect(await store.head('meta/entries/00000000000000000002')).not.toBeNull()
      await expect(collect(reader, 2)).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
      for (const log of [prober, writer, reader]) expect(await log.end()).toBe(10)
      const next = await home(store).open()
      expect((await collect(next, 6)).map(({ number }) => number)).toEqual([6, 7, 8, 9, 10])
      await next.truncate(7)
      expect(await keys(store, 'meta/entries/')).toHaveLength(4)
    },
  )

  it('an entry that somebody removed is named, by a reader that knows of later ones', async () => {
    const store = new MemoryStore()
    const log = await home(store).open()
    for (let number = 1; number <= 5; number++) await log.append(number, bytesOf(String(number)))
    await store.delete(['meta/entries/00000000000000000003'])
    const next = await home(store).open()
    expect(await next.end()).toBe(5)
    await expect(collect(next, 2)).rejects.toMatchObject({ code: 'LOG_CORRUPT', message: expect.stringContaining('entry 3') })
  })

  it('asks for no more than it needs: one request an entry, one for the end, none for what it has', async () => {
    const counts = new Map<string, number>()
    const store = new MemoryStore({ metrics: { count: (kind) => void counts.set(kind, (counts.get(kind) ?? 0) + 1) } })
    const log = await home(store).open()
    const writer = await home(store).open()
    const spent = async (task: () => Promise<unknown>): Promise<Record<string, number>> => {
      counts.clear()
      await task()
      return Object.fromEntries(counts)
    }
    for (let number = 1; number <= 5; number++) {
      expect(await spent(() => writer.append(number, bytesOf(String(number))))).toEqual({ put: 1 })
    }
    expect(await spent(() => writer.end())).toEqual({ get: 1 })
    expect(await spent(() => collect(writer, 1))).toEqual({ get: 1 })
    const gets = (await spent(() => log.end()))['get']!
    expect(gets).toBeLessThan(10)
    expect((await spent(() => collect(log, 1)))['get']).toBe(1)
    expect(await spent(() => log.append(6, bytesOf('6')))).toEqual({ put: 1 })
    expect(await spent(() => writer.append(6, bytesOf('six')))).toEqual({ put: 1, get: 1 })
  })

  it('stops at an entry that is damaged, and says so', async () => {
    const store = new MemoryStore()
    const log = await home(store).open()
    for (let number = 1; number <= 3; number++) await log.append(number, bytesOf(`entry ${number}`))
    const key = 'meta/entries/00000000000000000002'
    const { body } = await store.get(key)
    for (let at = 0; at < body.length; at++) {
      const damaged = Buffer.from(body)
      damaged[at] ^= 4
      await store.put(key, damaged)
      await expect(
        home(store)
          .open()
          .then((fresh) => collect(fresh, 1)),
      ).rejects.toMatchObject({ code: 'LOG_CORRUPT' })
    }
  })

  it('gives up with LOG_UNAVAILABLE, and knows the outcome when the store is back', async () => {
    const store = new MemoryStore()
    const log = await home(store, 3).open()
    store.faults = (request) => (request === 'put' ? { after: 'STORE_UNKNOWN' } : null)
    expect(await log.append(1, bytesOf('1'))).toBe('written')
    store.faults = () => ({ before: 'STORE_UNAVAILABLE' })
    await expect(log.append(2, bytesOf('2'))).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
    await expect(log.end()).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
    store.faults = null
    expect(await log.end()).toBe(1)
    expect(await log.append(2, bytesOf('2'))).toBe('written')
    store.capacityBytes = 0
    await expect(log.append(3, bytesOf('3'))).rejects.toMatchObject({ code: 'STORE_FULL' })
    store.capacityBytes = Infinity
    expect(await log.append(3, bytesOf('3'))).toBe('written')
  })

  it('goes on deleting where some deletions fail (hazard E6)', async () => {
    const store = new MemoryStore()
    const log = await home(store).open()
    for (let number = 1; number <= 30; number++) await log.append(number, bytesOf(String(number)))
    let n = 0
    store.faults = (request) => (request === 'deleteKey' && n++ % 3 === 0 ? { before: 'STORE_UNAVAILABLE' } : null)
    let left = 30
    for (let pass = 0; left > 10; pass++) {
      expect(pass).toBeLessThan(10)
      await log.truncate(21)
      const now = (await keys(store, 'meta/entries/')).length
      expect(now < left || now === 11).toBe(true)
      left = now
    }
    expect((await collect(log, 21)).map(({ number }) => number)).toEqual(Array.from({ length: 10 }, (_, i) => 21 + i))
  })
})
