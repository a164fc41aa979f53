/** B11: a fetch by name was answered by id, and the client did not match it. Every answer names a topic as the request did. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Errors } from '../../protocol/index.ts'
import { ZERO_UUID } from '../../src/api/support/topics.ts'
import { apiWorld, fetchRequest, produceRequest, uuid, type ApiWorld } from '../unit/api/harness.ts'
import { batchBytes } from '../unit/wal/harness.ts'

let world: ApiWorld
let topicId = ''
beforeAll(async () => {
  world = await apiWorld()
  topicId = world.engine.state.topicByName('a')!.topicId
  await world.call(0, 9, produceRequest({ name: 'a' }, batchBytes()))
})
afterAll(() => world.close())

it('Fetch echoes names up to v12 and ids from v13 on, also of topics that are not there', async () => {
  for (const version of [4, 7, 11, 12]) {
    const fetched = await world.call(1, version, fetchRequest({ topic: 'a' }, 0))
    expect(fetched.responses).toMatchObject([{ topic: 'a', topicId: ZERO_UUID }])
    expect(fetched.responses[0].partitions[0].records!.length).toBeGreaterThan(61)
    const missing = await world.call(1, version, fetchRequest({ topic: 'none' }, 0))
    expect(missing.responses).toMatchObject([{ topic: 'none', partitions: [{ errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION }] }])
  }
  for (const version of [13, 16, 18]) {
    const fetched = await world.call(1, version, fetchRequest({ topicId }, 0))
    expect(fetched.responses).toMatchObject([{ topic: '', topicId }])
    expect(fetched.responses[0].partitions[0].records!.length).toBeGreaterThan(61)
    const other = uuid()
    const missing = await world.call(1, version, fetchRequest({ topicId: other }, 0))
    expect(missing.responses).toMatchObject([{ topicId: other, partitions: [{ errorCode: Errors.UNKNOWN_TOPIC_ID }] }])
  }
})

it('Produce, OffsetCommit and OffsetFetch do the same', async () => {
  for (const version of [12, 13]) {
    const named = version >= 13 ? { topicId } : { name: 'a' }
    const produced = await world.call(0, version, produceRequest(named, batchBytes()))
    expect(produced.responses).toMatchObject([named])
  }
  for (const version of [9, 10]) {
    const named = version >= 10 ? { topicId } : { name: 'a' }
    const partitions = [{ partitionIndex: 0, committedOffset: 4, committedMetadata: null }]
    const committed = await world.call(8, version, { groupId: 'g', memberId: '', topics: [{ ...named, partitions }] })
    expect(committed.topics).toMatchObject([{ ...named, partitions: [{ errorCode: 0 }] }])
    for (const topics of [[{ ...named, partitionIndexes: [0] }], null]) {
      const fetched = await world.call(9, version, { groups: [{ groupId: 'g', topics }] })
      expect(fetched.groups[0].topics).toMatchObject([{ ...named, partitions: [{ committedOffset: 4, metadata: '' }] }])
    }
  }
})

it('offsets of a deleted topic are not those of the one made anew under its name (KIP-516)', async () => {
  const create = { topics: [{ name: 'again', numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }], timeoutMs: 1 }
  const first = (await world.call(19, 7, create)).topics[0].topicId
  const partitions = [{ partitionIndex: 0, committedOffset: 9, committedMetadata: null }]
  await world.call(8, 9, { groupId: 'g', memberId: '', topics: [{ name: 'again', partitions }] })
  await world.call(20, 6, { topics: [{ name: 'again', topicId: ZERO_UUID }], timeoutMs: 1 })
  const second = (await world.call(19, 7, create)).topics[0].topicId
  expect(second).not.toBe(first)
  const fetched = await world.call(9, 9, { groups: [{ groupId: 'g', topics: [{ name: 'again', partitionIndexes: [0] }] }] })
  expect(fetched.groups[0].topics[0].partitions[0]).toMatchObject({ committedOffset: -1, errorCode: 0 })
  const byOldId = await world.call(9, 10, { groups: [{ groupId: 'g', topics: [{ topicId: first, partitionIndexes: [0] }] }] })
  expect(byOldId.groups[0].topics[0].partitions[0].errorCode).toBe(Errors.UNKNOWN_TOPIC_ID)
})
