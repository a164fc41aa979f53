import { describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../../../src/storage/store.ts'
import { Checkpoints } from '../../../../src/tables/delta/checkpoints.ts'
import { deltaLayout, readLog } from '../../../../src/tables/delta/log.ts'
import { isStopped, type DeltaState } from '../../../../src/tables/delta/state.ts'
import { FrazilError } from '../../../../src/base/errors.ts'
import { EntryStatus } from '../../../../src/tables/iceberg/types.ts'
import type { TopicView } from '../../../../src/metadata/view.ts'
import { advanceUntil, bench, until, type Bench } from '../harness.ts'
import { ManualClock } from '../../wal/harness.ts'

async function log(b: Bench, topic: TopicView): Promise<DeltaState> {
  const { location, uuid } = b.table(topic)
  return readLog(b.store, new Checkpoints(), location, uuid)
}

/** Names of the files that Iceberg's current snapshot has. */
async function icebergFiles(b: Bench, topic: TopicView): Promise<string[]> {
  const table = b.table(topic)
  const loaded = (await b.tables.publisher.load(table))!
  const names: string[] = []
  for (const line of loaded.lines)
    for (const entry of await b.tables.publisher.cache.entries(loaded.metadata, table.location, line))
      if (entry.status !== EntryStatus.deleted) names.push(entry.file.path.slice(loaded.metadata.location.length + 1))
  return names.toSorted()
}

async function expectSame(b: Bench, topic: TopicView): Promise<DeltaState> {
  const state = await log(b, topic)
  expect([...state.live.keys()].toSorted()).toEqual(await icebergFiles(b, topic))
  expect([...state.live.values()].reduce((sum, row) => sum + row.rows, 0)).toBe(
    [...b.table(topic).files()].reduce((sum, file) => sum + file.rows, 0),
  )
  return state
}

async function lag(b: Bench): Promise<string> {
  return (await b.registry.getSingleMetricAsString('frazil_table_replica_lag_publications')).split('\n').at(-1)!
}

async function write(b: Bench, topic: TopicView, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    await b.produce(topic, n % 2, [`value ${n}`, null])
    await b.load(topic)
    if (b.clock instanceof ManualClock) await b.clock.advance(3000)
  }
}

describe('a Delta log beside a table', () => {
  it('shows the files of every publication, merges apart from new rows, with checkpoints', async () => {
    const b = await bench()
    const topic = await b.topic('orders', 2, { 'table.formats': 'iceberg,delta' })
    await write(b, topic, 14)
    await b.tables.replicas.settle()
    const state = await expectSame(b, topic)
    expect(state.publication).toBe(b.table(topic).publication)
    expect(state.checkpoint).toBe(9)
    const { location } = b.table(topic)
    const kinds: string[] = []
    for (let version = 0; version <= state.version; version++) {
      const { body } = await b.store.get(deltaLayout.version(location, version))
      const changes = [...body.toString().matchAll(/"dataChange":(true|false)/g)].map((match) => match[1])
      kinds.push([...new Set(changes)].join())
    }
    expect(kinds.filter((kind) => kind === 'false').length).toBe(1)
    expect(kinds.every((kind) => kind === 'true' || kind === 'false')).toBe(true)
    expect(await lag(b)).toContain('} 0')
    await b.end()
  })

  it('is published whole when switched on late, ends cleanly when switched off, and goes on', async () => {
    const b = await bench()
    const topic = await b.topic('late')
    await write(b, topic, 3)
    expect((await log(b, topic)).version).toBe(-1)
    const alter = (formats: string): Promise<unknown> =>
      b.engine.propose({ kind: 'alterConfigs', target: { topic: topic.topic }, set: { 'table.formats': formats }, remove: [] })
    await alter('iceberg,delta')
    await b.tables.replicas.settle()
    expect((await expectSame(b, topic)).version).toBe(0)
    await alter('iceberg')
    await b.tables.replicas.settle()
    expect(isStopped(await log(b, topic))).toBe(true)
    await write(b, topic, 2)
    await b.tables.replicas.settle()
    expect((await log(b, topic)).version).toBe(1)
    await alter('delta, iceberg')
    await b.tables.replicas.settle()
    const state = await expectSame(b, topic)
    expect(isStopped(state)).toBe(false)
    expect(state.publication).toBe(b.table(topic).publication)
    await b.end()
  })

  it('catches up after a kill at any request, and after answers that are lost', async () => {
    // every put of the log fails once, either before or after the store did it
    for (const after of [false, true]) {
      let failures = 0
      const failing = (inner: ObjectStore): ObjectStore =>
        new Proxy(inner, {
          get(target, name) {
            const own = Reflect.get(target, name) as unknown
            if (name !== 'putIfAbsent' && name !== 'put') return typeof own === 'function' ? own.bind(target) : own
            return async (key: string, ...rest: unknown[]) => {
              const fails = key.includes('_delta_log') && ++failures % 2 === 1
              if (fails && !after) throw new FrazilError('STORE_UNAVAILABLE', 'down')
              const result = await (own as (...all: unknown[]) => Promise<unknown>).call(target, key, ...rest)
              if (fails) throw new FrazilError('STORE_UNKNOWN', 'who knows')
              return result
            }
          },
        })
      const clock = new ManualClock()
      const b = await bench({ clock, store: failing })
      const topic = await b.topic('orders', 2, { 'table.formats': 'delta,iceberg' })
      for (let n = 0; n < 12; n++) await write(b, topic, 1)
      await advanceUntil(clock, 1000, () => b.table(topic).publication > 0, 'a publication')
      for (let turn = 0; turn < 200 && !(await lag(b)).endsWith(' 0'); turn++) {
        await clock.advance(1000)
        await b.tables.replicas.settle()
      }
      await b.tables.replicas.settle()
      const state = await expectSame(b, topic)
      expect(state.publication).toBe(b.table(topic).publication)
      expect(failures).toBeGreaterThan(12)
      await b.end()
    }
  })

  it('goes on from its own log in another process', async () => {
    const first = await bench()
    const topic = await first.topic('orders', 2, { 'table.formats': 'iceberg,delta' })
    await write(first, topic, 3)
    await first.tables.replicas.settle()
    const before = await log(first, topic)
    await first.kill()
    const second = await bench({ folder: first.folder, log: first.log })
    const again = second.engine.state.topicByName('orders')!
    await second.tables.replicas.settle()
    expect((await log(second, again)).version).toBe(before.version)
    await write(second, again, 2)
    await second.tables.replicas.settle()
    expect((await expectSame(second, again)).version).toBe(before.version + 2)
    await second.end()
  })

  it('comes to the last publication of a table whose topic is deleted', async () => {
    const b = await bench()
    const topic = await b.topic('gone', 1, { 'table.formats': 'iceberg,delta' })
    const { location, uuid } = b.table(topic)
    await b.produce(topic, 0, ['a', 'b'])
    await b.remove(topic, 'kept')
    await until(() => b.engine.state.tableByUuid(uuid)!.topic === 0, 'the deletion')
    await b.tables.replicas.settle()
    const state = await readLog(b.store, new Checkpoints(), location, uuid)
    expect([...state.live.values()].reduce((sum, row) => sum + row.rows, 0)).toBe(2)
    await b.end()
  })
})
