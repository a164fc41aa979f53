import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/log.ts'
import { SUPPORTED_LEVEL } from '../../../src/metadata/apply/pods.ts'
import { leapAhead, settleCopy } from '../../../src/metadata/logs/storeCopy.ts'
import { StoreLog } from '../../../src/metadata/logs/storeLog.ts'
import { decodeSnapshot, encodeSnapshot } from '../../../src/metadata/snapshot/file.ts'
import { State } from '../../../src/metadata/state/state.ts'
import { openTimeline } from '../../../src/metadata/timeline.ts'
import { MemoryStore } from '../../../src/storage/memory.ts'
import type { ObjectStore } from '../../../src/storage/store.ts'
import { keys } from '../storage/suite.ts'
import { commit, createTopic, FakeClock, open, part, testRandom } from './helpers.ts'
import { Bench } from './rooms.ts'

const HOUR = 3_600_000

/** As `cp -r`: object by object. */
async function copy(from: ObjectStore, leaveOut: (key: string) => boolean = () => false): Promise<MemoryStore> {
  const to = new MemoryStore()
  for (const key of await keys(from, '')) if (!leaveOut(key)) await to.put(key, (await from.get(key)).body)
  return to
}

async function restore(store: ObjectStore): Promise<State> {
  await settleCopy(store)
  const log = new StoreLog({ store })
  await log.open()
  const { rooms } = await openTimeline({ log, clock: new FakeClock(), logger: silentLogger, random: testRandom, watchMs: 1 })
  await leapAhead(store, rooms)
  await log.close()
  return new State(rooms)
}

const openOn = (store: ObjectStore) =>
  open(new StoreLog({ store, retentionMs: 0 }), {
    level: SUPPORTED_LEVEL,
    fenceOlder: false,
    snapshots: { pauseMs: HOUR },
    onStop: () => undefined,
  })

describe('holds (L9)', () => {
  it('last as long as the last of them, are prolonged and ended by name, and are in a snapshot while they last', () => {
    const bench = new Bench(undefined, undefined, SUPPORTED_LEVEL)
    const without = encodeSnapshot(bench.rooms)
    expect(Buffer.from(without).includes('nightly')).toBe(false)
    expect(bench.apply({ kind: 'holdDeletions', name: 'nightly', forMs: HOUR })).toEqual({ kind: 'ok' })
    const untilMs = bench.state.lastTimeMs + HOUR
    expect(bench.state.isHeld(0)).toBe(true)
    // a clock that is ahead of the entries ends nothing, and one that is behind neither
    expect(bench.state.isHeld(untilMs + HOUR)).toBe(true)
    bench.apply({ kind: 'allocateProducerIds', count: 1 }, { timeMs: untilMs })
    expect(bench.state.isHeld(untilMs - 1)).toBe(true)
    expect(bench.state.isHeld(untilMs)).toBe(false)
    bench.apply({ kind: 'holdDeletions', name: 'nightly', forMs: 10 * HOUR })
    bench.apply({ kind: 'holdDeletions', name: 'other', forMs: HOUR })
    const again = new State(decodeSnapshot(bench.rooms.lastEntry, encodeSnapshot(bench.rooms)))
    expect([...again.holds()].sort()).toEqual([...bench.state.holds()].sort())
    bench.apply({ kind: 'holdDeletions', name: 'nightly', forMs: 0 })
    expect([...bench.state.holds().keys()]).toEqual(['other'])
    for (const [name, forMs] of [
      ['', 1],
      ['n'.repeat(101), 1],
      ['n', 31 * 24 * HOUR],
    ] as const)
      expect(bench.apply({ kind: 'holdDeletions', name, forMs })).toMatchObject({ kind: 'refused' })
    expect([...bench.state.holds().keys()]).toEqual(['other'])
  })

  it('a forgotten one leaves the state when the next is asked for, and they are bounded', () => {
    const bench = new Bench(undefined, undefined, SUPPORTED_LEVEL)
    for (let i = 0; i < 100; i++) bench.apply({ kind: 'holdDeletions', name: `h${i}`, forMs: HOUR })
    expect(bench.apply({ kind: 'holdDeletions', name: 'one more', forMs: HOUR })).toMatchObject({ kind: 'refused' })
    bench.apply({ kind: 'allocateProducerIds', count: 1 }, { timeMs: bench.state.lastTimeMs + 2 * HOUR })
    bench.apply({ kind: 'holdDeletions', name: 'one more', forMs: HOUR }, { timeMs: bench.state.lastTimeMs })
    expect([...bench.state.holds().keys()]).toEqual(['one more'])
  })

  it('keep the entries and snapshots that a copy needs', async () => {
    const store = new MemoryStore()
    const engine = await openOn(store)
    await engine.propose({ kind: 'holdDeletions', name: 'h', forMs: HOUR })
    for (let i = 0; i < 3; i++) {
      await engine.propose({ kind: 'allocateProducerIds', count: 1 })
      await engine.snapshot()
    }
    expect((await keys(store, 'meta/snapshots/')).length).toBe(3)
    expect((await keys(store, 'meta/entries/')).length).toBe(engine.state.lastEntry)
    await engine.close()
  })
})

describe('incarnations that were fenced long ago', () => {
  it('leave the state; whoever carries their number is refused and counts as dead; the living stay', () => {
    const bench = new Bench(undefined, undefined, SUPPORTED_LEVEL)
    const register = (nonce: number) =>
      bench.apply({ kind: 'registerIncarnation', pod: 'pod-b', nonce: Buffer.alloc(16, nonce), level: SUPPORTED_LEVEL, fenceOlder: true })
    register(2)
    register(3)
    expect([...bench.state.fencedIncarnations()]).toEqual([2])
    expect(bench.state.isGone(2)).toBe(true)
    expect(bench.apply({ kind: 'forgetIncarnations', incarnations: [1, 2, 3, 9] })).toEqual({ kind: 'ok' })
    expect(bench.state.incarnation(2)).toBe(null)
    expect([1, 2, 3, 4].map((incarnation) => bench.state.isGone(incarnation))).toEqual([false, true, false, false])
    const late = bench.apply({ kind: 'allocateProducerIds', count: 1 }, { incarnation: 2, sequence: 1 })
    expect(late).toMatchObject({ kind: 'refused' })
    expect(bench.state.isGone(2)).toBe(true)
    // a snapshot holds as much, and numbers are never used again
    const again = new Bench(decodeSnapshot(bench.rooms.lastEntry, encodeSnapshot(bench.rooms)), bench.nowMs)
    expect(again.apply({ kind: 'registerIncarnation', pod: 'c', nonce: Buffer.alloc(16, 4), level: 3, fenceOlder: false })).toMatchObject({
      incarnation: 4,
    })
    expect([...again.state.pods()].map(({ name, nodeId }) => `${name} ${nodeId}`)).toEqual(['pod-a 0', 'pod-b 1', 'c 2'])
  })
})

describe('a timeline (L9)', () => {
  it('raises epochs where partitions end, fences all, gives out other numbers and another cluster id', async () => {
    const store = new MemoryStore()
    const engine = await openOn(store)
    const topic = await createTopic(engine, 'a', 3)
    await commit(engine, part(topic, 0, 0, { count: 7 }), part(topic, 2, 100, { count: 1 }))
    const { clusterId, lastEntry } = engine.state
    const { nextProducerId } = engine.state.rooms
    const state = await restore(await copy(store))
    expect(state.timeline).toBe(1)
    expect(state.clusterId).not.toBe(clusterId)
    expect(state.partition(topic, 0)!.epochs).toEqual([
      { epoch: 0, startOffset: 0 },
      { epoch: 1, startOffset: 7 },
    ])
    expect(state.partition(topic, 1)!.epochs).toEqual([{ epoch: 1, startOffset: 0 }])
    expect([...state.livePods()]).toEqual([])
    expect(state.rooms.nextProducerId).toBeGreaterThan(nextProducerId + 1e8)
    expect(state.lastEntry).toBeGreaterThan(lastEntry + 1e8)
    await engine.close()
  })

  it('a pod of the other history that writes to the copy, however far it had come, changes nothing there and stops', async () => {
    for (const ahead of [0, 5]) {
      const old = new MemoryStore()
      let place: ObjectStore = old
      const moved = new Proxy({} as ObjectStore, { get: (_, name: keyof ObjectStore) => (place[name] as () => unknown).bind(place) })
      const engine = await openOn(moved)
      const topic = await createTopic(engine, 'a')
      await commit(engine, part(topic, 0, 0, { count: 3 }))
      const copied = await copy(old)
      const state = await restore(copied)
      for (let i = 0; i < ahead; i++) await commit(engine, part(topic, 0, 0, { count: 1 }))
      const fresh = await openOn(copied)
      // as after a restore in place under a pod that slept meanwhile
      place = copied
      await commit(engine, part(topic, 0, 0, { count: 100 })).catch(() => undefined)
      await fresh.propose({ kind: 'allocateProducerIds', count: 1 })
      await fresh.barrier()
      expect(fresh.state.partition(topic, 0)!.endOffset).toBe(3)
      expect(fresh.state.partition(topic, 0)!.leaderEpoch).toBe(1)
      expect(fresh.state.clusterId).toBe(state.clusterId)
      const again = await openOn(copied)
      expect(again.state.partition(topic, 0)!.endOffset).toBe(3)
      expect(again.incarnation).toBe(fresh.incarnation + 1)
      await Promise.all([engine.close(), fresh.close(), again.close()])
    }
  })

  it('a copy whose end has holes ends before them, and goes on from there', async () => {
    const store = new MemoryStore()
    const engine = await openOn(store)
    const topic = await createTopic(engine, 'a')
    for (let i = 0; i < 6; i++) await commit(engine, part(topic, 0, 0, {}))
    const last = engine.state.lastEntry
    await engine.snapshot()
    const cases: readonly (readonly [missing: number, snapshots: boolean, records: number])[] = [
      [last - 3, false, 2],
      // what a snapshot holds is there, whatever lies below it
      [last - 3, true, 6],
      [last, true, 5],
      [last + 1, false, 6],
    ]
    for (const [missing, snapshots, records] of cases) {
      const name = String(missing).padStart(20, '0')
      const copied = await copy(store, (key) => key.endsWith(name) || (!snapshots && key.endsWith('.snap')))
      const state = await restore(copied)
      expect(state.partition(topic, 0)!.endOffset).toBe(records)
      const fresh = await openOn(copied)
      await commit(fresh, part(topic, 0, 0, {}))
      expect(fresh.state.partition(topic, 0)!.endOffset).toBe(records + 1)
      await fresh.close()
    }
    await engine.close()
  })

  it('says what is wrong: nothing there, no base, a pod that writes', async () => {
    const empty = new MemoryStore()
    await expect(restore(empty)).rejects.toThrow(/no snapshot|nothing to restore/)
    const store = new MemoryStore()
    const engine = await openOn(store)
    await createTopic(engine, 'a')
    const baseless = await copy(store, (key) => key.endsWith('01'))
    await expect(restore(baseless)).rejects.toThrow('copy meta/ again')
    const log = new StoreLog({ store })
    await log.open()
    class Writing extends FakeClock {
      override async sleep(): Promise<void> {
        await engine.propose({ kind: 'allocateProducerIds', count: 1 })
      }
    }
    const opening = openTimeline({ log, clock: new Writing(), logger: silentLogger, random: testRandom, watchMs: 1 })
    await expect(opening).rejects.toThrow('stop all pods')
    await engine.propose({ kind: 'allocateProducerIds', count: 1 })
    expect(engine.state.timeline).toBe(0)
    await engine.close()
  })

  it('cannot be proposed by a pod', async () => {
    const store = new MemoryStore()
    const engine = await openOn(store)
    const lastEntry = engine.state.lastEntry + 50
    await engine.propose({ kind: 'openTimeline', lastEntry, nonce: Buffer.alloc(16) })
    expect(engine.state.timeline).toBe(0)
    await engine.close()
  })
})
