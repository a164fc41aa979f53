import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { silentLogger } from '../../src/base/log.ts'
import { setInt32 } from '../../protocol/records/bytes.ts'
import { batchCrc, readBatchHeader } from '../../protocol/records/header.ts'
import { Evacuator } from '../../src/wal/evacuate.ts'
import { batchBytes, walBatch } from '../unit/wal/harness.ts'
import { logWorld } from '../unit/log/harness.ts'

// E4: the offset delta of a block did not fit an int32, looked empty, and compaction deleted live data.

/** One record that spans the most offsets a batch can. */
function wideBatch(fill: number): Uint8Array {
  const batch = batchBytes({ fill })
  setInt32(batch, 23, 0x7ffffffe)
  setInt32(batch, 17, batchCrc(batch))
  return batch
}

test.each([1 << 26, 0])('offsets 0, 2·10⁹ and 4·10⁹ in one object survive evacuation (cache of %i bytes)', async (hotCacheBytes) => {
  const w = await logWorld({ hotCacheBytes })
  const items = [1, 2, 3].map((fill) => ({ topic: w.topic, partition: 0, batch: walBatch({}, wideBatch(fill)) }))
  const answers = await w.wal.append(items)
  const bases = [0, 0x7fffffff, 2 * 0x7fffffff]
  expect(answers.map(({ baseOffset }) => baseOffset)).toEqual(bases)
  const check = async (): Promise<void> => {
    for (const [i, base] of bases.entries()) {
      for (const fetchOffset of [base, base + 0x7ffffffe]) {
        const [served] = await w.fetch([{ partition: 0, fetchOffset, maxBytes: 1 }])
        expect(readBatchHeader(served.records[0]).baseOffset).toBe(base)
        expect(served.records[0].at(-2)).toBe(i + 1)
      }
    }
  }
  await check()
  const { store, engine: metadata, wal, sequences, clock } = w
  const evacuator = new Evacuator({ store, metadata, wal, sequences, clock, logger: silentLogger, registry: new Registry() })
  await clock.advance(300_000)
  expect(await evacuator.pass()).toBe(1)
  await check()
})
