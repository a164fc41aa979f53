import { describe, expect, it } from 'vitest'
import { FrazilError } from '../../../src/base/errors.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { seededRandom } from '../../../src/base/random.ts'
import { encodeCommand } from '../../../src/metadata/codec.ts'
import type { MetadataEngine } from '../../../src/metadata/engine.ts'
import { StoreLog } from '../../../src/metadata/logs/storeLog.ts'
import type { OpenOptions } from '../../../src/metadata/open.ts'
import type { ForwardOutcome, Forwarded } from '../../../src/metadata/relay.ts'
import { encodeSnapshot } from '../../../src/metadata/snapshot/file.ts'
import { hashRooms } from '../../../src/metadata/snapshot/hash.ts'
import { loadRooms } from '../../../src/metadata/snapshot/load.ts'
import { seededFaults } from '../../../src/storage/faults.ts'
import { MemoryStore } from '../../../src/storage/memory.ts'
import { QuickClock } from '../storage/quickClock.ts'
import { commit, createTopic, open, part } from './helpers.ts'
import { MemoryDisk, MemoryLog } from './memoryLog.ts'

const ids = { kind: 'allocateProducerIds', count: 1 } as const

async function pods(count: number): Promise<{ engines: MetadataEngine[]; logs: MemoryLog[]; disk: MemoryDisk }> {
  const disk = new MemoryDisk()
  const logs = Array.from({ length: count }, () => new MemoryLog(disk))
  const engines: MetadataEngine[] = []
  for (const [i, log] of logs.entries()) engines.push(await open(log, { pod: `pod-${i}` }))
  for (const engine of engines) await engine.barrier()
  return { engines, logs, disk }
}

/** Proposals of `from` go to `to`, entries of `to` come back, unless `lose` says otherwise. */
function connect(
  from: MetadataEngine,
  to: MetadataEngine,
  lose: { ask?: () => boolean; answer?: () => boolean; entry?: () => boolean } = {},
): void {
  to.onWritten((raw) => {
    if (lose.entry?.() !== true) from.offer(raw)
  })
  from.useRelay({
    async forward(forwarded: Forwarded): Promise<ForwardOutcome> {
      if (lose.ask?.() === true) return { kind: 'unknown' }
      const written = to.proposeForwarded(forwarded).catch(() => 0)
      if (lose.answer?.() === true) return { kind: 'unknown' }
      const entry = await written
      return entry === 0 ? { kind: 'unknown' } : { kind: 'written', entry }
    },
  })
}

const firsts = (results: readonly { kind: string }[]): number[] => results.map((result) => (result as { first?: number }).first ?? -1)

describe('forwarded proposals (L1, L21)', () => {
  it('travel through the holder, one entry for many pods, and are answered by the streamed entry without the log', async () => {
    const { engines, logs, disk } = await pods(3)
    const [holder, a, b] = engines
    connect(a, holder)
    connect(b, holder)
    const before = disk.entries.size
    logs[1].beforeRead = logs[2].beforeRead = () => {
      throw new Error('the log was read')
    }
    const results = await Promise.all(engines.flatMap((engine) => [1, 2, 3].map(() => engine.propose(ids))))
    expect(firsts(results).sort((x, y) => x - y)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    expect(disk.entries.size - before).toBeLessThan(6)
    expect([logs[1].appendedBytes.length, logs[2].appendedBytes.length]).toEqual([1, 1])
    expect(new Set(engines.map((engine) => hashRooms(engine.state.rooms).toString('hex'))).size).toBe(1)
    for (const engine of engines) await engine.close()
  })

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('apply once whatever is lost between pods (seed %i)', async (seed) => {
    const random = seededRandom(seed)
    const { engines, disk } = await pods(3)
    const rate = (share: number) => () => random() < share
    for (const engine of engines.slice(1)) connect(engine, engines[0], { ask: rate(0.2), answer: rate(0.3), entry: rate(0.3) })
    const work = async (engine: MetadataEngine): Promise<number[]> => {
      const got: number[] = []
      for (let i = 0; i < 15; i++) got.push(...firsts(await Promise.all([engine.propose(ids), engine.propose(ids)])))
      return got
    }
    const all = (await Promise.all(engines.map(work))).flat()
    expect(all.sort((x, y) => x - y)).toEqual(Array.from({ length: 90 }, (_, i) => i))
    for (const engine of engines) await engine.barrier()
    expect(engines.map((engine) => engine.state.rooms.nextProducerId)).toEqual([90, 90, 90])
    for (const engine of engines) await engine.close()
    expect((await open(new MemoryLog(disk))).state.rooms.nextProducerId).toBe(90)
  })

  it('refuses what no reader of the log could decode, and what must not be passed on', async () => {
    const { engines } = await pods(2)
    const [holder, other] = engines
    const send = (bytes: Uint8Array): Promise<number> =>
      holder.proposeForwarded({ incarnation: other.incarnation, firstSequence: 1, proposals: [bytes] })
    await expect(send(Buffer.from([0xff, 0xff]))).rejects.toMatchObject({ code: 'REFUSED' })
    await expect(send(Buffer.alloc(0))).rejects.toMatchObject({ code: 'REFUSED' })
    const register = { kind: 'registerIncarnation', pod: 'x', nonce: Buffer.alloc(16), level: 1, fenceOlder: true } as const
    await expect(send(encodeCommand(register))).rejects.toMatchObject({ code: 'REFUSED' })
    await expect(holder.proposeForwarded({ incarnation: 0, firstSequence: 1, proposals: [encodeCommand(ids)] })).rejects.toMatchObject({
      code: 'REFUSED',
    })
    expect(await send(encodeCommand(ids))).toBe(holder.state.lastEntry)
    // The same once more, as after a lost answer: nothing happens twice.
    expect(await send(encodeCommand(ids))).toBe(holder.state.lastEntry)
    expect(holder.state.rooms.nextProducerId).toBe(1)
    for (const engine of engines) await engine.close()
  })

  it('given up when the log is full, they may still turn up at the holder: their sequences are not used for anything else', async () => {
    const { engines, logs } = await pods(2)
    const [holder, a] = engines
    const held: Forwarded[] = []
    a.useRelay({
      forward(forwarded) {
        held.push(forwarded)
        return Promise.resolve({ kind: 'unknown' })
      },
    })
    logs[1].beforeAppend = () => {
      throw new FrazilError('STORE_FULL', 'planted')
    }
    await expect(a.propose({ kind: 'allocateProducerIds', count: 1000 })).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
    logs[1].beforeAppend = () => {}
    const late = held[0]
    a.useRelay(null)
    expect(firsts([await a.propose(ids)])).toEqual([0])
    await holder.proposeForwarded(late)
    expect(holder.state.rooms.nextProducerId).toBe(1)
    expect(firsts([await a.propose(ids)])).toEqual([1])
    for (const engine of engines) await engine.close()
  })
})

describe('pods over one bucket', () => {
  const openPod = (store: MemoryStore, pod: string, clock: QuickClock, more: Partial<OpenOptions> = {}): Promise<MetadataEngine> =>
    open(new StoreLog({ store, clock, tries: 50, retentionMs: 60_000 }), {
      pod,
      clock,
      snapshots: { intervalMs: 1e12, quietMs: 1e12 },
      ...more,
    })
  /** A snapshot, and truncation behind the one before. */
  const snapshot = async (store: MemoryStore, engine: MetadataEngine): Promise<void> => {
    const log = new StoreLog({ store })
    await log.open()
    const [previous] = await log.snapshots()
    await log.writeSnapshot(engine.state.lastEntry, encodeSnapshot(engine.state.rooms))
    if (previous !== undefined) await log.truncate(previous + 1)
  }

  it('follow each other by looking at the end, more rarely the longer nothing happens', async () => {
    const clock = new QuickClock()
    let gets = 0
    const store = new MemoryStore({ clock, metrics: { count: (kind) => void (gets += kind === 'get' ? 1 : 0) } })
    const poll = { activeMs: 100, idleMs: 5000, streamMs: 30_000 }
    const [a, b] = [await openPod(store, 'a', clock, { poll }), await openPod(store, 'b', clock, { poll })]
    const topic = await createTopic(a, 'orders')
    await clock.sleep(500)
    expect(b.state.topicByName('orders')).not.toBe(null)
    await clock.sleep(60_000)
    gets = 0
    await clock.sleep(600_000)
    expect(gets).toBeLessThan(2 * 130)
    b.streaming(true)
    a.streaming(true)
    await clock.sleep(60_000)
    gets = 0
    await clock.sleep(600_000)
    expect(gets).toBeLessThan(2 * 25)
    await commit(a, part(topic, 0, 0, {}))
    b.wake()
    await clock.sleep(10)
    expect(b.state.partition(topic, 0)!.endOffset).toBe(1)
    await a.close()
    await b.close()
  })

  it.each([1, 2, 3, 4, 5, 6])('write one history through lost, late and failing answers (seed %i)', async (seed) => {
    const clock = new QuickClock()
    const rates = { errorRate: 0.05, lostAnswerRate: 0.1, unknownRate: 0.05, lateRate: 0.05, lateMs: 40, delayMaxMs: 5 }
    const store = new MemoryStore({ clock, faults: seededFaults(seededRandom(seed), rates) })
    const engines: MetadataEngine[] = []
    for (const pod of ['a', 'b', 'c']) engines.push(await openPod(store, pod, clock))
    const topic = await createTopic(engines[0], 'orders')
    for (const engine of engines) await engine.barrier()
    const work = async (engine: MetadataEngine): Promise<number[]> => {
      const offsets: number[] = []
      for (let i = 0; i < 20; i++) offsets.push((await commit(engine, part(topic, 0, 0, {}))).parts[0].baseOffsets[0])
      return offsets
    }
    const all = (await Promise.all(engines.map(work))).flat()
    expect(all.sort((x, y) => x - y)).toEqual(Array.from({ length: 60 }, (_, i) => i))
    for (const engine of engines) await engine.barrier()
    expect(new Set(engines.map((engine) => hashRooms(engine.state.rooms).toString('hex'))).size).toBe(1)
    for (const engine of engines) await engine.close()
  })

  it('one that slept behind a truncation loads anew and goes on; a fenced one stops (L4, L13)', async () => {
    const clock = new QuickClock()
    const store = new MemoryStore({ clock })
    const never = { activeMs: 1e9, idleMs: 1e9, streamMs: 1e9 }
    const [a, slow] = [await openPod(store, 'a', clock, { poll: never }), await openPod(store, 'slow', clock, { poll: never })]
    const topic = await createTopic(a, 'orders')
    await slow.barrier()
    for (let i = 0; i < 10; i++) await commit(a, part(topic, 0, 0, {}))
    await snapshot(store, a)
    await clock.sleep(120_000)
    for (let i = 0; i < 10; i++) await commit(a, part(topic, 0, 0, {}))
    await snapshot(store, a)
    expect(Number((await store.get('meta/floor')).body.toString())).toBeGreaterThan(slow.state.lastEntry)
    expect((await commit(slow, part(topic, 0, 0, {}))).parts[0].baseOffsets).toEqual([20])
    await a.barrier()
    expect(hashRooms(a.state.rooms).equals(hashRooms(slow.state.rooms))).toBe(true)
    const stops: string[] = []
    const paused = await openPod(store, 'p', clock, { poll: never, onStop: (error) => stops.push(error.code) })
    await a.barrier()
    await a.propose({ kind: 'fenceIncarnation', incarnation: paused.incarnation, renewals: 0 })
    await clock.sleep(3_600_000)
    await expect(commit(paused, part(topic, 0, 0, {}))).rejects.toMatchObject({ code: 'FENCED' })
    expect(stops).toEqual(['FENCED'])
    for (const engine of [a, slow, paused]) await engine.close()
  })

  it('a proposal that landed, was truncated and whose answer was never seen is not made twice', async () => {
    const clock = new QuickClock()
    const store = new MemoryStore({ clock })
    const never = { activeMs: 1e9, idleMs: 1e9, streamMs: 1e9 }
    let answer: (() => void) | null = null
    let hold = false
    // The entry is made, and its answer comes an hour later.
    const held = Object.assign(Object.create(store) as MemoryStore, {
      async putIfAbsent(...args: Parameters<MemoryStore['putIfAbsent']>) {
        const info = await store.putIfAbsent(...args)
        if (hold) await new Promise<void>((resolve) => (answer = resolve))
        return info
      },
      get: store.get.bind(store),
      list: store.list.bind(store),
    })
    const [a, slow] = [await openPod(store, 'a', clock, { poll: never }), await openPod(held, 'slow', clock, { poll: never })]
    const topic = await createTopic(a, 'orders')
    await slow.barrier()
    hold = true
    const late = commit(slow, part(topic, 0, 0, { count: 3 })).catch((error: FrazilError) => error.code)
    await clock.sleep(100)
    hold = false
    for (let round = 0; round < 2; round++) {
      await commit(a, part(topic, 0, 0, {}))
      await snapshot(store, a)
      await clock.sleep(120_000)
    }
    await commit(a, part(topic, 0, 0, {}))
    await snapshot(store, a)
    expect(a.state.partition(topic, 0)!.endOffset).toBe(6)
    await clock.sleep(3_600_000)
    answer!()
    expect(await late).toBe('LOG_UNAVAILABLE')
    await slow.barrier()
    expect(slow.state.partition(topic, 0)!.endOffset).toBe(6)
    expect((await commit(slow, part(topic, 0, 0, {}))).parts[0].baseOffsets).toEqual([6])
    for (const engine of [a, slow]) await engine.close()
  })

  it('clocks that are off by an hour, either way: entries are written, and their time never goes back (L6)', async () => {
    const clock = new QuickClock()
    const store = new MemoryStore({ clock })
    const skewed = (offsetMs: number): QuickClock =>
      Object.assign(Object.create(clock) as QuickClock, {
        wallMs: () => clock.wallMs() + 1e12 + offsetMs,
        monotonicMs: clock.monotonicMs.bind(clock),
        timer: clock.timer.bind(clock),
        sleep: clock.sleep.bind(clock),
      })
    const engines: MetadataEngine[] = []
    for (const [pod, offsetMs] of [
      ['a', 0],
      ['slow', -3_600_000],
      ['fast', 3_600_000],
    ] as const)
      engines.push(await openPod(store, pod, skewed(offsetMs)))
    const topic = await createTopic(engines[0], 'orders')
    let lastMs = 0
    for (let i = 0; i < 12; i++) {
      const engine = engines[i % 3]
      await engine.barrier()
      expect((await commit(engine, part(topic, 0, 0, {}))).parts[0].baseOffsets).toEqual([i])
      expect(engine.state.lastTimeMs).toBeGreaterThanOrEqual(lastMs)
      lastMs = engine.state.lastTimeMs
    }
    for (const engine of engines) await engine.close()
  })

  it('a snapshot that was cut or damaged is passed over; when none is good the pod says so and writes nothing', async () => {
    const clock = new QuickClock()
    const store = new MemoryStore({ clock })
    const a = await openPod(store, 'a', clock)
    const topic = await createTopic(a, 'orders')
    for (let i = 0; i < 3; i++) {
      await commit(a, part(topic, 0, 0, {}))
      await snapshot(store, a)
    }
    const hash = hashRooms(a.state.rooms)
    await a.close()
    const keys: string[] = []
    for await (const { key } of store.list('meta/snapshots/')) keys.push(key)
    expect(keys).toHaveLength(2)
    const load = async (): Promise<Buffer> => {
      const log = new StoreLog({ store })
      await log.open()
      return hashRooms((await loadRooms(log, silentLogger)).rooms)
    }
    const { body } = await store.get(keys[1])
    await store.put(keys[1], body.subarray(0, body.length - 5))
    expect((await load()).equals(hash)).toBe(true)
    await store.put(keys[0], Buffer.from('nonsense'))
    const before = await everything(store)
    await expect(load()).rejects.toMatchObject({
      code: 'LOG_CORRUPT',
      message: expect.stringMatching(/no snapshot .*restore the latest snapshot/),
    })
    await expect(openPod(store, 'b', clock)).rejects.toMatchObject({ code: 'LOG_CORRUPT' })
    expect(await everything(store)).toEqual(before)
  })
})

async function everything(store: MemoryStore): Promise<readonly string[]> {
  const found: string[] = []
  for await (const { key, etag } of store.list('')) found.push(`${key} ${etag}`)
  return found
}
