/**
 * D4: stored group state could never be read after a restart. Join, commit, kill, start again: same members, assignment and
 * offsets; the members go on with their heartbeats, and no rebalance happens.
 */
import { expect, it } from 'vitest'
import { MemoryLog } from '../unit/metadata/memoryLog.ts'
import { apiWorld } from '../unit/api/harness.ts'
import { formGroup, TestMember } from '../unit/api/members.ts'

const METADATA = Buffer.from('000100000001000161ffffffff', 'hex')

it('a group goes on after kill -9 of its coordinator', async () => {
  const world = await apiWorld()
  const members = [
    new TestMember(world, { metadata: METADATA, clientId: 'one' }),
    new TestMember(world, { metadata: METADATA, clientId: 'two' }),
  ]
  await formGroup(world, members, (i) => Buffer.from([i, 0, 255]))
  const partitions = [{ partitionIndex: 1, committedOffset: 41, committedLeaderEpoch: 0, committedMetadata: 'a note – ünïcode' }]
  const { memberId, generation } = members[1]
  const commit = { groupId: 'g', generationIdOrMemberEpoch: generation, memberId, topics: [{ name: 'a', partitions }] }
  expect((await world.call(8, 9, commit)).topics[0].partitions[0].errorCode).toBe(0)
  const before = await world.call(15, 6, { groups: ['g'] })

  const after = await apiWorld({ log: new MemoryLog(world.log.disk), store: world.store })
  expect(await after.call(15, 6, { groups: ['g'] })).toEqual(before)
  expect(before.groups[0]).toMatchObject({
    groupState: 'Stable',
    protocolData: 'range',
    members: [{ clientId: 'one' }, { clientId: 'two' }],
  })
  for (const member of members) {
    const beat = { groupId: 'g', generationId: member.generation, memberId: member.memberId }
    expect((await after.call(12, 4, beat)).errorCode).toBe(0)
  }
  const fetched = await after.call(9, 7, { groupId: 'g', topics: [{ name: 'a', partitionIndexes: [1] }] })
  expect(fetched.topics[0].partitions[0]).toEqual({
    partitionIndex: 1,
    committedOffset: 41,
    committedLeaderEpoch: 0,
    metadata: 'a note – ünïcode',
    errorCode: 0,
  })
  expect(
    (await after.call(8, 9, { ...commit, topics: [{ name: 'a', partitions: [{ ...partitions[0], committedOffset: 42 }] }] })).topics[0]
      .partitions[0].errorCode,
  ).toBe(0)
  await world.close()
  await after.close()
})
