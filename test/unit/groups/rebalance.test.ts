import { describe, expect, it } from 'vitest'
import { Errors } from '../../../protocol/errors.ts'
import { groupWorld, heartbeat, joinRequest, now, settle, stableGroup, sync, text } from './harness.ts'

describe('the first rebalance', () => {
  it('waits for the initial delay, and again for every newcomer, within the rebalance timeout', async () => {
    const world = await groupWorld()
    const first = world.groups.join(joinRequest())
    await world.clock.advance(2_000)
    const second = world.groups.join(joinRequest())
    await world.clock.advance(1_000)
    expect(await now(first)).toBe('waiting')
    await world.clock.advance(3_000)
    const [a, b] = await Promise.all([first, second])
    expect([a.generation, b.generation]).toEqual([1, 1])
    expect(a.leader).toBe(a.memberId)
    expect(a.members.map((member) => member.memberId)).toEqual([a.memberId, b.memberId])
    expect(b.members).toEqual([])
    expect(b.leader).toBe(a.memberId)
  })

  it('gives an id first where the version asks for it (KIP-394), and waits for that id', async () => {
    const world = await groupWorld()
    const refused = await world.groups.join(joinRequest({ requireKnownMemberId: true }))
    expect(refused.error).toBe(Errors.MEMBER_ID_REQUIRED)
    expect(refused.memberId).toMatch(/^c-uuid-/)
    const joined = world.groups.join(joinRequest({ requireKnownMemberId: true, memberId: refused.memberId }))
    await world.clock.advance(3_000)
    expect(await joined).toMatchObject({ error: 0, memberId: refused.memberId, generation: 1 })
  })

  it('forgets an id that never came back, and the group with it', async () => {
    const world = await groupWorld()
    const refused = await world.groups.join(joinRequest({ requireKnownMemberId: true }))
    await world.clock.advance(10_000)
    const late = await world.groups.join(joinRequest({ memberId: refused.memberId }))
    expect(late.error).toBe(Errors.UNKNOWN_MEMBER_ID)
  })
})

describe('refused joins', () => {
  it('say why, as Kafka does', async () => {
    const world = await groupWorld({ settings: { membersMax: 1 } })
    const error = async (more: Parameters<typeof joinRequest>[0]): Promise<number> => (await world.groups.join(joinRequest(more))).error
    expect(await error({ groupId: '' })).toBe(Errors.INVALID_GROUP_ID)
    expect(await error({ sessionTimeoutMs: 5_999 })).toBe(Errors.INVALID_SESSION_TIMEOUT)
    expect(await error({ sessionTimeoutMs: 1_800_001 })).toBe(Errors.INVALID_SESSION_TIMEOUT)
    expect(await error({ memberId: 'x' })).toBe(Errors.UNKNOWN_MEMBER_ID)
    expect(await error({ protocols: [] })).toBe(Errors.INCONSISTENT_GROUP_PROTOCOL)
    expect(await error({ protocolType: '' })).toBe(Errors.INCONSISTENT_GROUP_PROTOCOL)
    expect(world.groups.list()).toEqual([])
    await stableGroup(world, [{}])
    expect(await error({})).toBe(Errors.GROUP_MAX_SIZE_REACHED)
  })

  it('need a protocol that every member has', async () => {
    const world = await groupWorld()
    await stableGroup(world, [{ protocols: [{ name: 'range', metadata: text('m') }] }])
    const other = await world.groups.join(joinRequest({ protocols: [{ name: 'sticky', metadata: text('m') }] }))
    expect(other.error).toBe(Errors.INCONSISTENT_GROUP_PROTOCOL)
    const type = await world.groups.join(joinRequest({ protocolType: 'connect' }))
    expect(type.error).toBe(Errors.INCONSISTENT_GROUP_PROTOCOL)
  })
})

describe('a later rebalance', () => {
  it('tells members by heartbeat, ends when all have joined again, and keeps ids', async () => {
    const world = await groupWorld()
    const [a] = await stableGroup(world, [{}])
    const joining = world.groups.join(joinRequest())
    await settle()
    expect(heartbeat(world, a)).toBe(Errors.REBALANCE_IN_PROGRESS)
    const again = world.groups.join(joinRequest({ memberId: a.memberId }))
    const [rejoined, b] = await Promise.all([again, joining])
    expect(rejoined).toMatchObject({ memberId: a.memberId, generation: 2, leader: a.memberId })
    expect(b.generation).toBe(2)
    expect(heartbeat(world, { ...a, generation: 1 })).toBe(Errors.ILLEGAL_GENERATION)
  })

  it('drops members that do not come back within the rebalance timeout', async () => {
    const world = await groupWorld()
    const [a, b] = await stableGroup(world, [{}, { sessionTimeoutMs: 300_000 }])
    const joining = world.groups.join(joinRequest({ memberId: a.memberId }))
    expect(await now(joining)).toBe('waiting')
    await world.clock.advance(30_000)
    const result = await joining
    expect(result).toMatchObject({ generation: 2 })
    expect(result.members.map((member) => member.memberId)).toEqual([a.memberId])
    expect(heartbeat(world, { ...b, generation: 2 })).toBe(Errors.UNKNOWN_MEMBER_ID)
  })

  it('waits for ids that were given out, until they join or their session ends', async () => {
    const world = await groupWorld()
    const [a] = await stableGroup(world, [{}])
    const given = await world.groups.join(joinRequest({ requireKnownMemberId: true }))
    const again = world.groups.join(joinRequest({ memberId: a.memberId }))
    expect(await now(again)).toBe('waiting')
    const joined = await world.groups.join(joinRequest({ requireKnownMemberId: true, memberId: given.memberId }))
    const leader = await again
    expect([joined.generation, leader.generation]).toEqual([2, 2])
    await sync(world, leader, { [a.memberId]: 'x' })

    await world.groups.join(joinRequest({ requireKnownMemberId: true, sessionTimeoutMs: 7_000 }))
    const third = [a.memberId, joined.memberId].map((memberId) => world.groups.join(joinRequest({ memberId })))
    expect(await now(Promise.race(third))).toBe('waiting')
    await world.clock.advance(7_000)
    expect((await Promise.all(third)).map((result) => result.generation)).toEqual([3, 3])
  })

  it('is not started by a follower that repeats itself, but by the leader and by changed metadata', async () => {
    const world = await groupWorld()
    const [a, b] = await stableGroup(world, [{}, {}])
    expect(await now(world.groups.join(joinRequest({ memberId: b.memberId })))).toMatchObject({ generation: 1, members: [] })
    const changed = world.groups.join(joinRequest({ memberId: b.memberId, protocols: [{ name: 'range', metadata: text('other') }] }))
    expect(await now(changed)).toBe('waiting')
    await world.groups.join(joinRequest({ memberId: a.memberId }))
    expect((await changed).generation).toBe(2)
  })

  it('chooses the protocol with the most first votes among the common ones', async () => {
    const world = await groupWorld()
    const range = { name: 'range', metadata: text('r') }
    const sticky = { name: 'sticky', metadata: text('s') }
    const only = { name: 'own', metadata: text('o') }
    const [a] = await stableGroup(world, [
      { protocols: [only, range, sticky] },
      { protocols: [sticky, range] },
      { protocols: [sticky, range] },
    ])
    expect(a.protocolName).toBe('sticky')
    expect(a.members.map((member) => Buffer.from(member.metadata).toString())).toEqual(['s', 's', 's'])
  })
})

describe('members that fall silent', () => {
  it('expire with their session; the group empties and the generation moves on', async () => {
    const world = await groupWorld()
    const [a] = await stableGroup(world, [{}])
    await world.clock.advance(9_000)
    expect(heartbeat(world, a)).toBe(Errors.NONE)
    await world.clock.advance(9_000)
    expect(heartbeat(world, a)).toBe(Errors.NONE)
    await world.clock.advance(10_000)
    expect(world.groups.describe('g')).toMatchObject({ state: 'Empty', members: [] })
    expect(world.engine.state.group('g')).toMatchObject({ generation: 2, members: [] })
    expect(heartbeat(world, a)).toBe(Errors.UNKNOWN_MEMBER_ID)
  })

  it('are dropped when they never send SyncGroup, and the others rebalance', async () => {
    const world = await groupWorld()
    const joins = [world.groups.join(joinRequest()), world.groups.join(joinRequest({ sessionTimeoutMs: 300_000 }))]
    await world.clock.advance(3_000)
    await world.clock.advance(3_000)
    const [a] = await Promise.all(joins)
    expect((await sync(world, a, { [a.memberId]: 'x' })).error).toBe(0)
    for (let i = 0; i < 3; i++) {
      expect(heartbeat(world, a)).toBe(Errors.NONE)
      await world.clock.advance(9_000)
    }
    expect(heartbeat(world, a)).toBe(Errors.NONE)
    await world.clock.advance(3_000)
    expect(heartbeat(world, a)).toBe(Errors.REBALANCE_IN_PROGRESS)
    expect(world.groups.describe('g').members.map((member) => member.memberId)).toEqual([a.memberId])
  })

  it('are answered and dropped after five minutes when they are new and still parked', async () => {
    const world = await groupWorld()
    await stableGroup(world, [{ sessionTimeoutMs: 1_800_000, rebalanceTimeoutMs: 1_800_000 }])
    const parked = world.groups.join(joinRequest())
    await world.clock.advance(300_000)
    expect(await now(parked)).toMatchObject({ error: Errors.UNKNOWN_MEMBER_ID })
  })
})

describe('LeaveGroup', () => {
  it('removes a batch with one rebalance, an error each', async () => {
    const world = await groupWorld()
    const [a, b, c] = await stableGroup(world, [{}, {}, {}])
    const result = world.groups.leave('g', [
      { memberId: b.memberId, instanceId: null },
      { memberId: 'nobody', instanceId: null },
      { memberId: c.memberId, instanceId: null },
    ])
    expect(result.members.map((member) => member.error)).toEqual([0, Errors.UNKNOWN_MEMBER_ID, 0])
    expect(heartbeat(world, a)).toBe(Errors.REBALANCE_IN_PROGRESS)
    expect(await now(world.groups.join(joinRequest({ memberId: a.memberId })))).toMatchObject({ generation: 2 })
  })

  it('of the last member empties the group at once, which is durable', async () => {
    const world = await groupWorld()
    const [a] = await stableGroup(world, [{}])
    world.groups.leave('g', [{ memberId: a.memberId, instanceId: null }])
    await settle()
    expect(world.engine.state.group('g')).toMatchObject({ generation: 2, members: [], leader: null })
    expect(world.groups.list()).toEqual([{ groupId: 'g', protocolType: 'consumer', state: 'Empty', type: 'classic' }])
  })

  it('of an unknown group tells each member', async () => {
    const world = await groupWorld()
    expect(world.groups.leave('none', [{ memberId: 'x', instanceId: null }])).toEqual({
      error: 0,
      members: [{ memberId: 'x', instanceId: null, error: Errors.UNKNOWN_MEMBER_ID }],
    })
  })
})
