import { describe, expect, it } from 'vitest'
import { FrazilError } from '../../../src/base/errors.ts'
import { Errors } from '../../../protocol/errors.ts'
import { SHARDS } from '../../../src/metadata/state/shards.ts'
import { commitRequest, groupWorld, heartbeat, item, joinRequest, now, restart, settle, stableGroup, sync } from './harness.ts'

describe('an assignment', () => {
  it('is told to nobody before it is durable', async () => {
    const world = await groupWorld()
    const joins = [world.groups.join(joinRequest()), world.groups.join(joinRequest())]
    await world.clock.advance(3_000)
    await world.clock.advance(3_000)
    const [a, b] = await Promise.all(joins)
    let release = (): void => {}
    world.log.beforeAppend = () => new Promise((resolve) => (release = resolve))
    const synced = [sync(world, a, { [a.memberId]: 'A', [b.memberId]: 'B' }), sync(world, b)]
    expect(await now(Promise.race(synced))).toBe('waiting')
    release()
    const results = await Promise.all(synced)
    expect(results.map((result) => Buffer.from(result.assignment).toString())).toEqual(['A', 'B'])
  })

  it('that could not be stored sends everybody back to JoinGroup with a retriable code', async () => {
    const world = await groupWorld()
    const joining = world.groups.join(joinRequest())
    await world.clock.advance(3_000)
    const a = await joining
    world.log.beforeAppend = () => {
      throw new FrazilError('STORE_FULL', 'no space left')
    }
    expect((await sync(world, a, { [a.memberId]: 'A' })).error).toBe(Errors.COORDINATOR_NOT_AVAILABLE)
    expect(heartbeat(world, a)).toBe(Errors.REBALANCE_IN_PROGRESS)
    world.log.beforeAppend = () => {}
    const again = await world.groups.join(joinRequest({ memberId: a.memberId }))
    expect((await sync(world, again, { [a.memberId]: 'A' })).error).toBe(0)
  })

  it('that arrives after the next rebalance began changes nothing', async () => {
    const world = await groupWorld()
    const joining = world.groups.join(joinRequest())
    await world.clock.advance(3_000)
    const a = await joining
    let release = (): void => {}
    world.log.beforeAppend = () => new Promise((resolve) => (release = resolve))
    const synced = sync(world, a, { [a.memberId]: 'A' })
    await settle()
    const newcomer = world.groups.join(joinRequest())
    expect(await now(synced)).toMatchObject({ error: Errors.REBALANCE_IN_PROGRESS })
    world.log.beforeAppend = () => {}
    release()
    await settle()
    const again = await world.groups.join(joinRequest({ memberId: a.memberId }))
    expect([again.generation, (await newcomer).generation]).toEqual([2, 2])
  })

  it('that arrives while the next generation is being assigned is not that generation’s', async () => {
    const world = await groupWorld()
    const joining = world.groups.join(joinRequest())
    await world.clock.advance(3_000)
    const a = await joining
    let release = (): void => {}
    world.log.beforeAppend = () => new Promise((resolve) => (release = resolve))
    void sync(world, a, { [a.memberId]: 'of generation 1' })
    await settle()
    const newcomer = world.groups.join(joinRequest())
    await settle()
    const again = await world.groups.join(joinRequest({ memberId: a.memberId }))
    const b = await newcomer
    const follower = sync(world, b)
    world.log.beforeAppend = () => {}
    release()
    expect(await now(follower)).toBe('waiting')
    await sync(world, again, { [a.memberId]: 'A2', [b.memberId]: 'B2' })
    expect(Buffer.from((await follower).assignment).toString()).toBe('B2')
  })
})

describe('a restart', () => {
  it('lets the members of a stable group go on without a rebalance', async () => {
    const before = await groupWorld()
    const [a, b] = await stableGroup(before, [{}, {}])
    await before.groups.commitOffsets(commitRequest([item(before, 5, { metadata: 'note' })], { memberId: b.memberId, generation: 1 }))
    const world = await restart(before)
    expect(heartbeat(world, a)).toBe(Errors.NONE)
    expect(heartbeat(world, b)).toBe(Errors.NONE)
    expect(world.groups.describe('g')).toMatchObject({ state: 'Stable', protocolName: 'range' })
    expect(world.groups.describe('g').members.map((member) => Buffer.from(member.assignment).toString())).toEqual(['a-0', 'a-1'])
    expect(Buffer.from((await sync(world, b)).assignment).toString()).toBe('a-1')
    expect(world.groups.offset('g', world.topic, 0)).toMatchObject({ offset: 5, metadata: 'note' })
  })

  it('starts session timers afresh, so that members that died meanwhile expire', async () => {
    const before = await groupWorld()
    await stableGroup(before, [{}])
    const world = await restart(before)
    await world.clock.advance(9_999)
    expect(world.groups.describe('g').state).toBe('Stable')
    await world.clock.advance(1)
    expect(world.groups.describe('g').state).toBe('Empty')
  })

  it('keeps the generation of an empty group', async () => {
    const before = await groupWorld()
    const [a] = await stableGroup(before, [{}])
    before.groups.leave('g', [{ memberId: a.memberId, instanceId: null }])
    await settle()
    const world = await restart(before)
    const joining = world.groups.join(joinRequest())
    await world.clock.advance(3_000)
    expect((await joining).generation).toBe(3)
  })
})

describe('a shard that went to another pod', () => {
  it('takes its groups along: everything parked and everything new is NOT_COORDINATOR', async () => {
    const world = await groupWorld()
    const [a] = await stableGroup(world, [{}])
    const parked = world.groups.join(joinRequest())
    await settle()
    const shards = Array.from({ length: SHARDS }, (_, shard) => ({ shard, owner: 0 }))
    await world.engine.propose({ kind: 'assignShards', shards })
    expect(heartbeat(world, a)).toBe(Errors.NOT_COORDINATOR)
    expect(await now(parked)).toMatchObject({ error: Errors.NOT_COORDINATOR })
    expect(await world.groups.commitOffsets(commitRequest([item(world, 1)]))).toEqual([Errors.NOT_COORDINATOR])
    expect(world.groups.list()).toEqual([])
  })

  it('refuses what an older owner still writes (shard epochs, L19)', async () => {
    const world = await groupWorld()
    const next = await groupWorld({
      log: new (world.log.constructor as typeof import('../metadata/memoryLog.ts').MemoryLog)(world.log.disk),
    })
    expect(await world.groups.commitOffsets(commitRequest([item(world, 1)]))).toEqual([Errors.NOT_COORDINATOR])
    expect(next.groups.offset('g', next.topic, 0)).toBeNull()
  })
})

describe('close', () => {
  it('answers everything that is parked and leaves no timer of its own', async () => {
    const world = await groupWorld()
    // One is the coordinator's retention check, the others are the metadata engine's.
    const others = world.clock.timers - 1
    await stableGroup(world, [{}])
    const parked = world.groups.join(joinRequest())
    await settle()
    world.groups.close()
    expect(await now(parked)).toMatchObject({ error: Errors.NOT_COORDINATOR })
    expect(world.clock.timers).toBe(others)
  })
})

describe('a member of a consumer group', () => {
  it('that came by an entry whose outcome was not known goes when it is never heard of', async () => {
    const world = await groupWorld({ level: 2 })
    const { engine, groups } = world
    const propose = engine.propose.bind(engine)
    engine.propose = async (...args) => {
      await propose(...args)
      throw new FrazilError('LOG_UNAVAILABLE', 'it may have been applied')
    }
    const about = { version: 1, groupId: 'g', memberId: 'a', epoch: 0, instanceId: null, rackId: null, rebalanceTimeoutMs: 20_000 }
    const says = { topics: ['t'], regex: null, assignor: null, owned: [], clientId: 'c', clientHost: '/127.0.0.1' }
    expect((await groups.consumers.heartbeat({ ...about, ...says })).error).toBe(Errors.COORDINATOR_NOT_AVAILABLE)
    engine.propose = propose
    expect(groups.consumers.stored('g')!.members.size).toBe(1)
    await world.clock.advance(46_000)
    await settle()
    expect(groups.consumers.stored('g')!.members.size).toBe(0)
  })
})
