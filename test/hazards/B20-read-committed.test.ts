// B20: read_committed failed on old data, where read_uncommitted did not, for want of a transaction index. Here the index is needed
// while the marker is in the WAL and no longer: what a table gives back has no aborted records, nor a producer to leave out (L17).
import { afterAll, beforeAll, expect, it } from 'vitest'
import { setInt16, setInt32 } from '../../protocol/records/bytes.ts'
import { batchCrc, isTransactional, readBatchHeader } from '../../protocol/records/header.ts'
import { TXN_IMPLICIT } from '../../src/metadata/commands.ts'
import { logWorld, offsets, type LogWorld } from '../unit/log/harness.ts'
import { batchBytes, walBatch } from '../unit/wal/harness.ts'

let w: LogWorld
beforeAll(async () => {
  w = await logWorld({ level: 2 })
})
afterAll(() => w.engine.close())

async function transaction(transactionalId: string, isCommit: boolean, count: number): Promise<number> {
  const { engine, plog, topic } = w
  const made = await engine.propose({ kind: 'initTransaction', transactionalId, timeoutMs: 1000, producerId: -1, producerEpoch: -1 })
  if (made.kind !== 'transaction') throw new Error(JSON.stringify(made))
  const { producerId, producerEpoch } = made
  const bytes = batchBytes({ producerId, epoch: producerEpoch, sequence: 0, count })
  setInt16(bytes, 21, 0x10)
  setInt32(bytes, 17, batchCrc(bytes))
  const batch = { ...walBatch({}, bytes), transaction: TXN_IMPLICIT }
  const { batches } = await plog.append([{ topic, partition: 0, batch }])
  expect(batches[0].error).toBe(0)
  await engine.propose({ kind: 'endTransaction', transactionalId, producerId, producerEpoch, isCommit, raisesEpoch: true })
  return producerId
}

it('an aborted transaction is named while it is in the WAL, and is no more once it is converted', async () => {
  const aborted = await transaction('aborted', false, 3)
  await transaction('committed', true, 2)
  const [wal] = await w.fetch([{ partition: 0, isCommitted: true }])
  expect(wal.abortedTransactions).toMatchObject([{ producerId: aborted, firstOffset: 0 }])
  expect([wal.highWatermark, wal.lastStableOffset]).toEqual([7, 7])
  expect(wal.records.filter((batch) => isTransactional(readBatchHeader(batch).attributes))).toHaveLength(4)

  await w.convert(0, (offset) => offset < 3)
  for (const isCommitted of [true, false]) {
    const [table] = await w.fetch([{ partition: 0, isCommitted }])
    expect(table).toMatchObject({ error: 0, abortedTransactions: [], highWatermark: 7, lastStableOffset: 7 })
    expect(offsets(table)).toEqual([4, 5])
    expect(table.records.some((batch) => isTransactional(readBatchHeader(batch).attributes))).toBe(false)
    // the marker at the end is gone with the WAL, a client gets to the end all the same
    const [end] = await w.fetch([{ partition: 0, fetchOffset: 6, isCommitted }])
    expect(readBatchHeader(end.records[0])).toMatchObject({ baseOffset: 6, lastOffsetDelta: 0, producerId: -1 })
  }
})

it('a conversion while an old object is being read does not take the index away from that answer', async () => {
  const from = w.engine.state.partition(w.topic, 0)!.endOffset
  const aborted = await transaction('read meanwhile', false, 2)
  const cold = await logWorld({ level: 2, log: w.log, store: w.store, hotCacheBytes: 0, topicName: 'a' })
  const { wal } = cold
  const readFrom = wal.readFrom.bind(wal)
  wal.readFrom = (...args) => {
    ;(cold.engine.state as { abortedTransactions: unknown }).abortedTransactions = () => []
    return readFrom(...args)
  }
  const [fetched] = await cold.fetch([{ partition: 0, fetchOffset: from, isCommitted: true }])
  expect(fetched.abortedTransactions).toMatchObject([{ producerId: aborted, firstOffset: from }])
  await cold.engine.close()
})

it('records of an open transaction stay unseen when the log begins in the middle of it', async () => {
  const own = await logWorld({ level: 2 })
  const { engine, plog, topic } = own
  const made = await engine.propose({
    kind: 'initTransaction',
    transactionalId: 'open',
    timeoutMs: 1000,
    producerId: -1,
    producerEpoch: -1,
  })
  if (made.kind !== 'transaction') throw new Error(JSON.stringify(made))
  const bytes = batchBytes({ producerId: made.producerId, epoch: made.producerEpoch, sequence: 0, count: 4 })
  setInt16(bytes, 21, 0x10)
  setInt32(bytes, 17, batchCrc(bytes))
  await plog.append([{ topic, partition: 0, batch: { ...walBatch({}, bytes), transaction: TXN_IMPLICIT } }])
  await engine.propose({ kind: 'trimPartitions', trims: [{ topic, partition: 0, logStartOffset: 2 }] })
  const [committed] = await own.fetch([{ partition: 0, fetchOffset: 2, isCommitted: true }])
  expect(committed).toMatchObject({ error: 0, highWatermark: 4, lastStableOffset: 2, records: [] })
  const [all] = await own.fetch([{ partition: 0, fetchOffset: 2 }])
  expect(all.records).toHaveLength(1)
  await engine.close()
})
