/** D6: no static membership at the offered JoinGroup version. A member that is bounced inside its session causes no rebalance. */
import { expect, it } from 'vitest'
import { Errors } from '../../protocol/index.ts'
import { apiWorld } from '../unit/api/harness.ts'
import { formGroup, TestMember } from '../unit/api/members.ts'

it('a bounced static member gets its partitions back in the same generation', async () => {
  const world = await apiWorld()
  const stays = new TestMember(world, { instanceId: 'stays' })
  const bounced = new TestMember(world, { instanceId: 'bounced' })
  await formGroup(world, [stays, bounced], (i) => Buffer.from([i]))
  await world.clock.advance(5_000)
  expect(await stays.heartbeat()).toBe(0)

  const again = new TestMember(world, { instanceId: 'bounced' })
  const joined = await again.join()
  expect(joined).toMatchObject({ errorCode: 0, generationId: bounced.generation, leader: stays.memberId })
  expect(again.memberId).not.toBe(bounced.memberId)
  expect(Buffer.from((await again.sync()).assignment)).toEqual(Buffer.from([1]))
  expect(await stays.heartbeat()).toBe(0)
  expect(await again.heartbeat()).toBe(0)
  expect(await bounced.heartbeat()).toBe(Errors.FENCED_INSTANCE_ID)
  await world.close()
})

it('a bounced static leader is told to skip the assignment (KIP-814)', async () => {
  const world = await apiWorld()
  const leader = new TestMember(world, { instanceId: 'leads' })
  const other = new TestMember(world, { instanceId: 'other' })
  await formGroup(world, [leader, other], (i) => Buffer.from([i]))
  const again = new TestMember(world, { instanceId: 'leads' })
  const joined = await again.join()
  expect(joined).toMatchObject({ errorCode: 0, generationId: leader.generation, skipAssignment: true })
  expect(joined.members.map((member) => member.groupInstanceId).toSorted()).toEqual(['leads', 'other'])
  expect(await other.heartbeat()).toBe(0)
  await world.close()
})
