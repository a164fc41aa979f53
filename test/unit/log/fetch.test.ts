import { describe, expect, test } from 'vitest'
import { Errors } from '../../../protocol/errors.ts'
import { batchCrcValid, readBatchHeader } from '../../../protocol/records/header.ts'
import type { LoadingRows } from '../../../src/log/port.ts'
import { settle } from '../wal/harness.ts'
import { logWorld, offsets } from './harness.ts'

describe.each([
  ['memory', 1 << 26],
  ['WAL objects', 0],
])('KIP-74 from %s', (_, hotCacheBytes) => {
  test('several extents are joined, from the batch that holds the offset', async () => {
    const w = await logWorld({ hotCacheBytes })
    for (let i = 0; i < 3; i++) await w.append(0, { count: 3 }, { count: 2 })
    const [all] = await w.fetch([{ partition: 0 }])
    expect(offsets(all)).toEqual(Array.from({ length: 15 }, (__, i) => i))
    expect([all.highWatermark, all.logStartOffset, all.error]).toEqual([15, 0, 0])
    const [some] = await w.fetch([{ partition: 0, fetchOffset: 9 }])
    expect(offsets(some)).toEqual([8, 9, 10, 11, 12, 13, 14])
    for (const bytes of some.records) expect(batchCrcValid(bytes)).toBe(true)
    const [none] = await w.fetch([{ partition: 0, fetchOffset: 15 }])
    expect([none.error, none.sizeBytes, none.highWatermark]).toEqual([0, 0, 15])
  })

  test('the first partition with data gives one batch whatever the limits, later ones none that does not fit', async () => {
    const w = await logWorld({ hotCacheBytes })
    await w.append(1, { valueBytes: 1000 }, { valueBytes: 1000 })
    await w.append(2, { valueBytes: 1000 })
    await w.append(3, { valueBytes: 10 })
    const fetched = await w.fetch([{ partition: 0 }, { partition: 1, maxBytes: 1 }, { partition: 2, maxBytes: 1 }, { partition: 3 }])
    expect(fetched.map(offsets)).toEqual([[], [0], [], [0]])
    const tight = await w.fetch([{ partition: 1 }, { partition: 2 }, { partition: 3 }], { maxBytes: 1 })
    expect(tight.map(offsets)).toEqual([[0], [], []])
    expect(tight.map(({ error, highWatermark }) => [error, highWatermark])).toEqual([
      [0, 2],
      [0, 1],
      [0, 1],
    ])
    const one = readBatchHeader(fetched[1].records[0]).sizeBytes
    const two = await w.fetch([{ partition: 1 }, { partition: 2 }], { maxBytes: 2 * one })
    expect(two.map(offsets)).toEqual([[0, 1], []])
    const [capped] = await w.fetch([{ partition: 1, maxBytes: 2 * one - 1 }])
    expect(offsets(capped)).toEqual([0])
  })
})

describe.each([
  ['memory', 1 << 26],
  ['WAL objects', 0],
])('an answer from %s', (_, hotCacheBytes) => {
  test('is as large as there is room for when it is read, one batch at least', async () => {
    let roomBytes = Infinity
    const w = await logWorld({ hotCacheBytes, log2: { answerRoomBytes: () => roomBytes } })
    for (let i = 0; i < 4; i++) await w.append(0, { valueBytes: 1000 })
    const [all] = await w.fetch([{ partition: 0 }])
    expect(offsets(all)).toEqual([0, 1, 2, 3])
    roomBytes = all.sizeBytes / 2
    expect(offsets((await w.fetch([{ partition: 0 }]))[0])).toEqual([0, 1])
    roomBytes = 1
    expect(offsets((await w.fetch([{ partition: 0, fetchOffset: 2 }]))[0])).toEqual([2])
  })
})

describe('out of range', () => {
  test('is said after a barrier only, with -1 for both offsets (L8, hazard B16)', async () => {
    const w = await logWorld()
    await w.append(0, { count: 5 })
    await w.convert(0)
    await w.engine.propose({ kind: 'trimPartitions', trims: [{ topic: w.topic, partition: 0, logStartOffset: 3 }] })
    for (const fetchOffset of [2, 6, -1]) {
      const before = w.log.endCalls
      const fetched = await w.fetch([{ partition: 0, fetchOffset }, { partition: 1 }], { maxWaitMs: 10_000 })
      expect(w.log.endCalls).toBe(before + 1)
      expect(fetched[0]).toMatchObject({ error: Errors.OFFSET_OUT_OF_RANGE, highWatermark: -1, logStartOffset: -1, sizeBytes: 0 })
      expect(fetched[1].error).toBe(0)
    }
    const before = w.log.endCalls
    expect(offsets((await w.fetch([{ partition: 0, fetchOffset: 3 }]))[0])).toContain(3)
    expect(w.log.endCalls).toBe(before)
  })

  test('a partition that does not exist', async () => {
    const w = await logWorld()
    const fetched = await w.fetch([{ partition: 9 }, { topic: 99, partition: 0 }], { maxWaitMs: 10_000 })
    expect(fetched.map(({ error }) => error)).toEqual([Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.UNKNOWN_TOPIC_OR_PARTITION])
  })
})

describe('the wait for data', () => {
  test('is ended by an append to one of its partitions, not by others', async () => {
    const w = await logWorld()
    let answered: number[][] | null = null
    const fetching = w.fetch([{ partition: 0 }, { partition: 1 }], { maxWaitMs: 60_000 }).then((all) => (answered = all.map(offsets)))
    await settle()
    await w.append(2, {})
    await settle()
    expect(answered).toBeNull()
    await w.append(1, {})
    await fetching
    expect(answered).toEqual([[], [0]])
    expect(w.clock.timers).toBe(w.idleTimers)
  })

  test('counts minBytes over partitions, each capped at its limit', async () => {
    const w = await logWorld()
    let answered = false
    const fetching = w.fetch([{ partition: 0, maxBytes: 500 }, { partition: 1 }], { maxWaitMs: 60_000, minBytes: 1000 }).then((all) => {
      answered = true
      return all
    })
    await w.append(0, { valueBytes: 2000 })
    await settle()
    expect(answered).toBe(false)
    await w.append(1, { valueBytes: 500 })
    expect((await fetching).map(offsets)).toEqual([[0], [0]])
  })

  test('ends with its time and gives what is there; minBytes 0 does not wait', async () => {
    const w = await logWorld()
    await w.append(0, {})
    const fetching = w.fetch([{ partition: 0 }], { maxWaitMs: 500, minBytes: 1 << 20 })
    await settle()
    await w.clock.advance(500)
    expect(offsets((await fetching)[0])).toEqual([0])
    expect((await w.fetch([{ partition: 1 }], { maxWaitMs: 60_000, minBytes: 0 }))[0].sizeBytes).toBe(0)
  })

  test('ends when the connection does', async () => {
    const w = await logWorld()
    const gone = new AbortController()
    const fetching = w.fetch([{ partition: 0 }], { maxWaitMs: 60_000, signal: gone.signal })
    await settle()
    gone.abort()
    expect((await fetching)[0].sizeBytes).toBe(0)
    expect(w.clock.timers).toBe(w.idleTimers)
  })

  test('what an append has just committed is served from memory', async () => {
    const w = await logWorld()
    const fetching = w.fetch([{ partition: 0 }], { maxWaitMs: 60_000 })
    await settle()
    await w.append(0, {})
    await fetching
    expect(w.store.count('get')).toBe(0)
  })
})

describe('table files', () => {
  test('table, cold WAL and memory are joined', async () => {
    const w = await logWorld()
    await w.append(0, { count: 4 }, { count: 3 })
    await w.convert(0)
    await w.append(0, { count: 2 })
    const [all] = await w.fetch([{ partition: 0 }])
    expect(offsets(all)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    expect(w.tables.reads).toBe(1)
    expect(offsets((await w.fetch([{ partition: 0, fetchOffset: 8 }]))[0])).toEqual([7, 8])
  })

  describe('rows that are still being loaded', () => {
    const loadingRows = (isLoading: boolean): LoadingRows & { readonly listeners: Set<() => void> } => {
      const listeners = new Set<() => void>()
      return {
        isLoading,
        listeners,
        whenReady: (listener) => {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
      }
    }

    test('do not hold back what is there', async () => {
      const w = await logWorld()
      for (const partition of [0, 1]) await w.append(partition, { count: 4 })
      await w.convert(0)
      w.tables.loading.set(0, loadingRows(true))
      const fetched = await w.fetch([{ partition: 0 }, { partition: 1 }], { maxWaitMs: 60_000 })
      expect(fetched.map(offsets)).toEqual([[], [0, 1, 2, 3]])
      expect(fetched.map(({ error, highWatermark }) => [error, highWatermark])).toEqual([
        [0, 4],
        [0, 4],
      ])
    })

    test('are waited for when there is nothing else, the first of them', async () => {
      const w = await logWorld()
      for (const partition of [0, 1]) {
        await w.append(partition, { count: 4 })
        await w.convert(partition)
        w.tables.loading.set(partition, loadingRows(true))
      }
      const timers = w.clock.timers
      const fetching = w.fetch([{ partition: 0 }, { partition: 1 }], { maxWaitMs: 60_000 })
      await settle()
      const rows = w.tables.loading.get(1) as ReturnType<typeof loadingRows>
      const others = w.tables.loading.get(0) as ReturnType<typeof loadingRows>
      expect([rows.listeners.size, others.listeners.size]).toEqual([1, 1])
      w.tables.loading.delete(1)
      for (const listener of rows.listeners) listener()
      expect((await fetching).map(offsets)).toEqual([[], [0, 1, 2, 3]])
      expect([rows.listeners.size, others.listeners.size, w.clock.timers]).toEqual([0, 0, timers])
    })

    test('are not waited for long when they stand in line: the client may have to read what is before them', async () => {
      const w = await logWorld()
      await w.append(0, { count: 4 })
      await w.convert(0)
      const rows = loadingRows(false)
      w.tables.loading.set(0, rows)
      const fetching = w.fetch([{ partition: 0 }], { maxWaitMs: 60_000 })
      await settle()
      await w.clock.advance(100)
      const [answer] = await fetching
      expect([answer.error, answer.sizeBytes, answer.highWatermark, rows.listeners.size]).toEqual([0, 0, 4, 0])
    })

    test('end with the client', async () => {
      const w = await logWorld()
      await w.append(0, { count: 4 })
      await w.convert(0)
      const rows = loadingRows(true)
      w.tables.loading.set(0, rows)
      const gone = new AbortController()
      const fetching = w.fetch([{ partition: 0 }], { maxWaitMs: 60_000, signal: gone.signal })
      await settle()
      gone.abort()
      expect(offsets((await fetching)[0])).toEqual([])
      expect(rows.listeners.size).toBe(0)
    })

    test('that turn out to be nothing again and again are read in one go', async () => {
      const w = await logWorld()
      await w.append(0, { count: 4 })
      await w.convert(0)
      w.tables.loading.set(0, { isLoading: true, whenReady: (listener) => (queueMicrotask(listener), () => {}) })
      expect(offsets((await w.fetch([{ partition: 0 }]))[0])).toEqual([0, 1, 2, 3])
    })
  })

  test('no batch is passed over where the limit falls between two table extents', async () => {
    const w = await logWorld()
    w.tables.batchRows = 1
    const total = 12
    for (let n = 0; n < total; n++) {
      await w.append(0, { count: 1, valueBytes: n % 3 === 0 ? 10 : 900 })
      await w.convert(0)
    }
    const seen: number[] = []
    for (let fetches = 0; seen.length < total && fetches < 2 * total; fetches++) {
      const fetchOffset = (seen.at(-1) ?? -1) + 1
      seen.push(...offsets((await w.fetch([{ partition: 0, fetchOffset, maxBytes: 1200 }]))[0]))
    }
    expect(seen).toEqual(Array.from({ length: total }, (_, n) => n))
  })

  test('files that were replaced meanwhile are resolved again; lasting absence is a storage error (L8)', async () => {
    const w = await logWorld({ hotCacheBytes: 0 })
    await w.append(0, {})
    const [[key, bytes]] = [...w.store.objects]
    w.store.objects.clear()
    w.store.before = (request) => {
      if (request === 'get' && w.store.count('get') > 1) w.store.objects.set(key, bytes)
    }
    expect(offsets((await w.fetch([{ partition: 0 }]))[0])).toEqual([0])
    w.store.before = () => {}
    w.store.objects.clear()
    await w.append(1, {})
    w.store.objects.clear()
    const [gone] = await w.fetch([{ partition: 1 }], { maxWaitMs: 60_000 })
    expect(gone).toMatchObject({ error: Errors.KAFKA_STORAGE_ERROR, highWatermark: 1, logStartOffset: 0 })
  })

  test('one partition that cannot be read does not hold back the others', async () => {
    const w = await logWorld({ hotCacheBytes: 0 })
    await w.append(0, {})
    const [key] = w.store.objects.keys()
    await w.append(1, {})
    w.store.objects.delete(key)
    const fetched = await w.fetch([{ partition: 0 }, { partition: 1 }])
    expect(fetched.map(({ error }) => error)).toEqual([Errors.KAFKA_STORAGE_ERROR, 0])
    expect(offsets(fetched[1])).toEqual([0])
  })
})

test('fetches of one cold range at the same time share one read', async () => {
  const w = await logWorld({ hotCacheBytes: 0 })
  await w.append(0, { count: 3, valueBytes: 1000 })
  const all = await Promise.all(Array.from({ length: 10 }, () => w.fetch([{ partition: 0 }])))
  for (const [one] of all) expect(offsets(one)).toEqual([0, 1, 2])
  expect(w.store.count('get')).toBe(1)
})
