import { expect, test } from 'vitest'
import { Errors } from '../../protocol/errors.ts'
import { MemoryLog } from '../unit/metadata/memoryLog.ts'
import { open } from '../unit/metadata/helpers.ts'
import { logWorld, offsets } from '../unit/log/harness.ts'
import { PartitionLog } from '../../src/log/log.ts'
import { silentLogger } from '../../src/base/log.ts'
import { Registry } from 'prom-client'

// B13: an offset below the log start was not refused, or two brokers told different starts.

test('after retention the start is the same for everyone, below it is out of range, also after a restart', async () => {
  const log = new MemoryLog()
  let w = await logWorld({ log })
  for (let i = 0; i < 4; i++) {
    await w.append(0, { count: 50 })
    await w.convert(0)
  }
  await w.engine.propose({ kind: 'trimPartitions', trims: [{ topic: w.topic, partition: 0, logStartOffset: 100 }] })
  const { tables } = w
  for (const restart of [false, true]) {
    if (restart) w = await logWorld({ log: new MemoryLog(log.disk), store: w.store })
    for (const [partition, rows] of tables.rows) w.tables.rows.set(partition, rows)
    expect(w.engine.state.partition(w.topic, 0)!.logStartOffset).toBe(100)
    const [below] = await w.fetch([{ partition: 0, fetchOffset: 50 }])
    expect(below).toMatchObject({ error: Errors.OFFSET_OUT_OF_RANGE, logStartOffset: -1, highWatermark: -1 })
    expect(offsets((await w.fetch([{ partition: 0, fetchOffset: 100 }]))[0])[0]).toBe(100)
  }
})

test('a pod that has not seen the newest commit looks before it says out of range (L8)', async () => {
  const log = new MemoryLog()
  const w = await logWorld({ log })
  const behind = await open(new MemoryLog(log.disk), { pod: 'pod-b', clock: w.clock })
  await w.append(0, { count: 5 })
  expect(behind.state.partition(w.topic, 0)!.endOffset).toBe(0)
  const plog = new PartitionLog({
    metadata: behind,
    wal: w.wal,
    tables: w.tables,
    clock: w.clock,
    logger: silentLogger,
    registry: new Registry(),
  })
  const request = { minBytes: 1, maxBytes: 1 << 20, maxWaitMs: 0, signal: new AbortController().signal }
  const partition = { topic: w.topic, partition: 0, maxBytes: 1 << 20 }
  const [served] = await plog.fetch({ ...request, partitions: [{ ...partition, fetchOffset: 3 }] })
  expect([served.error, offsets(served)]).toEqual([0, [0, 1, 2, 3, 4]])
})
