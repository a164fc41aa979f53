import { describe, expect, test } from 'vitest'
import { CODEC_GZIP } from '../../../protocol/records/header.ts'
import { setInt32, setInt64 } from '../../../protocol/records/bytes.ts'
import { batchCrc, stampLogAppendTime } from '../../../protocol/records/header.ts'
import { batchBytes, walBatch } from '../wal/harness.ts'
import { logWorld } from './harness.ts'

describe.each(['WAL', 'table', 'both'])('times that go up and down, from %s', (where) => {
  async function made(): Promise<Awaited<ReturnType<typeof logWorld>>> {
    const w = await logWorld()
    await w.append(0, { timestampsMs: [100, 300, 200] }, { timestampsMs: [50, 60], codec: where === 'WAL' ? CODEC_GZIP : 0 })
    if (where === 'both') await w.convert(0)
    await w.append(0, { timestampsMs: [400, 150] }, { timestampsMs: [400, 10] })
    if (where === 'table') await w.convert(0)
    return w
  }

  test('the first record at or after a time, in offset order', async () => {
    const w = await made()
    const found = async (timestampMs: number): Promise<unknown> => {
      const at = await w.plog.offsetByTime(w.topic, 0, timestampMs)
      return at && [at.offset, at.timestampMs]
    }
    expect(await found(0)).toEqual([0, 100])
    expect(await found(100)).toEqual([0, 100])
    expect(await found(101)).toEqual([1, 300])
    expect(await found(301)).toEqual([5, 400])
    expect(await found(400)).toEqual([5, 400])
    expect(await found(401)).toBeNull()
  })

  test('the largest timestamp belongs to the first record that has it (KIP-734)', async () => {
    const w = await made()
    expect(await w.plog.offsetOfMaxTimestamp(w.topic, 0)).toEqual({ offset: 5, timestampMs: 400 })
    expect(await w.plog.offsetOfMaxTimestamp(w.topic, 1)).toBeNull()
  })

  test('asks the log for its end first (L8)', async () => {
    const w = await made()
    const before = w.log.endCalls
    await w.plog.offsetByTime(w.topic, 0, 0)
    await w.plog.offsetOfMaxTimestamp(w.topic, 0)
    expect(w.log.endCalls).toBe(before + 2)
  })
})

test('records below the log start are not found', async () => {
  const w = await logWorld()
  await w.append(0, { timestampsMs: [500, 100, 200] }, { timestampsMs: [300] })
  await w.engine.propose({ kind: 'trimPartitions', trims: [{ topic: w.topic, partition: 0, logStartOffset: 1 }] })
  expect(await w.plog.offsetByTime(w.topic, 0, 150)).toEqual({ offset: 2, timestampMs: 200 })
  expect(await w.plog.offsetByTime(w.topic, 0, 250)).toEqual({ offset: 3, timestampMs: 300 })
  expect(await w.plog.offsetByTime(w.topic, 0, 400)).toBeNull()
})

test('every record of a LogAppendTime batch has the append time', async () => {
  const w = await logWorld()
  const bytes = batchBytes({ count: 3 })
  stampLogAppendTime(bytes, 0, 7000)
  await w.plog.append([{ topic: w.topic, partition: 0, batch: { ...walBatch({}, bytes), appendTimeMs: 7000 } }])
  expect(await w.plog.offsetByTime(w.topic, 0, 6000)).toEqual({ offset: 0, timestampMs: 7000 })
  expect(await w.plog.offsetOfMaxTimestamp(w.topic, 0)).toEqual({ offset: 0, timestampMs: 7000 })
})

test('a batch whose header understates its largest timestamp is looked into', async () => {
  const w = await logWorld()
  const bytes = batchBytes({ timestampsMs: [100, 900, 300] })
  setInt64(bytes, 35, 100)
  setInt32(bytes, 17, batchCrc(bytes))
  await w.plog.append([{ topic: w.topic, partition: 0, batch: { ...walBatch({}, bytes), maxTimestampMs: 900 } }])
  expect(await w.plog.offsetByTime(w.topic, 0, 500)).toEqual({ offset: 1, timestampMs: 900 })
})

test('a large compressed batch is looked into by a worker', async () => {
  const w = await logWorld()
  const timestampsMs = Array.from({ length: 50_000 }, (_, i) => (i * 7919) % 100_003)
  const bytes = batchBytes({ timestampsMs, codec: CODEC_GZIP, valueBytes: 50 })
  expect(bytes.length).toBeGreaterThan(32 * 1024)
  await w.plog.append([{ topic: w.topic, partition: 0, batch: walBatch({}, bytes) }])
  const offset = timestampsMs.findIndex((at) => at >= 99_000)
  expect(await w.plog.offsetByTime(w.topic, 0, 99_000)).toEqual({ offset, timestampMs: timestampsMs[offset] })
  await w.plog.close()
})
