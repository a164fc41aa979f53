import { describe, expect, it } from 'vitest'
import { Errors } from '../../../protocol/errors.ts'
import { type Result, TXN_IMPLICIT } from '../../../src/metadata/commands.ts'
import { shardOf } from '../../../src/metadata/state/shards.ts'
import { decodeSnapshot, encodeSnapshot } from '../../../src/metadata/snapshot/file.ts'
import { Rooms } from '../../../src/metadata/state/state.ts'
import { part, type TestBatch } from './helpers.ts'
import { Bench, file } from './rooms.ts'

const bench = (): Bench => new Bench(new Rooms(), undefined, 2)
const none = { producerId: -1, producerEpoch: -1 }

interface Owner {
  readonly transactionalId: string
  readonly producerId: number
  readonly producerEpoch: number
}

function taken(result: Result, transactionalId: string): Owner {
  if (result.kind !== 'transaction' || result.error !== 0) throw new Error(JSON.stringify(result))
  return { transactionalId, producerId: result.producerId, producerEpoch: result.producerEpoch }
}
const init = (b: Bench, transactionalId: string): Owner =>
  taken(b.apply({ kind: 'initTransaction', transactionalId, timeoutMs: 1000, ...none }), transactionalId)
const end = (b: Bench, owner: Owner, isCommit: boolean): Owner =>
  taken(b.apply({ kind: 'endTransaction', ...owner, isCommit, raisesEpoch: true }), owner.transactionalId)
const batch = (owner: Owner, more: TestBatch = {}): TestBatch => ({
  producerId: owner.producerId,
  epoch: owner.producerEpoch,
  sequence: 0,
  transaction: TXN_IMPLICIT,
  ...more,
})

describe('transactions in the state', () => {
  it('one entry ends partitions and group offsets together', () => {
    const b = bench()
    const topic = b.topic('a', 2)
    const { epoch: shardEpoch } = b.state.shard(shardOf('g'))
    const owner = init(b, 't')
    b.wal(part(topic, 0, 0, batch(owner, { count: 3 })), part(topic, 1, 100, batch(owner)))
    const item = { topic, partition: 0, offset: 7, leaderEpoch: -1, metadata: '', commitTimeMs: 5, expireTimeMs: -1 }
    b.apply({ kind: 'commitTransactionOffsets', ...owner, shardEpoch, groupId: 'g', items: [item], addGroup: true })
    expect(b.state.isOffsetPending('g', topic, 0)).toBe(true)
    expect(b.state.offset('g', topic, 0)).toBeNull()
    expect([0, 1].map((p) => b.state.partition(topic, p)!.lastStableOffset)).toEqual([0, 0])
    const before = b.state.lastEntry
    end(b, owner, true)
    expect(b.state.lastEntry).toBe(before + 1)
    expect([0, 1].map((p) => b.state.partition(topic, p)!.lastStableOffset)).toEqual([4, 2])
    expect(b.state.offset('g', topic, 0)).toMatchObject({ offset: 7 })
    expect(b.state.isOffsetPending('g', topic, 0)).toBe(false)
    const marker = `commit:3@${owner.producerId}/${owner.producerEpoch + 1}`
    expect(b.extents(topic)).toEqual(['wal:0-2@1+0', marker])
  })

  it('the last stable offset is where the oldest open one begins; aborted ones are found by what is read', () => {
    const b = bench()
    const topic = b.topic('a')
    const [one, two] = [init(b, 'one'), init(b, 'two')]
    b.produce(topic, 0, batch(one, { count: 2 }))
    b.produce(topic, 0, batch(two, { count: 2 }))
    b.produce(topic, 0, { count: 1 })
    const stable = (): number => b.state.partition(topic, 0)!.lastStableOffset
    expect(stable()).toBe(0)
    end(b, two, false)
    expect(stable()).toBe(0)
    end(b, one, false)
    expect(stable()).toBe(7)
    const found = (from: number, to: number): number[] =>
      b.state.abortedTransactions(topic, 0, from, to).map(({ firstOffset }) => firstOffset)
    // in order of their markers, 5 and 6
    expect([found(0, 7), found(0, 2), found(6, 7), found(7, 7)]).toEqual([[2, 0], [0], [0], []])
  })

  it('an evacuated range does not join what an open transaction will part', () => {
    const b = bench()
    const topic = b.topic('a')
    const [one, two] = [init(b, 'one'), init(b, 'two')]
    b.wal(part(topic, 0, 0, {}, batch(one), {}, batch(two), {}))
    expect(b.extents(topic)).toEqual(['wal:0-0@1+0', 'wal:1-2@1+100', 'wal:3-4@1+300'])
    const walSequence = b.nextWalSequence()
    const moved = b.apply({
      kind: 'moveExtents',
      objects: [{ key: 'seg', sizeBytes: 600, walSequence }],
      moves: [{ topic, partition: 0, firstOffset: 0, lastOffset: 4, fromObject: 1, to: 0, byteOffset: 24 }],
    })
    expect(moved).toEqual({ kind: 'ok' })
    expect(b.extents(topic)).toEqual(['wal:0-0@2+24', 'wal:1-2@2+124', 'wal:3-4@2+324'])
    end(b, one, true)
    expect(b.state.unconvertedRecords(topic)).toBe(3)
  })

  it('a table takes nothing from an open transaction on; the index forgets what is converted, or trimmed (L17)', () => {
    const b = bench()
    const topic = b.topic('a')
    const [gone, open] = [init(b, 'gone'), init(b, 'open')]
    b.produce(topic, 0, batch(gone))
    end(b, gone, false)
    b.produce(topic, 0, {})
    b.produce(topic, 0, batch(open))
    const rows = { added: [file('f', [0, 2, 3])] }
    expect(b.commitTable(topic, { converted: [{ partition: 0, firstOffset: 0, lastOffset: 3 }], ...rows })).toMatch(
      /open transaction from offset 3/,
    )
    expect(b.state.abortedTransactions(topic, 0, 0, 9)).toHaveLength(1)
    const fine = { converted: [{ partition: 0, firstOffset: 0, lastOffset: 2 }], added: [file('f', [0, 2, 2])] }
    expect(b.commitTable(topic, fine)).toBe('accepted')
    expect(b.state.abortedTransactions(topic, 0, 0, 9)).toEqual([])
    end(b, open, false)
    expect(b.state.abortedTransactions(topic, 0, 0, 9)).toHaveLength(1)
    b.apply({ kind: 'trimPartitions', trims: [{ topic, partition: 0, logStartOffset: 5 }] })
    expect(b.state.abortedTransactions(topic, 0, 0, 9)).toEqual([])
  })

  it('a deleted topic leaves its transactions, which end on the rest', () => {
    const b = bench()
    const [kept, gone] = [b.topic('kept'), b.topic('gone')]
    const owner = init(b, 't')
    b.wal(part(kept, 0, 0, batch(owner)), part(gone, 0, 100, batch(owner)))
    b.apply({ kind: 'deleteTopic', topic: gone, keepTableAs: '', graceMs: 0 })
    end(b, owner, true)
    expect(b.state.partition(kept, 0)).toMatchObject({ endOffset: 2, lastStableOffset: 2 })
  })

  it('an open transaction, its pending offsets and its producer come through a snapshot', () => {
    const b = bench()
    const topic = b.topic('a')
    const owner = init(b, 't')
    b.produce(topic, 0, batch(owner))
    const other = init(b, 'other')
    b.produce(topic, 0, batch(other))
    end(b, other, false)
    const again = new Bench(decodeSnapshot(b.rooms.lastEntry, encodeSnapshot(b.rooms)), b.nowMs)
    expect(again.state.partition(topic, 0)).toEqual(b.state.partition(topic, 0))
    expect(again.state.unconvertedRecords(topic)).toBe(b.state.unconvertedRecords(topic))
    // the history that the marker's epoch cleared stays cleared
    expect(again.state.producer(topic, 0, other.producerId)).toEqual(b.state.producer(topic, 0, other.producerId))
    expect(again.produce(topic, 0, batch(owner, { sequence: 1 }))[0]).toEqual([Errors.NONE])
    expect(again.extents(topic)).toEqual([...b.extents(topic), 'wal:3-3@3+0'])
    end(again, owner, true)
    expect(again.state.partition(topic, 0)!.lastStableOffset).toBe(5)
  })
})
