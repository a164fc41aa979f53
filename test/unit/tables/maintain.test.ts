import { randomUUID } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { layout, stemOf } from '../../../src/tables/iceberg/layout.ts'
import { currentSnapshot, type TopicObject } from '../../../src/tables/iceberg/table.ts'
import { FAN_IN } from '../../../src/tables/compact/policy.ts'
import { ManualClock, settle } from '../wal/harness.ts'
import { advanceUntil, bench, until, type Bench, type BenchOptions } from './harness.ts'

const opened: Bench[] = []
async function start(options: BenchOptions = {}): Promise<Bench & { readonly clock: ManualClock }> {
  const b = await bench(options)
  opened.push(b)
  return b as Bench & { readonly clock: ManualClock }
}
afterEach(async () => {
  for (const b of opened.splice(0)) await b.end()
})

const deletions = (b: Bench): string[] => [...b.engine.state.deletions()].map((one) => one.key)

describe('expiry', () => {
  it('drops snapshots of a quiet table once their files are gone, and keeps what a tag names', async () => {
    const b = await start()
    const topic = await b.topic('t', 1, { 'table.file.grace.ms': '5000' })
    await b.produce(topic, 0, ['a'])
    const first = (await b.load(topic)).metadata['current-snapshot-id']
    await b.tables.publisher.publish(topic.topic, (table) => ({
      operation: 'none',
      added: [],
      removed: [],
      converted: [],
      dataTimeMs: table.dataTimeMs,
      edit: (metadata) => ({ ...metadata, refs: { ...metadata.refs, v1: { 'snapshot-id': first, type: 'tag' } } }),
    }))
    for (let n = 1; n < FAN_IN; n++) {
      await b.produce(topic, 0, ['a'])
      await b.load(topic)
    }
    const table = b.table(topic)
    await until(() => table.fileCount === 1, 'the merge')
    await settle()
    const before = table.publication
    await advanceUntil(b.clock, 2500, () => table.publication > before, 'the expiry')
    const loaded = (await b.tables.publisher.load(table))!
    expect(loaded.metadata.snapshots.map((one) => one['snapshot-id'])).toEqual([first, loaded.metadata['current-snapshot-id']])
    // The first file is what the tag shows; the other seven are on their way out.
    expect(loaded.pinned).toHaveLength(1)
    expect(deletions(b).filter((key) => key.endsWith('.parquet'))).toHaveLength(FAN_IN - 1)
    expect(deletions(b)).not.toContain(loaded.pinned[0]!.key)
    expect(b.clock.timers).toBeLessThan(10)
  })
})

describe('table retention', () => {
  it('drops whole files that consumers cannot read any more', async () => {
    const b = await start()
    const topic = await b.topic('t', 1, { 'retention.ms': '1000', 'table.retention.ms': '1000' })
    await b.produce(topic, 0, ['old'])
    await b.load(topic)
    const table = b.table(topic)
    await b.clock.advance(10_000)
    await b.tables.retention.pass()
    expect(table.fileCount).toBe(1)
    await b.engine.propose({ kind: 'trimPartitions', trims: [{ topic: topic.topic, partition: 0, logStartOffset: 1 }] })
    await b.tables.retention.pass()
    expect(table.fileCount).toBe(0)
    const summary = currentSnapshot((await b.load(topic)).metadata)!.summary
    expect(summary).toMatchObject({ operation: 'delete', 'total-records': '0', 'deleted-records': '1' })
  })

  it('keeps rows for ever by default', async () => {
    const b = await start()
    const topic = await b.topic('t', 1, { 'retention.ms': '1000' })
    await b.produce(topic, 0, ['old'])
    await b.load(topic)
    await b.engine.propose({ kind: 'trimPartitions', trims: [{ topic: topic.topic, partition: 0, logStartOffset: 1 }] })
    await b.clock.advance(1_000_000_000)
    await b.tables.retention.pass()
    expect(b.table(topic).fileCount).toBe(1)
  })
})

describe('after a kill', () => {
  it('orphans of the dead process are found, nothing else', async () => {
    const clock = new ManualClock()
    const first = await start({ clock })
    const topic = await first.topic('t', 1)
    await first.produce(topic, 0, ['a'])
    const { metadataKey, metadata } = await first.load(topic)
    const { location } = first.table(topic)
    const orphans = [
      layout.data(location, first.engine.incarnation, randomUUID()),
      layout.metadata(location, `00001-${randomUUID()}`),
      layout.manifest(location, `00001-${randomUUID()}`, 0),
      layout.manifestList(location, `00001-${randomUUID()}`),
      layout.topic(location, `00001-${randomUUID()}`),
    ]
    const kept = [
      layout.data(location, first.engine.incarnation + 1, randomUUID()),
      layout.metadata(location, `00002-${randomUUID()}`),
      `${location}/data/${randomUUID()}.parquet`,
    ]
    for (const key of [...orphans, ...kept]) await first.store.put(key, Buffer.from('x'))
    await first.kill()
    opened.length = 0
    const second = await start({ clock, folder: first.folder, log: first.log })
    await advanceUntil(clock, 20, () => deletions(second).length >= orphans.length, 'the search for orphans')
    expect(deletions(second).toSorted()).toEqual(orphans.toSorted())
    expect(currentSnapshot(metadata)!['manifest-list']).toContain(stemOf(metadataKey))
  })

  it('what was not converted is converted by the next process', async () => {
    const clock = new ManualClock()
    const first = await start({ clock })
    const topic = await first.topic('t', 1)
    await first.produce(topic, 0, ['a'])
    await first.load(topic)
    await first.produce(topic, 0, ['b'])
    await first.kill()
    opened.length = 0
    const second = await start({ clock, folder: first.folder, log: first.log })
    const again = second.engine.state.topicByName('t')!
    const loaded = await second.load(again)
    expect(currentSnapshot(loaded.metadata)!.summary).toMatchObject({ 'total-records': '2', 'frazil.offsets.0': '1-1' })
  })
})

describe('a moved folder', () => {
  it('is published anew: every path is the new one, snapshots and rows are the same', async () => {
    const clock = new ManualClock()
    const first = await start({ clock })
    const topic = await first.topic('t', 1)
    for (let n = 0; n < FAN_IN + 1; n++) {
      await first.produce(topic, 0, [`v${n}`])
      await first.load(topic)
    }
    await until(() => first.table(topic).fileCount <= 2, 'the merge')
    await first.tables.publisher.settle()
    const before = (await first.load(topic)).metadata
    await first.kill()
    opened.length = 0
    const folder = mkdtempSync(join(tmpdir(), 'frazil-moved-'))
    cpSync(first.folder, folder, { recursive: true })
    rmSync(first.folder, { recursive: true })
    const second = await start({ clock, folder, log: first.log })
    const again = second.engine.state.topicByName('t')!
    const loaded = await second.load(again)
    expect(loaded.text).not.toContain(first.folder)
    expect(loaded.metadata.location).toBe(second.store.uri(second.table(again).location))
    expect(loaded.metadata.snapshots.map((one) => one['snapshot-id'])).toEqual(before.snapshots.map((one) => one['snapshot-id']))
    expect(currentSnapshot(loaded.metadata)!.summary['total-records']).toBe(String(FAN_IN + 1))
    for (const snapshot of loaded.metadata.snapshots)
      expect(existsSync(second.store.keyOf(snapshot['manifest-list'])! && new URL(snapshot['manifest-list']))).toBe(true)
    for (const line of loaded.lines) {
      const entries = await second.tables.publisher.cache.entries(loaded.metadata, second.table(again).location, line)
      const live = entries.filter((entry) => entry.status !== 2)
      expect(entries.every((entry) => entry.file.path.startsWith(loaded.metadata.location))).toBe(true)
      expect(live.every((entry) => existsSync(new URL(entry.file.path)))).toBe(true)
    }
    await second.produce(again, 0, ['more'])
    expect(currentSnapshot((await second.load(again)).metadata)!.summary['total-records']).toBe(String(FAN_IN + 2))
  })
})

describe('the folder of a table', () => {
  it('holds what a topic is rebuilt from (T22), for the latest two publications', async () => {
    const b = await start()
    const topic = await b.topic('a.b', 2, { 'retention.ms': '5000' })
    await b.produce(topic, 1, ['a', 'b'])
    await b.load(topic)
    const table = b.table(topic)
    const object = JSON.parse(readFileSync(join(b.folder, layout.topic(table.location, stemOf(table.metadataKey))), 'utf8')) as TopicObject
    expect(object).toMatchObject({
      format: 1,
      publication: 1,
      metadataKey: table.metadataKey,
      topic: { id: topic.topicId, name: 'a.b', partitions: 2, configs: { 'retention.ms': '5000' } },
      table: { uuid: table.uuid, namespace: 'default', name: 'a_b', location: table.location },
      progress: [
        { partition: 0, logStartOffset: 0, convertedTo: 0 },
        { partition: 1, logStartOffset: 0, convertedTo: 2 },
      ],
    })
    for (let n = 0; n < 3; n++) {
      await b.produce(topic, 0, ['c'])
      await b.load(topic)
    }
    expect(deletions(b).filter((key) => key.startsWith(layout.topicPrefix(table.location)))).toHaveLength(2)
  })

  it('has a version hint that names the current metadata', async () => {
    const b = await start()
    const topic = await b.topic('t', 1)
    for (let n = 0; n < 3; n++) {
      await b.produce(topic, 0, ['c'])
      await b.load(topic)
    }
    await b.tables.publisher.settle()
    const table = b.table(topic)
    expect(readFileSync(join(b.folder, layout.hint(table.location)), 'utf8')).toBe(stemOf(table.metadataKey))
  })
})
