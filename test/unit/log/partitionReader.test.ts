import { expect, test } from 'vitest'
import { batchBaseOffset, patchBatch, readBatchHeader } from '../../../protocol/records/header.ts'
import { PartitionReader } from '../../../src/log/partitionReader.ts'
import type { TableReader } from '../../../src/log/port.ts'
import type { Metadata } from '../../../src/metadata/port.ts'
import type { Extent } from '../../../src/metadata/view.ts'
import type { Wal } from '../../../src/wal/port.ts'
import { batchBytes, ManualClock } from '../wal/harness.ts'

function batch(baseOffset: number, count: number): Uint8Array {
  const bytes = batchBytes({ count })
  patchBatch(bytes, 0, baseOffset, 0)
  return bytes
}

const shared = { maxTimestampMs: 0, originalBytes: 100, commitTimeMs: 0 }
const wal: Extent = { kind: 'wal', firstOffset: 0, lastOffset: 2, object: 1, byteOffset: 0, sizeBytes: 100, ...shared }
const table: Extent = { kind: 'table', firstOffset: 0, lastOffset: 5, files: [1], ...shared }

const FIRST = [{ epoch: 0, startOffset: 0 }]

/** The WAL holds 0 to 2 when a read begins; what comes then is in a table file by the time, as one batch with it. */
function reader(hot: boolean, epochs = FIRST): PartitionReader {
  const rows = { batches: [batch(0, 6)], nextOffset: 6 }
  return new PartitionReader({
    metadata: {
      state: {
        extentAt: (_topic: number, _partition: number, offset: number) => (offset < 3 ? wal : offset < 6 ? table : null),
        partition: () => ({ leaderEpoch: epochs.at(-1)!.epoch, epochs, endOffset: 6, lastStableOffset: 6 }),
        tableFile: () => ({ id: 1 }),
      },
    } as unknown as Metadata,
    wal: {
      cachedBatches: () => (hot ? { batches: [batch(0, 3)], from: 0, to: 1 } : null),
      readFrom: () => Promise.resolve({ bytes: batch(0, 3), baseOffset: 0 }),
    } as unknown as Wal,
    tables: { read: () => Promise.resolve(rows), readNow: () => rows } as unknown as TableReader,
    clock: new ManualClock(),
  })
}

const wanted = (fetchOffset: number): Parameters<PartitionReader['cold']>[0] => {
  return { topic: 1, partition: 0, fetchOffset, maxBytes: 10_000 }
}

test.each([true, false])('a range that is converted while it is read is not served twice (hot %s)', async (hot) => {
  const one = reader(hot)
  const read = hot ? one.hot(wanted(0), 10_000, true) : await one.cold(wanted(0), 10_000)
  expect(read).toMatchObject({ records: [expect.anything()] })
  if (read === null || !('records' in read)) throw new Error('nothing was read')
  expect(read.records.map((bytes) => batchBaseOffset(bytes))).toEqual([0])
  // the client goes on from 3 and gets the batch that holds it
  expect((await one.cold(wanted(3), 10_000)).records.map((bytes) => batchBaseOffset(bytes))).toEqual([0])
})

test.each([
  [
    [
      { epoch: 0, startOffset: 0 },
      { epoch: 1, startOffset: 3 },
    ],
    0,
    1,
  ],
  [
    [
      { epoch: 0, startOffset: 0 },
      { epoch: 4, startOffset: 6 },
    ],
    0,
    0,
  ],
  [[{ epoch: 2, startOffset: 0 }], 2, 2],
])('batches carry the epoch they were written in: %j (L9)', async (epochs, wal, table) => {
  const one = reader(false, epochs)
  const epochAt = async (offset: number): Promise<number> => {
    const [bytes] = (await one.cold(wanted(offset), 10_000)).records
    return readBatchHeader(bytes!, 0).leaderEpoch
  }
  expect(await epochAt(0)).toBe(wal)
  // rows of both sides in one batch count as written behind
  expect(await epochAt(3)).toBe(table)
})
