/**
 * B7: OffsetForLeaderEpoch on a log without leaders consumed nothing, repeated for ever, or crashed the consumer. Epochs told by
 * Metadata, Fetch, ListOffsets and OffsetForLeaderEpoch are one, and a restart does not change them.
 */
import { expect, it } from 'vitest'
import { Errors } from '../../protocol/index.ts'
import { MemoryLog } from '../unit/metadata/memoryLog.ts'
import { apiWorld, fetchRequest, produceRequest, type ApiWorld } from '../unit/api/harness.ts'
import { batchBytes } from '../unit/wal/harness.ts'

async function epochs(world: ApiWorld): Promise<Record<string, unknown>> {
  const metadata = await world.call(3, 12, { topics: [{ name: 'a' }] })
  const { leaderEpoch } = metadata.topics[0].partitions[0]
  const listed = await world.call(2, 7, {
    replicaId: -1,
    topics: [{ name: 'a', partitions: [{ partitionIndex: 0, currentLeaderEpoch: leaderEpoch, timestamp: -1 }] }],
  })
  const asked = { partition: 0, currentLeaderEpoch: leaderEpoch, leaderEpoch }
  const ends = await world.call(23, 4, { topics: [{ topic: 'a', partitions: [asked] }] })
  const fetched = await world.call(
    1,
    12,
    fetchRequest({ topic: 'a' }, 5, {}, { currentLeaderEpoch: leaderEpoch, lastFetchedEpoch: leaderEpoch }),
  )
  const records = fetched.responses[0].partitions[0]
  return {
    metadata: leaderEpoch,
    listed: listed.topics[0].partitions[0].leaderEpoch,
    end: ends.topics[0].partitions[0],
    fetchError: records.errorCode,
    inBatch: Buffer.from(records.records!).readInt32BE(12),
  }
}

it('a consumer that committed at 5 validates its position before and after a restart', async () => {
  const world = await apiWorld()
  for (let i = 0; i < 8; i++) await world.call(0, 9, produceRequest({ name: 'a' }, batchBytes()))
  const before = await epochs(world)
  expect(before).toEqual({
    metadata: 0,
    listed: 0,
    end: { errorCode: 0, partition: 0, leaderEpoch: 0, endOffset: 8 },
    fetchError: 0,
    inBatch: 0,
  })
  await world.close()
  const after = await apiWorld({ log: new MemoryLog(world.log.disk), store: world.store })
  expect(await epochs(after)).toEqual(before)
  await after.close()
})

it('an epoch that is not ours is told apart: older, newer, never had', async () => {
  const world = await apiWorld()
  const ask = async (currentLeaderEpoch: number, leaderEpoch: number): Promise<unknown> => {
    const answer = await world.call(23, 4, { topics: [{ topic: 'a', partitions: [{ partition: 0, currentLeaderEpoch, leaderEpoch }] }] })
    return answer.topics[0].partitions[0]
  }
  expect(await ask(1, 0)).toMatchObject({ errorCode: Errors.UNKNOWN_LEADER_EPOCH, leaderEpoch: -1, endOffset: -1 })
  expect(await ask(-1, 3)).toMatchObject({ errorCode: 0, leaderEpoch: -1, endOffset: -1 })
  expect(await ask(-1, -1)).toMatchObject({ errorCode: 0, leaderEpoch: -1, endOffset: -1 })
  const fetched = await world.call(1, 12, fetchRequest({ topic: 'a' }, 0, {}, { currentLeaderEpoch: 1 }))
  expect(fetched.responses[0].partitions[0].errorCode).toBe(Errors.UNKNOWN_LEADER_EPOCH)
  await world.close()
})
