import { describe, expect, it } from 'vitest'
import { Errors } from '../../../protocol/errors.ts'
import { decodeSnapshot, encodeSnapshot } from '../../../src/metadata/snapshot/file.ts'
import { part } from './helpers.ts'
import { Bench } from './rooms.ts'

const id = 1000

describe('idempotent producers (KIP-98; Kafka ProducerAppendInfo)', () => {
  it('answers any of the last five batches with the original offset and append time, an older one with 45', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    for (let i = 0; i < 7; i++) bench.produce(topic, 0, { producerId: id, sequence: i * 2, count: 2, appendTimeMs: 100 + i })
    for (let i = 2; i < 7; i++) {
      const result = bench.wal(part(topic, 0, 0, { producerId: id, sequence: i * 2, count: 2, appendTimeMs: 999 })).parts[0]
      expect(result).toMatchObject({ errors: [0], baseOffsets: [i * 2], appendTimesMs: [100 + i], duplicates: [true], logStartOffset: 0 })
    }
    expect(bench.produce(topic, 0, { producerId: id, sequence: 2, count: 2 })).toEqual([[Errors.OUT_OF_ORDER_SEQUENCE_NUMBER], [-1]])
    expect(bench.state.partition(topic, 0)!.endOffset).toBe(14)
    expect(bench.state.producer(topic, 0, id)!.batches.map((b) => [b.firstSequence, b.lastSequence, b.firstOffset, b.lastOffset])).toEqual([
      [4, 5, 4, 5],
      [6, 7, 6, 7],
      [8, 9, 8, 9],
      [10, 11, 10, 11],
      [12, 13, 12, 13],
    ])
  })

  it('a duplicate is exact: same first but another last sequence is out of order', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    bench.produce(topic, 0, { producerId: id, sequence: 0, count: 5 })
    expect(bench.produce(topic, 0, { producerId: id, sequence: 0, count: 4 })).toEqual([[45], [-1]])
    expect(bench.produce(topic, 0, { producerId: id, sequence: 0, count: 6 })).toEqual([[45], [-1]])
    expect(bench.produce(topic, 0, { producerId: id, sequence: 1, count: 4 })).toEqual([[45], [-1]])
  })

  it('the duplicate check comes first, even where the sequence is also the next one', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    // Together these two span all sequences, so that what comes next is what came first.
    bench.produce(topic, 0, { producerId: id, sequence: 0, count: 0x7fffffff })
    bench.produce(topic, 0, { producerId: id, sequence: 0x7fffffff, count: 1 })
    const repeated = bench.wal(part(topic, 0, 0, { producerId: id, sequence: 0, count: 0x7fffffff })).parts[0]
    expect(repeated).toMatchObject({ baseOffsets: [0], duplicates: [true] })
    expect(bench.produce(topic, 0, { producerId: id, sequence: 0, count: 7 })).toEqual([[0], [0x80000000]])
  })

  it('epochs: a lower one is 47, a higher one begins at 0 and forgets the window', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    bench.produce(topic, 0, { producerId: id, epoch: 3, sequence: 0 })
    bench.produce(topic, 0, { producerId: id, epoch: 3, sequence: 1 })
    expect(bench.produce(topic, 0, { producerId: id, epoch: 2, sequence: 0 })).toEqual([[Errors.INVALID_PRODUCER_EPOCH], [-1]])
    expect(bench.produce(topic, 0, { producerId: id, epoch: 4, sequence: 2 })).toEqual([[45], [-1]])
    expect(bench.produce(topic, 0, { producerId: id, epoch: 4, sequence: 0 })).toEqual([[0], [2]])
    // Sequence 1 of epoch 3 is no duplicate any more, it is what comes next.
    expect(bench.produce(topic, 0, { producerId: id, epoch: 4, sequence: 1 })).toEqual([[0], [3]])
    expect(bench.produce(topic, 0, { producerId: id, epoch: 3, sequence: 1 })).toEqual([[47], [-1]])
  })

  it('an unknown producer begins anywhere, also after it was expired', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    expect(bench.produce(topic, 0, { producerId: id, sequence: 77 })).toEqual([[0], [0]])
    const [expired] = bench.state.expiredProducers(Infinity, 10)
    expect(expired).toEqual({ topic, partition: 0, producerId: id, lastOffset: 0 })
    bench.produce(topic, 0, { producerId: id, sequence: 78 })
    bench.apply({ kind: 'expireProducers', items: [expired] })
    expect(bench.state.producer(topic, 0, id)).not.toBe(null)
    bench.apply({ kind: 'expireProducers', items: [...bench.state.expiredProducers(Infinity, 10)] })
    expect(bench.state.producer(topic, 0, id)).toBe(null)
    expect(bench.produce(topic, 0, { producerId: id, sequence: 5 })).toEqual([[0], [2]])
  })

  it('sequences wrap from 2^31-1 to 0, inside a batch and between batches (C3)', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    expect(bench.produce(topic, 0, { producerId: id, sequence: 2147483646, count: 3 })).toEqual([[0], [0]])
    expect(bench.produce(topic, 0, { producerId: id, sequence: 1, count: 2 })).toEqual([[0], [3]])
    expect(bench.produce(topic, 0, { producerId: id, sequence: 2147483646, count: 3 })).toEqual([[0], [0]])
    expect(bench.state.producer(topic, 0, id)!.batches.map((b) => [b.firstSequence, b.lastSequence])).toEqual([
      [2147483646, 0],
      [1, 2],
    ])
    expect(bench.produce(topic, 0, { producerId: id + 1, sequence: 2147483640, count: 8 })).toEqual([[0], [5]])
    expect(bench.produce(topic, 0, { producerId: id + 1, sequence: 0 })).toEqual([[0], [13]])
  })

  it('a refused batch leaves no gap: those of the producer behind it fail, others do not', () => {
    const bench = new Bench()
    const topic = bench.topic('a', 2)
    const other = { producerId: id + 1 }
    const { parts } = bench.wal(
      part(
        topic,
        0,
        0,
        { producerId: id, sequence: 0 },
        { ...other, sequence: 0, bytes: 30 },
        { producerId: id, sequence: 2 },
        { producerId: id, sequence: 3 },
        { ...other, sequence: 1, bytes: 40 },
        { producerId: id, sequence: 1, bytes: 50 },
      ),
      part(topic, 1, 600, { producerId: id, sequence: 9 }),
    )
    expect(parts[0].errors).toEqual([0, 0, 45, 45, 0, 0])
    expect(parts[0].baseOffsets).toEqual([0, 1, -1, -1, 2, 3])
    expect(parts[1].errors).toEqual([0])
    // One extent a partition and object, split around what was refused.
    expect(bench.extents(topic)).toEqual(['wal:0-1@1+0', 'wal:2-3@1+330'])
    expect(bench.state.walObject(1)).toMatchObject({ sizeBytes: 700, liveBytes: 320 })
  })

  it('a late original after its repetition is the duplicate, within one object too', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    const { parts } = bench.wal(part(topic, 0, 0, { producerId: id, sequence: 0, count: 3 }, { producerId: id, sequence: 0, count: 3 }))
    expect(parts[0]).toMatchObject({ baseOffsets: [0, 0], duplicates: [false, true] })
    expect(bench.extents(topic)).toEqual(['wal:0-2@1+0'])
  })

  it('the window survives a snapshot, conversion and retention; the third last batch is still known (C4)', () => {
    const before = new Bench()
    const topic = before.topic('a')
    for (let i = 0; i < 6; i++) before.produce(topic, 0, { producerId: id, sequence: i * 3, count: 3 })
    before.commitTable(topic, { converted: [{ partition: 0, firstOffset: 0, lastOffset: 17 }], added: [] })
    before.apply({ kind: 'trimPartitions', trims: [{ topic, partition: 0, logStartOffset: 18 }] })
    const bench = new Bench(decodeSnapshot(before.rooms.lastEntry, encodeSnapshot(before.rooms)), before.nowMs)
    const result = bench.wal(part(topic, 0, 0, { producerId: id, sequence: 9, count: 3 })).parts[0]
    expect(result).toMatchObject({ errors: [0], baseOffsets: [9], duplicates: [true], logStartOffset: 18 })
    expect(bench.produce(topic, 0, { producerId: id, sequence: 18, count: 3 })).toEqual([[0], [18]])
  })

  it('the end of the log is that of the last record: no phantom offset (B5)', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    for (let i = 0; i < 40; i++) bench.produce(topic, 0, { producerId: id, sequence: i })
    const again = new Bench(decodeSnapshot(bench.rooms.lastEntry, encodeSnapshot(bench.rooms)), bench.nowMs)
    for (const { state } of [bench, again]) {
      expect(state.partition(topic, 0)!.endOffset).toBe(40)
      expect([...state.extents(topic, 0, 0)].at(-1)!.lastOffset).toBe(39)
    }
  })

  it('at the cap of a partition new producers get a retriable error, known ones go on', () => {
    const bench = new Bench()
    const topic = bench.topic('a', 2)
    bench.apply({ kind: 'alterConfigs', target: { broker: '' }, set: { 'producers.per.partition.max': '2' }, remove: [] })
    const { parts } = bench.wal(
      part(topic, 0, 0, { producerId: 1, sequence: 0 }, { producerId: 2, sequence: 0 }, { producerId: 3, sequence: 0 }, {}),
    )
    expect(parts[0].errors).toEqual([0, 0, Errors.NOT_ENOUGH_REPLICAS, 0])
    expect(bench.produce(topic, 0, { producerId: 1, sequence: 1 })[0]).toEqual([0])
    expect(bench.produce(topic, 1, { producerId: 3, sequence: 0 })[0]).toEqual([0])
    bench.apply({ kind: 'expireProducers', items: [{ topic, partition: 0, producerId: 2, lastOffset: 1 }] })
    expect(bench.produce(topic, 0, { producerId: 3, sequence: 0 })[0]).toEqual([0])
  })

  it('many producers come and go without being mixed up', () => {
    const bench = new Bench()
    const topic = bench.topic('a', 3)
    const ids = Array.from({ length: 500 }, (_, i) => i * 4294967296 + (i % 7))
    for (const partition of [0, 1, 2]) bench.produce(topic, partition, ...ids.map((producerId) => ({ producerId, sequence: partition })))
    const gone = ids.filter((_, i) => i % 3 === 0)
    bench.apply({
      kind: 'expireProducers',
      items: gone.map((producerId) => ({ topic, partition: 1, producerId, lastOffset: ids.indexOf(producerId) })),
    })
    const known = (partition: number): number[] => ids.filter((producerId) => bench.state.producer(topic, partition, producerId) !== null)
    expect(known(0)).toEqual(ids)
    expect(known(1)).toEqual(ids.filter((_, i) => i % 3 !== 0))
    expect(bench.rooms.producerRows.count).toBe(1500 - gone.length)
    bench.apply({ kind: 'deleteTopic', topic, keepTableAs: '', graceMs: 0 })
    expect(bench.rooms.producerRows.count).toBe(0)
  })
})
