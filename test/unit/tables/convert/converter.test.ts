import { afterEach, describe, expect, it } from 'vitest'
import { FrazilError } from '../../../../src/base/errors.ts'
import type { Metadata } from '../../../../src/metadata/port.ts'
import { encode, merge } from '../../../../src/tables/convert/files.ts'
import { currentSnapshot } from '../../../../src/tables/iceberg/table.ts'
import { ManualClock, settle } from '../../wal/harness.ts'
import { advanceUntil, bench, until, type Bench, type BenchOptions } from '../harness.ts'

let open: Bench | null = null
async function start(options: BenchOptions = {}): Promise<Bench & { readonly clock: ManualClock }> {
  open = await bench(options)
  return open as Bench & { readonly clock: ManualClock }
}
afterEach(async () => {
  await open?.end()
  open = null
})

describe('conversion', () => {
  it('by a load: every record acknowledged before is in the table, offsets in the summary', async () => {
    const b = await start()
    const topic = await b.topic('t', 2)
    await b.produce(topic, 0, ['a', 'b'])
    await b.produce(topic, 1, ['c'])
    const loaded = await b.load(topic)
    const snapshot = currentSnapshot(loaded.metadata)!
    expect(snapshot.summary).toMatchObject({
      'total-records': '3',
      'frazil.offsets.0': '0-1',
      'frazil.offsets.1': '0-0',
      operation: 'append',
    })
    expect(snapshot['timestamp-ms']).toBe(b.engine.state.extentAt(topic.topic, 0, 0)!.commitTimeMs)
    expect(b.engine.state.unconvertedRecords(topic.topic)).toBe(0)
    expect(b.engine.state.extentAt(topic.topic, 0, 1)).toMatchObject({ kind: 'table', firstOffset: 0, lastOffset: 1 })
    expect([...b.table(topic).files()].map((file) => file.key)[0]).toMatch(
      new RegExp(`^${b.table(topic).location}/data/1-[0-9a-f-]{36}.parquet$`),
    )
  })

  it('in real threads too', async () => {
    const b = await start({ threads: true })
    const topic = await b.topic('t', 1)
    await b.produce(topic, 0, ['a', null, ''])
    expect(currentSnapshot((await b.load(topic)).metadata)!.summary['total-records']).toBe('3')
  })

  it('a load with nothing new publishes nothing', async () => {
    const b = await start()
    const topic = await b.topic('t', 1)
    await b.produce(topic, 0, ['a'])
    const first = await b.load(topic)
    expect((await b.load(topic)).metadataKey).toBe(first.metadataKey)
  })

  it('a table without a record is published by its first load', async () => {
    const b = await start()
    const topic = await b.topic('t', 3)
    const loaded = await b.load(topic)
    expect(currentSnapshot(loaded.metadata)!.summary['total-records']).toBe('0')
    expect(b.table(topic).publication).toBe(1)
  })

  it('loads at once share one flush', async () => {
    const b = await start()
    const topic = await b.topic('t', 1)
    await b.produce(topic, 0, ['a'])
    const loads = await Promise.all(Array.from({ length: 50 }, () => b.load(topic)))
    expect(new Set(loads.map((one) => one.metadataKey)).size).toBe(1)
    expect(b.table(topic).publication).toBe(1)
  })

  it('at the staleness bound, which an altered topic config moves', async () => {
    const b = await start()
    const topic = await b.topic('t', 1, { 'table.commit.interval.ms': '60000' })
    await b.produce(topic, 0, ['a'])
    for (let n = 0; n < 5; n++) await b.clock.advance(10_000)
    expect(b.table(topic).publication).toBe(0)
    await b.engine.propose({
      kind: 'alterConfigs',
      target: { topic: topic.topic },
      set: { 'table.commit.interval.ms': '1000' },
      remove: [],
    })
    await advanceUntil(b.clock, 1000, () => b.table(topic).publication === 1, 'the publication')
  })

  it('by bytes', async () => {
    const b = await start({ tables: { convertBytes: 10_000 } })
    const topic = await b.topic('t', 1)
    await b.produce(topic, 0, [Buffer.alloc(4000)])
    await settle()
    expect(b.table(topic).publication).toBe(0)
    await b.produce(topic, 0, [Buffer.alloc(7000)])
    await until(() => b.table(topic).publication === 1, 'the publication')
  })

  it('under pressure the largest topics go first, until half is left', async () => {
    const b = await start({ tables: { pressureBytes: 20_000 } })
    const small = await b.topic('small', 1)
    const large = await b.topic('large', 1)
    await b.produce(small, 0, [Buffer.alloc(3000)])
    await b.produce(large, 0, [Buffer.alloc(19_000)])
    await b.clock.advance(1000)
    await until(() => b.table(large).publication === 1, 'the publication')
    expect(b.table(small).publication).toBe(0)
  })

  it('writes several files when there is much', async () => {
    const b = await start({ tables: { fileBytes: 5000, workers: 2 } })
    const topic = await b.topic('t', 3)
    for (let n = 0; n < 9; n++) await b.produce(topic, n % 3, [Buffer.alloc(1500, n)])
    const loaded = await b.load(topic)
    expect(currentSnapshot(loaded.metadata)!.summary['total-records']).toBe('9')
    expect(b.table(topic).fileCount).toBeGreaterThan(1)
  })

  it('paused: loads answer with the lag', async () => {
    const b = await start({ tables: { paused: true } })
    const topic = await b.topic('t', 1)
    await b.produce(topic, 0, ['a', 'b'])
    expect(await b.tables.loads.flush(topic)).toMatchObject({ records: 2 })
  })

  it('one topic that fails backs off alone; loads of it end at their bound with the lag', async () => {
    let broken = true
    const b = await start({
      tables: {
        encoders: {
          encode: async (task) => {
            if (broken && task.key.includes('/bad-')) throw new FrazilError('CORRUPT', 'a bad batch')
            return encode(task, open!.store)
          },
          merge: (task) => merge(task, open!.store),
          close: async () => {},
        },
      },
    })
    const bad = await b.topic('bad', 1)
    const good = await b.topic('good', 1)
    await b.produce(bad, 0, ['x'])
    const late = b.tables.loads.flush(bad)
    await settle()
    await b.produce(good, 0, ['y'])
    expect(currentSnapshot((await b.load(good)).metadata)!.summary['total-records']).toBe('1')
    await b.clock.advance(5000)
    expect(await late).toMatchObject({ records: 1 })
    expect(await b.registry.getSingleMetricAsString('frazil_conversion_failures_total')).toContain('topic="bad"')
    broken = false
    await advanceUntil(b.clock, 1000, () => b.table(bad).publication === 1, 'the conversion that is tried again')
  })

  it('sustained, a table is flushed once in two seconds, and a load in between waits rather than misses', async () => {
    const b = await start()
    const topic = await b.topic('t', 1)
    for (let n = 0; n < 30; n++) {
      await b.produce(topic, 0, ['a'])
      await b.load(topic)
    }
    await b.produce(topic, 0, ['b'])
    const load = b.load(topic)
    await settle()
    expect(b.engine.state.unconvertedRecords(topic.topic)).toBe(1)
    await b.clock.advance(2000)
    expect(currentSnapshot((await load).metadata)!.summary['total-records']).toBe('31')
  })

  it('an unknown outcome deletes nothing; the next conversion goes on', async () => {
    let fail = false
    const b = await start({
      metadata: (inner): Metadata => ({
        state: inner.state,
        incarnation: inner.incarnation,
        nodeId: inner.nodeId,
        attachmentMaxBytes: inner.attachmentMaxBytes,
        barrier: () => inner.barrier(),
        onApplied: (listener) => inner.onApplied(listener),
        readAttachment: (...args) => inner.readAttachment(...args),
        async propose(command, attachment) {
          const result = await inner.propose(command, attachment)
          // The answer is lost after the entry was written.
          if (fail && command.kind === 'commitTable') throw new FrazilError('LOG_UNAVAILABLE', 'no answer')
          return result
        },
      }),
    })
    const topic = await b.topic('t', 1)
    await b.produce(topic, 0, ['a'])
    fail = true
    await b.tables.loads.flush(topic)
    fail = false
    expect([...b.engine.state.deletions()].filter((one) => one.key.endsWith('.parquet'))).toEqual([])
    await b.produce(topic, 0, ['b'])
    await advanceUntil(b.clock, 1000, () => b.engine.state.unconvertedRecords(topic.topic) === 0, 'the conversion')
    expect(currentSnapshot((await b.load(topic)).metadata)!.summary['total-records']).toBe('2')
  })

  it('a refused commit is staged again with the same data files', async () => {
    let meddle: (() => Promise<unknown>) | null = null
    const b = await start({
      metadata: (inner): Metadata => ({
        state: inner.state,
        incarnation: inner.incarnation,
        nodeId: inner.nodeId,
        attachmentMaxBytes: inner.attachmentMaxBytes,
        barrier: () => inner.barrier(),
        onApplied: (listener) => inner.onApplied(listener),
        readAttachment: (...args) => inner.readAttachment(...args),
        async propose(command, attachment) {
          if (command.kind === 'commitTable' && meddle !== null) {
            const first = meddle
            meddle = null
            await first()
          }
          return inner.propose(command, attachment)
        },
      }),
    })
    const topic = await b.topic('t', 1)
    await b.load(topic)
    await b.produce(topic, 0, ['a'])
    // Another writer's commit comes first: the version moves.
    meddle = () =>
      b.engine.propose({
        kind: 'commitTable',
        topic: topic.topic,
        expectedVersion: b.table(topic).version,
        metadataKey: b.table(topic).metadataKey,
        publication: b.table(topic).publication,
        snapshotId: b.table(topic).snapshotId,
        converted: [],
        added: [],
        removed: [],
        obsolete: [],
        dataTimeMs: 0,
      })
    expect(currentSnapshot((await b.load(topic)).metadata)!.summary['total-records']).toBe('1')
    const gone = [...b.engine.state.deletions()].map((one) => one.key)
    expect(gone.some((key) => key.endsWith('.metadata.json'))).toBe(true)
    expect(gone.some((key) => key.endsWith('.parquet'))).toBe(false)
  })
})
