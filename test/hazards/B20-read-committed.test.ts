// B20: read_committed failed on old data, where read_uncommitted did not, for want of a transaction index. Transactions are
// not served: nothing of one is stored, so both levels see the same records and the same end, and there is no index to miss.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Errors } from '../../protocol/index.ts'
import { getInt16, setInt16, setInt32 } from '../../protocol/records/bytes.ts'
import { batchCrc } from '../../protocol/records/header.ts'
import { apiWorld, fetchRequest, produceRequest, type ApiWorld } from '../unit/api/harness.ts'
import { batchBytes } from '../unit/wal/harness.ts'

const TRANSACTIONAL = 0x10
const CONTROL = 0x20

let world: ApiWorld
beforeAll(async () => {
  world = await apiWorld()
})
afterAll(() => world.close())

it.each([TRANSACTIONAL, TRANSACTIONAL | CONTROL])(
  'a batch with the attributes %i is refused, also without a transactional id',
  async (bits) => {
    const batch = batchBytes({ producerId: 5, sequence: 0 })
    setInt16(batch, 21, getInt16(batch, 21) | bits)
    setInt32(batch, 17, batchCrc(batch))
    const produced = await world.call(0, 9, produceRequest({ name: 'a' }, batch))
    expect(produced.responses[0].partitionResponses[0].errorCode).not.toBe(Errors.NONE)
    const { highWatermark } = (await world.call(1, 12, fetchRequest({ topic: 'a' }, 0))).responses[0].partitions[0]
    expect(highWatermark).toBe(0)
  },
)

it('both isolation levels get the same records, and the last stable offset is the end', async () => {
  await world.call(0, 9, produceRequest({ name: 'a' }, batchBytes({ count: 3 })))
  const [uncommitted, committed] = await Promise.all(
    [0, 1].map(
      async (isolationLevel) => (await world.call(1, 12, fetchRequest({ topic: 'a' }, 0, { isolationLevel }))).responses[0].partitions[0],
    ),
  )
  expect(committed).toEqual({ ...uncommitted, abortedTransactions: [] })
  expect(committed).toMatchObject({ errorCode: 0, highWatermark: 3, lastStableOffset: 3 })
  expect(committed.records!.length).toBeGreaterThan(0)
})
