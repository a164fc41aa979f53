// B17: headers of the first record of an answer were looked up by the offset that was asked for, so that once the record at
// that offset was gone, another one came with its headers. Here they come from the record, whatever is served from where.
import { Registry } from 'prom-client'
import { afterEach, expect, test } from 'vitest'
import { readBatchHeader } from '../../protocol/records/header.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLogger } from '../../src/base/log.ts'
import { PartitionLog } from '../../src/log/log.ts'
import { FileTableReader } from '../../src/tables/readback/reader.ts'
import { bench, type Bench } from '../unit/tables/harness.ts'
import { batchesFrom, plain, rowsOf, type TestRow } from '../unit/tables/records.ts'

let b: Bench
let reader: FileTableReader
let log: PartitionLog
afterEach(async () => {
  await log.close()
  await reader.close()
  await b.end()
})

/** Each record names itself in its headers; every third has none. */
const rows = Array.from({ length: 9 }, (_, offset): TestRow => ({
  offset,
  timestampMs: 1_700_000_000_000 + offset,
  timestampType: 0,
  key: null,
  value: Buffer.from(`value ${offset}`),
  headers: offset % 3 === 2 ? [] : [{ key: Buffer.from('own'), value: Buffer.from(`header ${offset}`) }],
}))

test.each([9, 3, 1])(
  'batches of %i records: the first is trimmed away, each that is left has its own headers, from WAL and table',
  async (size) => {
    b = await bench({ clock: systemClock })
    const registry = new Registry()
    reader = new FileTableReader({ store: b.store, clock: systemClock, registry, cacheBytes: 1 << 20, workers: 1 })
    const { engine, wal } = b
    log = new PartitionLog({ metadata: engine, wal, tables: reader, clock: systemClock, logger: silentLogger, registry: new Registry() })
    const { topic } = await b.topic('t', 1)
    for (let at = 0; at < rows.length; at += size) {
      const bytes = batchesFrom(rows.slice(at, at + size))
      const { maxTimestampMs } = readBatchHeader(bytes)
      const batch = { bytes, offsetCount: size, maxTimestampMs, producerId: -1, producerEpoch: -1, baseSequence: -1, appendTimeMs: -1 }
      await log.append([{ topic, partition: 0, batch }])
    }
    await engine.propose({ kind: 'trimPartitions', trims: [{ topic, partition: 0, logStartOffset: 1 }] })

    const served = async (fetchOffset: number): Promise<TestRow[]> => {
      const partitions = [{ topic, partition: 0, fetchOffset, maxBytes: 1 << 20 }]
      const [one] = await log.fetch({ partitions, minBytes: 1, maxBytes: 1 << 20, maxWaitMs: 1000, signal: new AbortController().signal })
      expect(one.error).toBe(0)
      return rowsOf(one.records).filter(({ offset }) => offset >= fetchOffset)
    }
    for (const fetchOffset of [1, 2, 5]) expect(plain(await served(fetchOffset))).toEqual(plain(rows.slice(fetchOffset)))
    await b.load(engine.state.topicByNumber(topic)!)
    expect(engine.state.unconvertedRecords(topic)).toBe(0)
    for (const fetchOffset of [1, 2, 5]) expect(plain(await served(fetchOffset))).toEqual(plain(rows.slice(fetchOffset)))
    expect((await registry.getSingleMetric('frazil_readback_decoded_bytes_total')!.get()).values[0].value).toBeGreaterThan(0)
  },
)
