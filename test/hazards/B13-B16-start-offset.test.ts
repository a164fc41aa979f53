/**
 * B13: an offset below the log start was not refused, or EARLIEST differed. B16: OFFSET_OUT_OF_RANGE must carry -1 in the high
 * watermark and the log start, as Kafka's does; clients then ask ListOffsets.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Errors } from '../../protocol/index.ts'
import { apiWorld, fetchRequest, produceRequest, type ApiWorld } from '../unit/api/harness.ts'
import { batchBytes } from '../unit/wal/harness.ts'

let world: ApiWorld
beforeAll(async () => {
  world = await apiWorld()
  for (let i = 0; i < 10; i++) await world.call(0, 9, produceRequest({ name: 'a' }, batchBytes({ count: 2 })))
  await world.call(21, 2, { topics: [{ name: 'a', partitions: [{ partitionIndex: 0, offset: 10 }] }], timeoutMs: 1 })
})
afterAll(() => world.close())

async function fetchAt(
  offset: number,
): Promise<{ errorCode: number; highWatermark: number; lastStableOffset: number; logStartOffset: number; records: Uint8Array | null }> {
  const { errorCode, highWatermark, lastStableOffset, logStartOffset, records } = (
    await world.call(1, 11, fetchRequest({ topic: 'a' }, offset))
  ).responses[0].partitions[0]
  return { errorCode, highWatermark, lastStableOffset, logStartOffset, records }
}

it('EARLIEST is the log start that DeleteRecords left', async () => {
  const listed = await world.call(2, 8, {
    replicaId: -1,
    topics: [{ name: 'a', partitions: [{ partitionIndex: 0, timestamp: -2 }] }],
  })
  expect(listed.topics[0].partitions[0]).toMatchObject({ errorCode: 0, offset: 10, timestamp: -1 })
})

it('a fetch below the start or above the end is OFFSET_OUT_OF_RANGE with -1 everywhere', async () => {
  for (const offset of [0, 9, 21, -1]) {
    expect(await fetchAt(offset)).toEqual({
      errorCode: Errors.OFFSET_OUT_OF_RANGE,
      highWatermark: -1,
      lastStableOffset: -1,
      logStartOffset: -1,
      records: Buffer.alloc(0),
    })
  }
})

it('a fetch at the start has records, one at the end has none and no error', async () => {
  const start = await fetchAt(10)
  expect(start).toMatchObject({ errorCode: 0, highWatermark: 20, lastStableOffset: 20, logStartOffset: 10 })
  expect(Number(Buffer.from(start.records!).readBigInt64BE(0))).toBe(10)
  expect(await fetchAt(20)).toMatchObject({ errorCode: 0, highWatermark: 20, logStartOffset: 10, records: Buffer.alloc(0) })
})

it('DeleteRecords: -1 is the high watermark, above it is refused, below the start changes nothing', async () => {
  const trim = async (offset: number): Promise<unknown> => {
    const answer = await world.call(21, 1, { topics: [{ name: 'a', partitions: [{ partitionIndex: 0, offset }] }], timeoutMs: 1 })
    return answer.topics[0].partitions[0]
  }
  expect(await trim(21)).toMatchObject({ errorCode: Errors.OFFSET_OUT_OF_RANGE, lowWatermark: -1 })
  expect(await trim(-2)).toMatchObject({ errorCode: Errors.OFFSET_OUT_OF_RANGE })
  expect(await trim(5)).toMatchObject({ errorCode: 0, lowWatermark: 10 })
  expect(await trim(-1)).toMatchObject({ errorCode: 0, lowWatermark: 20 })
  expect(await fetchAt(20)).toMatchObject({ errorCode: 0, logStartOffset: 20, records: Buffer.alloc(0) })
})
