/**
 * D1: SyncGroup answered without the assignment's bytes and a client looped on the parse error. D2: a follower was answered
 * before the leader had brought the assignment. Followers wait; a member that got nothing from the leader gets zero bytes, as
 * from Kafka; one that got an empty assignment gets exactly its bytes.
 */
import { expect, it } from 'vitest'
import { apiWorld, settle } from '../unit/api/harness.ts'
import { formGroup, TestMember } from '../unit/api/members.ts'

/** ConsumerProtocolAssignment version 1 with no topics and null user data. */
const EMPTY = Buffer.from('000100000000ffffffff', 'hex')

it('a member without partitions gets the valid empty assignment that the leader wrote', async () => {
  const world = await apiWorld()
  const members = [0, 1, 2].map(() => new TestMember(world))
  const assignments = await formGroup(world, members, (i) => (i === 2 ? EMPTY : Buffer.from([0, 1, 0, 0, 0, 0, 0, 0, 0, i])))
  expect(assignments[2]).toEqual(EMPTY)
  expect(assignments[1]).toEqual(Buffer.from([0, 1, 0, 0, 0, 0, 0, 0, 0, 1]))
  await world.close()
})

it('a member that the leader left out gets zero bytes, not null', async () => {
  const world = await apiWorld()
  const assignments = await formGroup(world, [new TestMember(world), new TestMember(world)], (i) => (i === 0 ? EMPTY : null))
  expect(assignments).toEqual([EMPTY, Buffer.alloc(0)])
  await world.close()
})

it('followers wait two seconds for a slow leader, and are answered with it', async () => {
  const world = await apiWorld()
  const members = [new TestMember(world), new TestMember(world)]
  const joins = members.map((member) => member.join())
  await settle()
  await world.clock.advance(3_000)
  await world.clock.advance(3_000)
  const [joined] = await Promise.all(joins)
  const follower = members.find((member) => member.memberId !== joined.leader)!
  const leader = members.find((member) => member !== follower)!
  let answered = false
  const synced = follower.sync().then((result) => {
    answered = true
    return result
  })
  await world.clock.advance(2_000)
  expect(answered).toBe(false)
  await leader.sync({ [leader.memberId]: EMPTY, [follower.memberId]: Buffer.from('mine') })
  expect(Buffer.from((await synced).assignment).toString()).toBe('mine')
  await world.close()
})
