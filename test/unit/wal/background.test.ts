import { Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/base/log.ts'
import { SUPPORTED_LEVEL } from '../../../src/metadata/apply/pods.ts'
import { Deleter } from '../../../src/wal/deleter.ts'
import { Evacuator } from '../../../src/wal/evacuate.ts'
import { setWalGrace } from '../../../src/wal/grace.ts'
import { enqueueOrphans } from '../../../src/wal/orphans.ts'
import type { WalExtent } from '../../../src/metadata/view.ts'
import { createTopic } from '../metadata/helpers.ts'
import { MemoryLog } from '../metadata/memoryLog.ts'
import { batchBytes, settle, walBatch, world, type World } from './harness.ts'
import { TestStore } from './testStore.ts'

const MINUTE = 60_000

function evacuator(w: World, options: { segmentBytes?: number } = {}): Evacuator {
  const { store, engine: metadata, wal, sequences, clock } = w
  return new Evacuator({ store, metadata, wal, sequences, clock, logger: silentLogger, registry: new Registry(), ...options })
}

function deleter(w: World): Deleter {
  return new Deleter({ store: w.store, metadata: w.engine, clock: w.clock, logger: silentLogger, registry: new Registry() })
}

async function everything(w: World, topic: number, partition: number): Promise<Buffer> {
  const extents = [...(w.engine.state.extents(topic, partition, 0) as Iterable<WalExtent>)]
  return Buffer.concat(await Promise.all(extents.map((one) => w.wal.read(one.object, one.byteOffset, one.sizeBytes))))
}

describe('evacuation (L14)', () => {
  test.each([0, 100_000])('old objects (inline up to %i) move to one segment a topic, by partition and offset', async (inlineMaxBytes) => {
    const w = await world({ inlineMaxBytes, hotCacheBytes: 0 })
    const other = await createTopic(w.engine, 'b', 2)
    const sent = new Map<string, Uint8Array[]>()
    for (let round = 0; round < 3; round++) {
      const items = [
        [w.topic, 1],
        [other, 0],
        [w.topic, 0],
      ].map(([topic, partition]) => {
        const bytes = batchBytes({ count: 2, fill: round })
        const key = `${topic}/${partition}`
        sent.set(key, [...(sent.get(key) ?? []), new Uint8Array(bytes)])
        return { topic, partition, batch: walBatch({}, bytes) }
      })
      await w.wal.append(items)
    }
    const { state } = w.engine
    expect([...state.walObjects()].length).toBe(3)
    expect(await evacuator(w).pass()).toBe(0)
    await w.clock.advance(5 * MINUTE)
    expect(await evacuator(w).pass()).toBe(2)
    const objects = [...state.walObjects()]
    expect(objects.map(({ segment }) => segment)).toEqual([true, true])
    for (const [key, batches] of sent) {
      const [topic, partition] = key.split('/').map(Number)
      expect(Buffer.compare(await everything(w, topic, partition), Buffer.concat(batches))).toBe(0)
      const last = state.extentAt(topic, partition, 5) as WalExtent
      const found = await w.wal.readFrom(last, 5, 1)
      expect(found.baseOffset).toBe(4)
    }
    // Appends go on after the jump of the sequence, and the old objects are deleted after the grace.
    expect((await w.wal.append([{ topic: other, partition: 0, batch: walBatch() }]))[0].baseOffset).toBe(6)
    expect(await evacuator(w).pass()).toBe(0)
    await w.clock.advance(MINUTE)
    expect(await deleter(w).pass()).toBe(inlineMaxBytes === 0 ? 3 : 0)
    expect([...state.deletions()]).toEqual([])
  })

  test('buffers that close while segments upload are neither held back nor refused', async () => {
    const w = await world()
    await w.wal.append([{ topic: w.topic, partition: 0, batch: walBatch() }])
    await w.clock.advance(5 * MINUTE)
    let open = (): void => {}
    const slow = new Promise<void>((resolve) => (open = resolve))
    w.store.before = (request, key) => (request === 'put' && key.includes('000000010001') ? slow : undefined)
    const moving = evacuator(w).pass()
    await settle()
    for (let i = 1; i <= 3; i++) {
      expect((await w.wal.append([{ topic: w.topic, partition: 1, batch: walBatch() }]))[0]).toMatchObject({ error: 0, baseOffset: i - 1 })
    }
    open()
    expect(await moving).toBe(1)
    expect((await w.wal.append([{ topic: w.topic, partition: 1, batch: walBatch() }]))[0]).toMatchObject({ error: 0, baseOffset: 3 })
    expect((w.engine.state.extentAt(w.topic, 0, 0) as WalExtent).object).toBe(5)
  })

  test('a topic deleted meanwhile refuses its own segment only (P9)', async () => {
    const w = await world()
    const doomed = await createTopic(w.engine, 'doomed', 1)
    await w.wal.append([
      { topic: w.topic, partition: 0, batch: walBatch() },
      { topic: doomed, partition: 0, batch: walBatch() },
    ])
    await w.clock.advance(5 * MINUTE)
    let once = true
    w.store.before = async (request) => {
      if (request !== 'put' || !once) return
      once = false
      await w.engine.propose({ kind: 'deleteTopic', topic: doomed, keepTableAs: '', graceMs: 0 })
    }
    expect(await evacuator(w).pass()).toBe(1)
    expect([...w.engine.state.walObjects()].map(({ segment }) => segment)).toEqual([true])
    await settle()
    const queued = [...w.engine.state.deletions()].filter(({ key }) => key.startsWith('wal/')).map(({ key }) => key)
    expect(queued).toContain('wal/0/0000000001/000000010002.wal')
  })

  test('segments are cut at their size', async () => {
    const w = await world()
    for (let i = 0; i < 6; i++) await w.wal.append([{ topic: w.topic, partition: 0, batch: walBatch({ valueBytes: 1000 }) }])
    await w.clock.advance(5 * MINUTE)
    expect(await evacuator(w, { segmentBytes: 2500 }).pass()).toBe(3)
  })
})

describe('orphans (L13)', () => {
  test('objects of fenced incarnations without a commit enter the queue; all others stay', async () => {
    const log = new MemoryLog()
    const store = new TestStore()
    const first = await world({ log, store })
    await first.wal.append([{ topic: first.topic, partition: 0, batch: walBatch() }])
    store.objects.set('wal/0/0000000001/000000000002.wal', Buffer.from('an upload whose commit never came'))
    const second = await world({ log: new MemoryLog(log.disk), store })
    store.objects.set('wal/0/0000000002/000000000009.wal', Buffer.from('an upload of this incarnation under way'))
    store.objects.set('wal/0/0000000077/000000000001.wal', Buffer.from('of an incarnation that is not known: doubt'))
    const sweep = (): Promise<number> => enqueueOrphans({ store, metadata: second.engine, logger: silentLogger, graceMs: 1000 })
    expect(await sweep()).toBe(1)
    expect(await sweep()).toBe(0)
    await second.clock.advance(1000)
    expect(await deleter(second).pass()).toBe(1)
    expect([...store.objects.keys()]).toEqual([
      'wal/0/0000000001/000000000001.wal',
      'wal/0/0000000002/000000000009.wal',
      'wal/0/0000000077/000000000001.wal',
    ])
  })
})

describe('the deletion queue', () => {
  test('only what is due, a prefix with everything below it', async () => {
    const w = await world()
    for (const key of ['t/a/1', 't/a/2', 't/ab', 'x', 'later']) w.store.objects.set(key, Buffer.from(key))
    const items = [
      { key: 't/a/', graceMs: 0 },
      { key: 'x', graceMs: 0 },
      { key: 'absent', graceMs: 0 },
      { key: 'later', graceMs: 5000 },
    ]
    await w.engine.propose({ kind: 'enqueueDeletions', items })
    expect(await deleter(w).pass()).toBe(3)
    expect([...w.store.objects.keys()]).toEqual(['t/ab', 'later'])
    expect([...w.engine.state.deletions()].map(({ key }) => key)).toEqual(['later'])
  })

  test('waits while a hold lasts, also one that is taken in the middle of a pass, and goes on behind it (L9)', async () => {
    const w = await world({ level: SUPPORTED_LEVEL })
    const queue = async (...keys: string[]): Promise<void> => {
      for (const key of keys) w.store.objects.set(key, Buffer.from(key))
      await w.engine.propose({ kind: 'enqueueDeletions', items: keys.map((key) => ({ key, graceMs: 0 })) })
    }
    await queue('a', 'b')
    const { store, engine: metadata, clock } = w
    const one = new Deleter({ store, metadata, clock, logger: silentLogger, registry: new Registry(), batch: 1 })
    let held: Promise<unknown> | null = null
    w.store.before = async (request) => {
      if (request === 'delete') await (held ??= metadata.propose({ kind: 'holdDeletions', name: 'copy', forMs: 60_000 }))
    }
    expect(await one.pass()).toBe(1)
    expect(await one.pass()).toBe(0)
    expect([...w.store.objects.keys()]).toEqual(['b'])
    w.clock.nowMs += 60_001
    // this process's clock alone may be ahead of the others'
    expect(await one.pass()).toBe(0)
    await queue('c')
    expect(await one.pass()).toBe(2)
  })

  test('runs by itself, survives a store that fails, and ends', async () => {
    const w = await world()
    w.store.objects.set('x', Buffer.from('x'))
    await w.engine.propose({ kind: 'enqueueDeletions', items: [{ key: 'x', graceMs: 0 }] })
    let failures = 1
    w.store.before = (request) => {
      if (request === 'delete' && failures-- > 0) throw new Error('no')
    }
    const worker = deleter(w)
    worker.start()
    await w.clock.advance(1000)
    expect(w.store.objects.size).toBe(1)
    await w.clock.advance(1000)
    expect(w.store.objects.size).toBe(0)
    await worker.close()
    expect(w.clock.timers).toBe(w.idleTimers)
  })
})

test('the grace of WAL objects is the setting, told to the state once', async () => {
  const w = await world()
  const entries: number[] = []
  for (const graceMs of [60_000, 1500, 1500]) {
    await setWalGrace(w.engine, graceMs)
    entries.push(w.engine.state.lastEntry)
  }
  expect(entries.map((entry) => entry - entries[0])).toEqual([0, 1, 1])
  await w.wal.append([{ topic: w.topic, partition: 0, batch: walBatch() }])
  await w.engine.propose({ kind: 'trimPartitions', trims: [{ topic: w.topic, partition: 0, logStartOffset: 1 }] })
  expect([...w.engine.state.deletions()].map(({ dueMs }) => dueMs - w.clock.nowMs)).toEqual([1500])
})
