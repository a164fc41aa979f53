import { describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../../../src/storage/store.ts'
import { Checkpoints } from '../../../../src/tables/delta/checkpoints.ts'
import { deltaLayout, readLog } from '../../../../src/tables/delta/log.ts'
import { isStopped } from '../../../../src/tables/delta/state.ts'
import { readSnapshot, readTable, snapshotIds } from '../../../../src/tables/paimon/log.ts'
import { FrazilError } from '../../../../src/base/errors.ts'
import { EntryStatus } from '../../../../src/tables/iceberg/types.ts'
import type { TopicView } from '../../../../src/metadata/view.ts'
import { advanceUntil, bench, until, type Bench } from '../harness.ts'
import { ManualClock } from '../../wal/harness.ts'

/** What a format's own log shows. */
interface Shown {
  readonly version: number
  readonly publication: number
  readonly stopped: boolean
  /** Relative paths of the files. */
  readonly files: readonly string[]
  readonly rows: number
}

const FORMATS: Readonly<Record<string, { readonly folder: string; read(b: Bench, location: string, uuid: string): Promise<Shown> }>> = {
  delta: {
    folder: '_delta_log',
    async read(b, location, uuid) {
      const state = await readLog(b.store, new Checkpoints(), location, uuid)
      const rows = [...state.live.values()].reduce((sum, row) => sum + row.rows, 0)
      return {
        version: state.version,
        publication: state.publication,
        stopped: isStopped(state),
        files: [...state.live.keys()].toSorted(),
        rows,
      }
    },
  },
  paimon: {
    folder: '_paimon',
    async read(b, location) {
      const { live, schema, schemaId, snapshot } = await readTable(b.store, location)
      const rows = [...live.values()].reduce((sum, file) => sum + file._ROW_COUNT, 0)
      expect(rows).toBe(snapshot?.totalRecordCount ?? 0)
      return {
        version: Math.max(-1, (snapshot?.id ?? 0) + schemaId - 1),
        publication: snapshot?.commitIdentifier ?? -1,
        stopped: schema?.options['frazil.stopped-at'] !== undefined,
        files: [...live.keys()].map((path) => path.slice(path.indexOf(location) + location.length + 1)).toSorted(),
        rows,
      }
    },
  },
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

async function expectSame(b: Bench, topic: TopicView, format: string): Promise<Shown> {
  const { location, uuid } = b.table(topic)
  const shown = await FORMATS[format]!.read(b, location, uuid)
  expect(shown.files).toEqual(await icebergFiles(b, topic))
  expect(shown.rows).toBe([...b.table(topic).files()].reduce((sum, file) => sum + file.rows, 0))
  return shown
}

async function deltaKinds(b: Bench, topic: TopicView, last: number): Promise<string[]> {
  const { location, uuid } = b.table(topic)
  expect((await readLog(b.store, new Checkpoints(), location, uuid)).checkpoint).toBe(9)
  const kinds: string[] = []
  for (let version = 0; version <= last; version++) {
    const { body } = await b.store.get(deltaLayout.version(location, version))
    const changes = new Set([...body.toString().matchAll(/"dataChange":(true|false)/g)].map((match) => match[1]))
    kinds.push([...changes].join() === 'true' ? 'append' : [...changes].join() === 'false' ? 'merge' : 'other')
  }
  return kinds
}

async function paimonKinds(b: Bench, topic: TopicView): Promise<string[]> {
  const { location } = b.table(topic)
  const kinds: string[] = []
  for (const id of await snapshotIds(b.store, location)) {
    const { commitKind } = await readSnapshot(b.store, location, id)
    kinds.push({ APPEND: 'append', COMPACT: 'merge', OVERWRITE: 'other' }[commitKind])
  }
  return kinds
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

describe.each(Object.keys(FORMATS))('%s beside a table', (format) => {
  const log = (b: Bench, topic: TopicView): Promise<Shown> => FORMATS[format]!.read(b, b.table(topic).location, b.table(topic).uuid)

  it('shows the files of every publication, merges apart from new rows, with checkpoints', async () => {
    const b = await bench()
    const topic = await b.topic('orders', 2, { 'table.formats': `iceberg,${format}` })
    await write(b, topic, 14)
    await b.tables.replicas.settle()
    const state = await expectSame(b, topic, format)
    expect(state.publication).toBe(b.table(topic).publication)
    const kinds = format === 'delta' ? await deltaKinds(b, topic, state.version) : await paimonKinds(b, topic)
    expect(kinds.filter((kind) => kind === 'merge')).toHaveLength(1)
    expect(kinds.filter((kind) => kind === 'append')).toHaveLength(14)
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
    await alter(`iceberg,${format}`)
    await b.tables.replicas.settle()
    expect((await expectSame(b, topic, format)).version).toBe(0)
    await alter('iceberg')
    await b.tables.replicas.settle()
    expect((await log(b, topic)).stopped).toBe(true)
    await write(b, topic, 2)
    await b.tables.replicas.settle()
    expect((await log(b, topic)).version).toBe(1)
    await alter(`${format}, iceberg`)
    await b.tables.replicas.settle()
    const state = await expectSame(b, topic, format)
    expect(state.stopped).toBe(false)
    expect(state.publication).toBe(b.table(topic).publication)
    await b.end()
  })

  it('catches up after a kill at any request, and after answers that are lost', async () => {
    // puts of the log fail at every place in a commit, before or after the store did it
    const every = format === 'delta' ? 2 : 7
    for (const after of [false, true]) {
      let puts = 0
      let failures = 0
      const failing = (inner: ObjectStore): ObjectStore =>
        new Proxy(inner, {
          get(target, name) {
            const own = Reflect.get(target, name) as unknown
            if (name !== 'putIfAbsent' && name !== 'put') return typeof own === 'function' ? own.bind(target) : own
            return async (key: string, ...rest: unknown[]) => {
              const fails = key.includes(FORMATS[format]!.folder) && ++puts % every === 1
              if (fails) failures++
              if (fails && !after) throw new FrazilError('STORE_UNAVAILABLE', 'down')
              const result = await (own as (...all: unknown[]) => Promise<unknown>).call(target, key, ...rest)
              if (fails) throw new FrazilError('STORE_UNKNOWN', 'who knows')
              return result
            }
          },
        })
      const clock = new ManualClock()
      const b = await bench({ clock, store: failing })
      const topic = await b.topic('orders', 2, { 'table.formats': `${format},iceberg` })
      for (let n = 0; n < 12; n++) await write(b, topic, 1)
      await advanceUntil(clock, 1000, () => b.table(topic).publication > 0, 'a publication')
      for (let turn = 0; turn < 200 && !(await lag(b)).endsWith(' 0'); turn++) {
        await clock.advance(1000)
        await b.tables.replicas.settle()
      }
      await b.tables.replicas.settle()
      const state = await expectSame(b, topic, format)
      expect(state.publication).toBe(b.table(topic).publication)
      expect(failures).toBeGreaterThan(5)
      await b.end()
    }
  })

  it('goes on from its own log in another process', async () => {
    const first = await bench()
    const topic = await first.topic('orders', 2, { 'table.formats': `iceberg,${format}` })
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
    expect((await expectSame(second, again, format)).version).toBe(before.version + 2)
    await second.end()
  })

  it('comes to the last publication of a table whose topic is deleted', async () => {
    const b = await bench()
    const topic = await b.topic('gone', 1, { 'table.formats': `iceberg,${format}` })
    const { location, uuid } = b.table(topic)
    await b.produce(topic, 0, ['a', 'b'])
    await b.remove(topic, 'kept')
    await until(() => b.engine.state.tableByUuid(uuid)!.topic === 0, 'the deletion')
    await b.tables.replicas.settle()
    expect((await FORMATS[format]!.read(b, location, uuid)).rows).toBe(2)
    await b.end()
  })
})
