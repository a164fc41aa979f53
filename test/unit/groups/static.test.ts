import { describe, expect, it } from 'vitest'
import { Errors } from '../../../protocol/errors.ts'
import { groupWorld, heartbeat, joinRequest, now, settle, stableGroup, text } from './harness.ts'

const member = (instanceId: string): { instanceId: string; sessionTimeoutMs: number } => ({ instanceId, sessionTimeoutMs: 20_000 })

describe('static members (KIP-345)', () => {
  it('take their place back without a rebalance, under a new id that is durable; the old id is fenced', async () => {
    const world = await groupWorld()
    const [a, b] = await stableGroup(world, [member('i-a'), member('i-b')])
    const back = await now(world.groups.join(joinRequest(member('i-b'))))
    expect(back).toMatchObject({ error: 0, generation: 1, leader: a.memberId, skipAssignment: false, members: [] })
    const memberId = (back as { memberId: string }).memberId
    expect(memberId).not.toBe(b.memberId)
    expect(heartbeat(world, { memberId, generation: 1 }, { instanceId: 'i-b' })).toBe(Errors.NONE)
    expect(heartbeat(world, b, { instanceId: 'i-b' })).toBe(Errors.FENCED_INSTANCE_ID)
    expect(heartbeat(world, a, { instanceId: 'i-a' })).toBe(Errors.NONE)
    expect(world.engine.state.group('g')!.members.map((each) => each.memberId)).toEqual([a.memberId, memberId])
    expect(world.groups.describe('g').members.map((each) => Buffer.from(each.assignment).toString())).toEqual(['a-0', 'a-1'])
  })

  it('that lead are told to skip the assignment from v9 on', async () => {
    const world = await groupWorld()
    const [, b] = await stableGroup(world, [member('i-a'), member('i-b')])
    const back = await world.groups.join(joinRequest({ ...member('i-a'), supportsSkippingAssignment: true }))
    expect(back).toMatchObject({ skipAssignment: true, leader: back.memberId })
    expect(back.members.map((each) => each.memberId).toSorted()).toEqual([back.memberId, b.memberId].toSorted())
  })

  it('that lead take themselves for followers before v9', async () => {
    const world = await groupWorld()
    const [a] = await stableGroup(world, [member('i-a'), member('i-b')])
    const back = await world.groups.join(joinRequest({ ...member('i-a'), supportsSkippingAssignment: false }))
    expect(back).toMatchObject({ skipAssignment: false, leader: a.memberId, members: [] })
  })

  it('rebalance when the protocol would change, or while a generation is being assigned', async () => {
    const world = await groupWorld()
    await stableGroup(world, [member('i-a')])
    const changed = joinRequest({ ...member('i-a'), protocols: [{ name: 'sticky', metadata: text('m') }] })
    // Alone in the group, but of another protocol than the others have in common.
    expect((await world.groups.join(changed)).error).toBe(Errors.INCONSISTENT_GROUP_PROTOCOL)

    const completing = await groupWorld()
    const parked = completing.groups.join(joinRequest(member('i-a')))
    await completing.clock.advance(3_000)
    await parked
    const again = completing.groups.join(joinRequest(member('i-a')))
    expect(await now(again)).toMatchObject({ error: 0, generation: 2 })
  })

  it('are not dropped by a rebalance they miss, only by their session', async () => {
    const world = await groupWorld()
    const [a, b] = await stableGroup(world, [
      { ...member('i-a'), sessionTimeoutMs: 300_000 },
      { ...member('i-b'), sessionTimeoutMs: 300_000 },
    ])
    const joining = world.groups.join(joinRequest({ ...member('i-a'), sessionTimeoutMs: 300_000, memberId: a.memberId }))
    await settle()
    await world.clock.advance(30_000)
    expect((await joining).members.map((each) => each.memberId)).toEqual([a.memberId, b.memberId])
  })

  it('are fenced while they are parked under the old id', async () => {
    const world = await groupWorld()
    const old = world.groups.join(joinRequest(member('i-a')))
    await settle()
    const fresh = world.groups.join(joinRequest(member('i-a')))
    expect(await now(old)).toMatchObject({ error: Errors.FENCED_INSTANCE_ID })
    await world.clock.advance(3_000)
    await world.clock.advance(3_000)
    expect(await fresh).toMatchObject({ error: 0, generation: 1 })
  })

  it('are removed by an administrator who names the instance alone', async () => {
    const world = await groupWorld()
    await stableGroup(world, [member('i-a'), member('i-b')])
    const result = world.groups.leave('g', [
      { memberId: '', instanceId: 'i-b' },
      { memberId: '', instanceId: 'i-c' },
      { memberId: 'wrong', instanceId: 'i-a' },
    ])
    expect(result.members.map((each) => each.error)).toEqual([0, Errors.UNKNOWN_MEMBER_ID, Errors.FENCED_INSTANCE_ID])
  })
})
