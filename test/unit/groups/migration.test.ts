import { beforeEach, describe, expect, it } from 'vitest'
import { Errors } from '../../../protocol/errors.ts'
import { DEFAULT_CONSUMER_SETTINGS, type ConsumerHeartbeat, type HeartbeatResult } from '../../../src/groups/consumer/types.ts'
import { encodeAssignment, parseAssignment, parseSubscription } from '../../../src/groups/embedded.ts'
import { DEFAULT_GROUP_SETTINGS, type GroupSettings, type JoinRequest, type JoinResult } from '../../../src/groups/types.ts'
import { decodeSnapshot, encodeSnapshot } from '../../../src/metadata/snapshot/file.ts'
import { hashRooms } from '../../../src/metadata/snapshot/hash.ts'
import { shardOf } from '../../../src/metadata/state/shards.ts'
import { commitRequest, groupWorld, heartbeat, item, joinRequest, restart, settle, sync, type GroupWorld } from './harness.ts'

let world: GroupWorld

function settings(more: Partial<typeof DEFAULT_CONSUMER_SETTINGS> = {}): Partial<GroupSettings> {
  return {
    ...DEFAULT_GROUP_SETTINGS,
    initialRebalanceDelayMs: 0,
    consumer: { ...DEFAULT_CONSUMER_SETTINGS, assignmentIntervalMs: 0, ...more },
  }
}

beforeEach(async () => {
  world = await groupWorld({ level: 3, settings: settings() })
})

type More = Partial<ConsumerHeartbeat>

function beat(memberId: string, epoch: number, more: More = {}): Promise<HeartbeatResult> {
  return world.groups.consumers.heartbeat({
    version: 1,
    groupId: 'g',
    memberId,
    epoch,
    instanceId: null,
    rackId: null,
    rebalanceTimeoutMs: -1,
    topics: null,
    regex: null,
    assignor: null,
    owned: null,
    clientId: 'c',
    clientHost: '/127.0.0.1',
    ...more,
  })
}

const topicId = (): string => world.engine.state.topicByName('t')!.topicId
const own = (...partitions: number[]): More => ({ owned: partitions.length === 0 ? [] : [{ topicId: topicId(), partitions }] })
const enter = (memberId: string, more: More = {}): Promise<HeartbeatResult> =>
  beat(memberId, 0, { rebalanceTimeoutMs: 20_000, topics: ['t'], owned: [], ...more })
const given = (result: HeartbeatResult): number[] | null =>
  result.assignment === null ? null : result.assignment.flatMap((t) => t.partitions)
const stored = () => world.groups.consumers.stored('g')!

/** A subscription to t, version 1, that owns these partitions. */
function subscription(...owned: number[]): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([0, value.length]), Buffer.from(value)])
  const int = (value: number): Buffer => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value])
  const parts = owned.length === 0 ? [int(0)] : [int(1), text('t'), int(owned.length), ...owned.map(int)]
  return Buffer.concat([Buffer.from([0, 1]), int(1), text('t'), int(-1), ...parts])
}

const classic = (memberId: string, owned: number[] = [], more: Partial<JoinRequest> = {}): JoinRequest =>
  joinRequest({ memberId, protocols: [{ name: 'range', metadata: subscription(...owned) }], requireKnownMemberId: true, ...more })

const assigned = (bytes: Uint8Array): readonly number[] => parseAssignment(bytes)!.partitions.flatMap(({ partitions }) => partitions)
const bytesOf = (...partitions: number[]): string =>
  Buffer.from(encodeAssignment([{ topic: 't', partitions }], subscription())).toString('latin1')

/** A classic group of one member that has everything. */
async function classicGroup(more: Partial<JoinRequest> = {}): Promise<JoinResult> {
  const parked = world.groups.join(classic('', [], { requireKnownMemberId: false, ...more }))
  await settle()
  await world.clock.advance(0)
  const joined = await parked
  await world.groups.sync({
    groupId: 'g',
    generation: joined.generation,
    memberId: joined.memberId,
    instanceId: more.instanceId ?? null,
    protocolType: null,
    protocolName: null,
    assignments: [{ memberId: joined.memberId, assignment: Buffer.from(bytesOf(0, 1, 2), 'latin1') }],
  })
  return joined
}

describe('upgrade', () => {
  it('the first member of the consumer protocol makes the group one; the other gives up, joins and syncs through it', async () => {
    const old = await classicGroup()
    expect(await world.groups.commitOffsets(commitRequest([item(world, 5)], { memberId: old.memberId, generation: 1 }))).toEqual([0])
    const first = await enter('a')
    expect([first.error, first.epoch, given(first)]).toEqual([0, 2, []])
    expect(world.groups.offset('g', world.topic, 0)?.offset).toBe(5)
    expect(world.groups.list()).toMatchObject([{ type: 'consumer', state: 'Reconciling' }])
    expect(world.groups.describe('g').error).toBe(Errors.GROUP_ID_NOT_FOUND)
    expect(heartbeat(world, old)).toBe(Errors.REBALANCE_IN_PROGRESS)
    // Still in its old generation it may commit what it has.
    expect(await world.groups.commitOffsets(commitRequest([item(world, 6)], { memberId: old.memberId, generation: 1 }))).toEqual([0])
    // A cooperative member says what it owns: it must give up first, and join again.
    const told = await world.groups.join(classic(old.memberId, [0, 1, 2]))
    expect(told).toMatchObject({ error: 0, generation: 1, protocolType: 'consumer', protocolName: 'range', leader: '', members: [] })
    expect(assigned((await sync(world, told)).assignment)).toEqual([0, 1])
    expect(heartbeat(world, told)).toBe(Errors.REBALANCE_IN_PROGRESS)
    const again = await world.groups.join(classic(old.memberId, [0, 1]))
    expect(again).toMatchObject({ error: 0, generation: 2 })
    expect(assigned((await sync(world, again)).assignment)).toEqual([0, 1])
    expect(heartbeat(world, again)).toBe(Errors.NONE)
    expect(given(await beat('a', 2))).toEqual([2])
    expect(stored().members.get(old.memberId)?.classic?.sessionTimeoutMs).toBe(10_000)
  })

  it('a rebalance that goes on is broken off: who waits is sent to join again', async () => {
    await classicGroup()
    const waiting = world.groups.join(classic('', [], { requireKnownMemberId: false }))
    await settle()
    expect((await enter('a')).error).toBe(0)
    expect((await waiting).error).toBe(Errors.REBALANCE_IN_PROGRESS)
  })

  it.each(['disabled', 'downgrade'] as const)('is refused when the policy is %s', async (migrationPolicy) => {
    world = await groupWorld({ level: 3, settings: settings({ migrationPolicy }) })
    const old = await classicGroup()
    expect(await enter('a')).toMatchObject({
      error: Errors.GROUP_ID_NOT_FOUND,
      message: 'Cannot upgrade classic group g to consumer group because online upgrade is disabled.',
    })
    expect(heartbeat(world, old)).toBe(Errors.NONE)
  })

  it('is refused for other protocol types, bytes that are no assignment, data of the user’s own, and too many members', async () => {
    const why = async (): Promise<string | null> => (await enter('a')).message
    const parked = world.groups.join(joinRequest({ protocolType: 'connect' }))
    await settle()
    await world.clock.advance(0)
    await sync(world, await parked, {})
    expect(await why()).toMatch(/does not use the consumer embedded protocol/)
    for (const [bytes, reason] of [
      ['\0', 'malformed'],
      ['\0\x01\0\0\0\0\0\0\0\x01x', 'custom assignor'],
    ]) {
      world = await groupWorld({ level: 3, settings: settings() })
      const joining = world.groups.join(classic('', [], { requireKnownMemberId: false }))
      await settle()
      await world.clock.advance(0)
      const joined = await joining
      await sync(world, joined, { [joined.memberId]: bytes })
      expect(await why()).toContain(reason)
      expect(heartbeat(world, joined)).toBe(Errors.NONE)
    }
    world = await groupWorld({ level: 3, settings: settings({ membersMax: 1 }) })
    await classicGroup()
    expect((await enter('a')).error).toBe(Errors.GROUP_MAX_SIZE_REACHED)
  })

  it('waits for every pod to know of it', async () => {
    world = await groupWorld({ level: 2, settings: settings() })
    const old = await classicGroup()
    expect(await enter('a')).toMatchObject({ error: Errors.GROUP_ID_NOT_FOUND, message: 'Group g is not a consumer group.' })
    expect(heartbeat(world, old)).toBe(Errors.NONE)
    world = await groupWorld({ level: 2, settings: settings() })
    await enter('a')
    expect((await world.groups.join(classic(''))).error).toBe(Errors.INCONSISTENT_GROUP_PROTOCOL)
  })

  it('a static member goes over and back with what it has', async () => {
    const old = await classicGroup({ instanceId: 'i' })
    const over = await enter('a', { instanceId: 'i' })
    expect([over.error, over.epoch, given(over)]).toEqual([0, 1, [0, 1, 2]])
    expect(heartbeat(world, old, { instanceId: 'i' })).toBe(Errors.FENCED_INSTANCE_ID)
    // Back: the last member of the consumer protocol is replaced, so the group is a classic one, and need not be rebalanced.
    const back = await world.groups.join(classic('', [], { instanceId: 'i', requireKnownMemberId: false }))
    expect(back).toMatchObject({ error: 0, generation: 1 })
    expect(world.groups.list()).toMatchObject([{ type: 'classic', state: 'Stable' }])
    expect(assigned((await sync(world, back, {}, { instanceId: 'i' })).assignment)).toEqual([0, 1, 2])
    expect((await beat('a', 1, { instanceId: 'i' })).error).toBe(Errors.GROUP_ID_NOT_FOUND)
  })
})

describe('members of the classic protocol in a consumer group', () => {
  it('get an id first, and are refused when they cannot take part', async () => {
    await enter('a')
    const asked = await world.groups.join(classic(''))
    expect(asked.error).toBe(Errors.MEMBER_ID_REQUIRED)
    const joined = await world.groups.join(classic(asked.memberId))
    expect(joined).toMatchObject({ error: 0, generation: 2, memberId: asked.memberId })
    const error = async (request: JoinRequest): Promise<number> => (await world.groups.join(request)).error
    expect(await error(classic('', [], { protocolType: 'connect' }))).toBe(Errors.INCONSISTENT_GROUP_PROTOCOL)
    expect(await error(classic('', [], { protocols: [{ name: 'other', metadata: subscription() }] }))).toBe(
      Errors.INCONSISTENT_GROUP_PROTOCOL,
    )
    expect(await error(classic('', [], { protocols: [{ name: 'range', metadata: Buffer.from([0]) }] }))).toBe(
      Errors.INCONSISTENT_GROUP_PROTOCOL,
    )
    expect(await error(classic('x', [], { instanceId: 'i' }))).toBe(Errors.UNKNOWN_MEMBER_ID)
    expect(heartbeat(world, { memberId: 'a', generation: 1 })).toBe(Errors.UNKNOWN_MEMBER_ID)
    expect(heartbeat(world, { memberId: asked.memberId, generation: 1 })).toBe(Errors.ILLEGAL_GENERATION)
    const named = { groupId: 'g', memberId: asked.memberId, instanceId: null, generation: 2, assignments: [] }
    expect((await world.groups.sync({ ...named, protocolType: 'x', protocolName: null })).error).toBe(Errors.INCONSISTENT_GROUP_PROTOCOL)
    expect((await world.groups.sync({ ...named, protocolType: null, protocolName: 'x' })).error).toBe(Errors.INCONSISTENT_GROUP_PROTOCOL)
    const commit = (generation: number, topic = item(world, 1)): Promise<readonly number[]> =>
      world.groups.commitOffsets(commitRequest([topic], { memberId: asked.memberId, generation }))
    expect(await commit(2)).toEqual([Errors.NONE])
    expect(await commit(1)).toEqual([Errors.ILLEGAL_GENERATION])
    expect(world.groups.mayFetch('g', asked.memberId, 1)).toBe(Errors.ILLEGAL_GENERATION)
  })

  it('are refused when migration is disabled', async () => {
    world = await groupWorld({ level: 3, settings: settings({ migrationPolicy: 'disabled' }) })
    await enter('a')
    expect((await world.groups.join(classic(''))).error).toBe(Errors.INCONSISTENT_GROUP_PROTOCOL)
  })

  it('go when they are silent, or do not join again or sync in their rebalance timeout', async () => {
    await enter('a')
    const join = (): Promise<JoinResult> => world.groups.join(classic('', [], { requireKnownMemberId: false, rebalanceTimeoutMs: 15_000 }))
    const silent = await join()
    await sync(world, silent)
    const unsynced = await join()
    const lazy = await join()
    await sync(world, lazy)
    const beats = async (...ids: JoinResult[]): Promise<void> => {
      for (let i = 0; i < 4; i++) {
        await world.clock.advance(4_000)
        for (const { memberId } of ids) heartbeat(world, { memberId, generation: stored().members.get(memberId)?.epoch ?? 0 })
        const { epoch, assigned } = stored().members.get('a')!
        await beat('a', epoch, { owned: assigned })
      }
    }
    await beats(unsynced, lazy)
    expect(stored().members.has(silent.memberId)).toBe(false)
    expect(stored().members.has(unsynced.memberId)).toBe(false)
    // The others' going made a later epoch: who does not join for it goes too.
    expect(stored().members.has(lazy.memberId)).toBe(true)
    await beats(lazy)
    expect(stored().members.has(lazy.memberId)).toBe(false)
  })
})

describe('downgrade', () => {
  async function mixed(): Promise<JoinResult> {
    await enter('a')
    const joined = await world.groups.join(classic('', [], { requireKnownMemberId: false }))
    await sync(world, joined)
    return joined
  }

  const goings: Readonly<Record<string, (left: JoinResult) => Promise<unknown>>> = {
    leave: () => beat('a', -1),
    removal: () => world.groups.consumers.removeAll('g', [{ memberId: 'a', instanceId: null }]),
    silence: async (left) => {
      for (let i = 0; i < 10; i++) {
        await world.clock.advance(5_000)
        heartbeat(world, left)
      }
    },
  }

  it.each(Object.keys(goings))('the last member of the consumer protocol goes by %s: a classic group, rebalanced', async (how) => {
    const left = await mixed()
    await goings[how](left)
    expect(stored()).toBeNull()
    expect(world.groups.list()).toMatchObject([{ type: 'classic', state: 'PreparingRebalance' }])
    expect(heartbeat(world, left)).toBe(Errors.REBALANCE_IN_PROGRESS)
    const parked = world.groups.join(classic(left.memberId))
    await settle()
    const joined = await parked
    expect(joined).toMatchObject({ error: 0, generation: 3, leader: left.memberId })
    expect((await sync(world, joined, { [left.memberId]: bytesOf(0, 1, 2) })).error).toBe(0)
    expect((await beat('a', 1)).error).toBe(Errors.GROUP_ID_NOT_FOUND)
  })

  it.each(['disabled', 'upgrade'] as const)('does not happen when the policy is %s', async (migrationPolicy) => {
    const left = await mixed()
    world = await restart(world, settings({ migrationPolicy }), 3)
    expect((await beat('a', -1)).error).toBe(0)
    expect(stored().members.size).toBe(1)
    expect(heartbeat(world, left)).toBe(Errors.REBALANCE_IN_PROGRESS)
    // Where there is no migration at all even a member that is there already is turned away.
    const expected = migrationPolicy === 'upgrade' ? { error: 0, generation: 3 } : { error: Errors.INCONSISTENT_GROUP_PROTOCOL }
    expect(await world.groups.join(classic(left.memberId))).toMatchObject(expected)
  })

  it('does not happen while a member of the consumer protocol is left, nor when nobody is', async () => {
    await enter('a')
    await enter('b')
    const left = await world.groups.join(classic('', [], { requireKnownMemberId: false }))
    await beat('a', -1)
    expect(stored().members.size).toBe(2)
    world.groups.leave('g', [])
    await world.groups.consumers.removeAll('g', [
      { memberId: 'b', instanceId: null },
      { memberId: left.memberId, instanceId: null },
    ])
    expect(stored().members.size).toBe(0)
    expect(world.groups.list()).toMatchObject([{ type: 'consumer', state: 'Empty' }])
  })
})

describe('what is stored', () => {
  it('is found again after a restart and in a snapshot, at every step of the way', async () => {
    const again = async (): Promise<void> => {
      const { rooms } = world.engine.state as never as { rooms: Parameters<typeof hashRooms>[0] }
      const snapshot = decodeSnapshot(world.engine.state.lastEntry, encodeSnapshot(rooms))
      expect(hashRooms(snapshot).toString('hex')).toBe(hashRooms(rooms).toString('hex'))
      world = await restart(world, settings(), 3)
    }
    const old = await classicGroup()
    await again()
    await enter('a')
    await again()
    expect(heartbeat(world, old)).toBe(Errors.REBALANCE_IN_PROGRESS)
    const joined = await world.groups.join(classic(old.memberId))
    await again()
    expect(assigned((await sync(world, joined)).assignment)).toEqual([0, 1])
    expect(given(await beat('a', 2, own()))).toEqual([2])
    await beat('a', -1)
    await again()
    expect(heartbeat(world, joined)).toBe(Errors.NONE)
    expect(world.groups.list()).toMatchObject([{ type: 'classic', state: 'Stable' }])
  })

  it('a draft made for another revision of the group is refused, and the turn is done again', async () => {
    await enter('a')
    const { head, members } = stored()
    const shardEpoch = world.engine.state.shard(shardOf('g')).epoch
    const stale = { kind: 'changeConsumerGroup', shardEpoch, head: { ...head }, members: [], removed: ['a'] } as const
    expect(await world.engine.propose(stale)).toMatchObject({ kind: 'refused', error: Errors.INVALID_UPDATE_VERSION })
    expect(members.size).toBe(1)
    // An entry that was taken for lost is applied just before the next draft.
    const lost = world.engine.propose({ ...stale, head: { ...head, revision: head.revision! + 1, epoch: 7 } })
    const joined = await enter('b')
    expect(await lost).toMatchObject({ kind: 'ok' })
    expect([joined.error, joined.epoch, given(joined)]).toEqual([0, 8, [0, 1, 2]])
    expect([...stored().members.keys()]).toEqual(['b'])
  })
})

describe('KIP-1263', () => {
  it('targets are computed again after the interval; what is unsubscribed is given up before', async () => {
    world = await groupWorld({ level: 3, settings: settings({ assignmentIntervalMs: 1_000 }) })
    expect(given(await enter('a'))).toEqual([0, 1, 2])
    const second = await enter('b')
    expect([second.epoch, given(second)]).toEqual([1, []])
    expect(world.groups.list()).toMatchObject([{ state: 'Assigning' }])
    expect(given(await beat('a', 1, own(0, 1, 2)))).toBeNull()
    expect(given(await beat('a', 1, { topics: ['other'], ...own(0, 1, 2) }))).toEqual([])
    await world.clock.advance(1_000)
    expect((await beat('b', 1)).epoch).toBe(3)
    expect((await beat('a', 1, own())).epoch).toBe(3)
    expect(given(await beat('b', 3))).toEqual([0, 1, 2])
    await beat('a', -1)
    await beat('b', -1)
    // Nothing is waited for in a group that was empty.
    expect(given(await enter('c'))).toEqual([0, 1, 2])
  })
})

describe('KIP-1251', () => {
  it('offsets are taken in an older epoch of partitions that the member has had since then', async () => {
    await enter('a')
    await enter('b')
    await beat('a', 1, own(0, 1, 2))
    expect((await beat('a', 1, own(0, 1))).epoch).toBe(2)
    expect(given(await beat('b', 2))).toEqual([2])
    const commit = (memberId: string, generation: number, partition: number): Promise<readonly number[]> =>
      world.groups.commitOffsets(commitRequest([item(world, 9, { partition })], { memberId, generation, groupIdNotFound: true }))
    expect(await commit('a', 1, 0)).toEqual([Errors.NONE])
    expect(await commit('a', 1, 2)).toEqual([Errors.STALE_MEMBER_EPOCH])
    expect(await commit('b', 1, 2)).toEqual([Errors.STALE_MEMBER_EPOCH])
    expect(await commit('a', 3, 0)).toEqual([Errors.STALE_MEMBER_EPOCH])
    const mixed = commitRequest([item(world, 7, { partition: 2 }), item(world, 8)], { memberId: 'a', generation: 1, groupIdNotFound: true })
    expect(await world.groups.commitOffsets(mixed)).toEqual([Errors.STALE_MEMBER_EPOCH, Errors.NONE])
  })
})

describe('embedded bytes', () => {
  it('are read by version, and refused when they are cut', () => {
    const whole = subscription(0, 2)
    expect(parseSubscription(whole)).toEqual({ topics: ['t'], owned: [{ topic: 't', partitions: [0, 2] }], rackId: null })
    for (let size = 0; size < whole.length; size++) expect(parseSubscription(whole.subarray(0, size))).toBeNull()
    expect(parseSubscription(Buffer.from([0, 0, 0x7f, 0xff, 0xff, 0xff]))).toBeNull()
    expect(parseAssignment(Buffer.alloc(0))).toEqual({ partitions: [], hasUserData: false })
  })
})
