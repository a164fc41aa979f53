import { describe, expect, it } from 'vitest'
import { Errors } from '../../../protocol/errors.ts'
import { part } from './helpers.ts'
import { Bench } from './rooms.ts'

describe('CommitWal', () => {
  it('gives offsets over int32 apart and keeps both ranges (E4)', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    const step = 0x7fffffff
    expect(bench.produce(topic, 0, { count: step }, { count: step }, { count: 10 })).toEqual([
      [0, 0, 0],
      [0, step, 2 * step],
    ])
    expect(bench.extents(topic)).toEqual([`wal:0-${2 * step + 9}@1+0`])
    expect(bench.produce(topic, 0, { count: 1 })).toEqual([[0], [2 * step + 10]])
    bench.apply({ kind: 'trimPartitions', trims: [{ topic, partition: 0, logStartOffset: 2 * step + 10 }] })
    expect(bench.extents(topic)).toEqual([`wal:${2 * step + 10}-${2 * step + 10}@2+0`])
  })

  it('unknown topics and partitions fail alone', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    const { parts } = bench.wal(part(topic, 0, 0, {}), part(topic, 1, 100, {}, {}), part(99, 0, 300, {}))
    expect(parts.map((p) => p.errors)).toEqual([[0], [3, 3], [3]])
    expect(bench.state.walObject(1)).toMatchObject({ liveBytes: 100, sizeBytes: 400 })
  })

  it('an object of which nothing was accepted holds nothing and is queued for deletion', () => {
    const bench = new Bench()
    expect(bench.wal(part(99, 0, 0, {})).object).toBe(-1)
    expect([...bench.state.walObjects()]).toEqual([])
    expect([...bench.state.deletions()].map((d) => [d.key, d.dueMs])).toEqual([['wal/1', bench.nowMs]])
  })

  it('WAL sequences rise (L2, L13), a key is used once, columns and places must fit', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    bench.produce(topic, 0, {})
    const base = { kind: 'commitWal', key: 'wal/x', sizeBytes: 100, walSequence: 9, parts: [part(topic, 0, 0, {})] } as const
    const reason = (more: object, options?: object): string => {
      const result = bench.apply({ ...base, ...more }, options)
      return result.kind === 'refused' ? result.reason : result.kind
    }
    expect(reason({ walSequence: 1 })).toContain('not above 1')
    expect(reason({ key: 'wal/1' })).toContain('used before')
    expect(reason({ sizeBytes: 99 })).toContain('beyond its object')
    expect(reason({ sizeBytes: 0xfffffff1 })).toContain('too large')
    expect(reason({ parts: [{ ...part(topic, 0, 0, {}), offsetCounts: [1, 2] }] })).toContain('differ in length')
    expect(reason({ parts: [part(topic, 0, 0, { count: 0 })] })).toContain('without bytes or records')
    expect(reason({ parts: [part(topic, 0, 0, { producerId: 5 })] })).toContain('without epoch or sequence')
    expect(reason({ key: '' })).toContain('does not carry')
    expect(reason({ key: '' }, { attachmentBytes: 150, attachmentOffset: 51 })).toContain('does not carry')
    expect(reason({ key: '' }, { attachmentBytes: 150, attachmentOffset: 50 })).toBe('wal')
    expect(bench.state.partition(topic, 0)!.endOffset).toBe(2)
  })

  it('commits of a fenced incarnation are refused, those of its follower are not (L13)', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    bench.apply({ kind: 'registerIncarnation', pod: 'pod-a', nonce: Buffer.alloc(16, 2), level: 1, fenceOlder: true })
    const command = { kind: 'commitWal', key: 'wal/9', sizeBytes: 100, walSequence: 9, parts: [part(topic, 0, 0, {})] } as const
    expect(bench.apply(command)).toMatchObject({ kind: 'refused', error: Errors.STALE_BROKER_EPOCH })
    expect(bench.apply({ ...command, walSequence: 1 }, { incarnation: 2 }).kind).toBe('wal')
  })

  it('sizes, times and counters of a topic follow its extents', () => {
    const bench = new Bench()
    const topic = bench.topic('a', 2)
    bench.produce(topic, 0, { count: 3, maxTimestampMs: 500 }, { count: 2, maxTimestampMs: 900 })
    const firstMs = bench.nowMs
    bench.produce(topic, 1, { count: 4, maxTimestampMs: 100 })
    bench.produce(topic, 0, { count: 1, maxTimestampMs: 200 })
    const { state } = bench
    expect([state.unconvertedBytes(topic), state.unconvertedRecords(topic), state.oldestUnconvertedMs(topic)]).toEqual([400, 10, firstMs])
    expect(state.partition(topic, 0)).toMatchObject({
      logStartOffset: 0,
      endOffset: 6,
      sizeBytes: 300,
      leaderEpoch: 0,
      epochs: [{ epoch: 0, startOffset: 0 }],
    })
    expect(state.extentAt(topic, 0, 4)!.firstOffset).toBe(0)
    expect(state.extentAt(topic, 0, 5)!.firstOffset).toBe(5)
    expect(state.extentAt(topic, 0, 6)).toBe(null)
    expect(state.extentByTime(topic, 0, 0, 600)!.firstOffset).toBe(0)
    expect(state.extentByTime(topic, 0, 5, 150)!.firstOffset).toBe(5)
    expect(state.extentByTime(topic, 0, 0, 901)).toBe(null)
    expect(state.extentOfMaxTimestamp(topic, 0)!.firstOffset).toBe(0)
    expect([state.partition(topic, 2), state.partition(99, 0), state.extentAt(99, 0, 0)]).toEqual([null, null, null])
    expect(state.oldestUnconvertedMs(99)).toBe(-1)
  })
})

describe('trims', () => {
  it('drop what lies wholly below, never go back, and refuse what is above the end, each alone', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    for (let i = 0; i < 3; i++) bench.produce(topic, 0, { count: 10 })
    const trim = (...offsets: number[]) =>
      bench.apply({ kind: 'trimPartitions', trims: offsets.map((logStartOffset) => ({ topic, partition: 0, logStartOffset })) })
    expect(trim(15, 5, 31)).toEqual({ kind: 'trimmed', logStartOffsets: [15, 15, -1] })
    expect(bench.extents(topic)).toEqual(['wal:10-19@2+0', 'wal:20-29@3+0'])
    expect(bench.state.firstUnconverted(topic, 0)).toBe(15)
    expect([...bench.state.deletions()].map((d) => [d.key, d.dueMs])).toEqual([['wal/1', bench.nowMs + 60_000]])
    expect(trim(30)).toEqual({ kind: 'trimmed', logStartOffsets: [30] })
    expect([bench.extents(topic), bench.state.partition(topic, 0)!.endOffset, bench.state.firstUnconverted(topic, 0)]).toEqual([[], 30, 30])
    expect(bench.produce(topic, 0, {})).toEqual([[0], [30]])
  })

  it('the grace of a WAL object is a cluster-wide config', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    bench.produce(topic, 0, {})
    bench.apply({ kind: 'alterConfigs', target: { broker: '' }, set: { 'wal.grace.ms': '7' }, remove: [] })
    bench.apply({ kind: 'trimPartitions', trims: [{ topic, partition: 0, logStartOffset: 1 }] })
    expect([...bench.state.deletions()][0].dueMs).toBe(bench.nowMs + 7)
  })
})

describe('MoveExtents (L14)', () => {
  it('moves whole ranges to a segment; neighbours of one object become one extent', () => {
    const bench = new Bench()
    const topic = bench.topic('a', 2)
    // Offsets 0-1 and 2-3 with a refused batch between them, then another object.
    bench.wal(
      part(topic, 0, 0, { count: 2, producerId: 1, sequence: 0 }, { producerId: 1, sequence: 9 }, { count: 2, maxTimestampMs: 77_000 }),
      part(topic, 1, 300, {}),
    )
    bench.produce(topic, 0, { count: 5 })
    const move = (more: object = {}, object: object = {}) =>
      bench.apply({
        kind: 'moveExtents',
        objects: [{ key: 'seg', sizeBytes: 200, walSequence: bench.nextWalSequence(), ...object }],
        moves: [{ topic, partition: 0, firstOffset: 0, lastOffset: 3, fromObject: 1, to: 0, byteOffset: 0, ...more }],
      })
    const refusals: object[] = [
      { lastOffset: 2 },
      { firstOffset: 1 },
      { lastOffset: 8 },
      { fromObject: 2 },
      { byteOffset: 1 },
      { to: 1 },
      { topic: 9 },
      { firstOffset: 20, lastOffset: 30 },
    ]
    for (const more of refusals) expect(move(more)).toMatchObject({ kind: 'refused' })
    for (const more of [{ key: 'wal/1' }, { key: '' }, { walSequence: 1 }]) expect(move({}, more)).toMatchObject({ kind: 'refused' })
    expect(bench.extents(topic)).toEqual(['wal:0-1@1+0', 'wal:2-3@1+200', 'wal:4-8@2+0'])
    expect(move()).toEqual({ kind: 'ok' })
    expect(bench.extents(topic)).toEqual(['wal:0-3@3+0', 'wal:4-8@2+0'])
    expect(bench.state.extentAt(topic, 0, 0)).toMatchObject({ sizeBytes: 200, maxTimestampMs: 77_000 })
    expect(bench.state.walObject(3)).toMatchObject({ key: 'seg', segment: true, liveBytes: 200 })
    expect(bench.state.walObject(1)).toMatchObject({ liveBytes: 100 })
    // The same again, behind it, and one range twice.
    expect(move()).toMatchObject({ kind: 'refused' })
    const twice = { topic, partition: 1, firstOffset: 0, lastOffset: 0, fromObject: 1, to: 0, byteOffset: 0 }
    const objects = [{ key: 'seg2', sizeBytes: 200, walSequence: bench.nextWalSequence() }]
    expect(bench.apply({ kind: 'moveExtents', objects, moves: [twice, { ...twice, byteOffset: 100 }] })).toMatchObject({ kind: 'refused' })
    expect(bench.apply({ kind: 'moveExtents', objects, moves: [twice] })).toEqual({ kind: 'ok' })
    expect(bench.state.walObject(1)).toBe(null)
    expect([...bench.state.deletions()].map((d) => d.key)).toEqual(['wal/1'])
  })

  it('is refused whole when any range was trimmed, converted or deleted meanwhile (E12)', () => {
    const bench = new Bench()
    const a = bench.topic('a')
    const b = bench.topic('b')
    bench.wal(part(a, 0, 0, {}), part(b, 0, 100, {}))
    bench.apply({ kind: 'deleteTopic', topic: b, keepTableAs: '', graceMs: 0 })
    const moves = [a, b].map((topic, i) => ({
      topic,
      partition: 0,
      firstOffset: 0,
      lastOffset: 0,
      fromObject: 1,
      to: 0,
      byteOffset: i * 100,
    }))
    const objects = [{ key: 'seg', sizeBytes: 200, walSequence: bench.nextWalSequence() }]
    expect(bench.apply({ kind: 'moveExtents', objects, moves })).toMatchObject({ kind: 'refused', reason: 'a topic is gone' })
    expect(bench.extents(a)).toEqual(['wal:0-0@1+0'])
    expect(bench.apply({ kind: 'moveExtents', objects, moves: moves.slice(0, 1) })).toEqual({ kind: 'ok' })
  })
})
