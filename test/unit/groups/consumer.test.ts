import { beforeEach, describe, expect, it } from 'vitest'
import { Errors } from '../../../protocol/errors.ts'
import type { ConsumerHeartbeat, HeartbeatResult } from '../../../src/groups/consumer/types.ts'
import { Subscriptions, TopicsVersion } from '../../../src/groups/consumer/subscriptions.ts'
import { consumerGroupState } from '../../../src/groups/consumer/describe.ts'
import { DEFAULT_GROUP_SETTINGS } from '../../../src/groups/types.ts'
import type { ConsumerMember } from '../../../src/metadata/commands.ts'
import type { StateView, TopicView } from '../../../src/metadata/view.ts'
import { decodeSnapshot, encodeSnapshot } from '../../../src/metadata/snapshot/file.ts'
import { hashRooms } from '../../../src/metadata/snapshot/hash.ts'
import { shardOf } from '../../../src/metadata/state/shards.ts'
import { createTopic } from '../metadata/helpers.ts'
import { commitRequest, groupWorld, item, joinRequest, now, restart, settle, stableGroup, type GroupWorld } from './harness.ts'

let world: GroupWorld
beforeEach(async () => {
  world = await groupWorld({ level: 2 })
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

const join = (memberId: string, more: More = {}): Promise<HeartbeatResult> =>
  beat(memberId, 0, { rebalanceTimeoutMs: 20_000, topics: ['t'], owned: [], ...more })

const given = (result: HeartbeatResult): number[] | null =>
  result.assignment === null ? null : result.assignment.flatMap((t) => t.partitions)
const own = (...partitions: number[]): More => ({ owned: [{ topicId: topicId(), partitions }] })
const topicId = (): string => world.engine.state.topicByName('t')!.topicId
const stored = () => world.groups.consumers.stored('g')!

describe('joining and reconciling', () => {
  it('a second member waits until the first says that it has given its part up', async () => {
    expect(await join('a')).toMatchObject({ error: 0, memberId: 'a', epoch: 1, heartbeatIntervalMs: 5_000 })
    expect(given(await join('a'))).toEqual([0, 1, 2])
    const second = await join('b')
    expect([second.epoch, given(second)]).toEqual([2, []])
    expect(consumerGroupState(stored())).toBe('Reconciling')
    // The first hears of it, keeps its epoch, and still holds partition 2 for everybody else.
    const told = await beat('a', 1)
    expect([told.epoch, given(told)]).toEqual([1, [0, 1]])
    expect(given(await beat('b', 2))).toBeNull()
    expect(given(await beat('a', 1, own(0, 1, 2)))).toBeNull()
    expect(given(await beat('b', 2))).toBeNull()
    expect((await beat('a', 1, own(0, 1))).epoch).toBe(2)
    expect(given(await beat('b', 2))).toEqual([2])
    expect(consumerGroupState(stored())).toBe('Stable')
    expect(given(await beat('b', 2))).toBeNull()
  })

  it('a member that leaves frees its part at once', async () => {
    await join('a')
    await join('b')
    await beat('a', 1)
    await beat('a', 1, own(0, 1))
    expect(await beat('a', -1)).toMatchObject({ error: 0, epoch: -1, memberId: 'a' })
    expect(given(await beat('b', 2))).toEqual([0, 1, 2])
    await beat('b', -1)
    expect(consumerGroupState(stored())).toBe('Empty')
    expect(world.groups.list()).toEqual([{ groupId: 'g', protocolType: 'consumer', state: 'Empty', type: 'consumer' }])
  })

  it('many requests at once make one entry, and each has its answer', async () => {
    await join('m0')
    const before = world.engine.state.lastEntry
    const results = await Promise.all(Array.from({ length: 20 }, (_, i) => join(`n${i}`)))
    expect(results.every(({ error, epoch }) => error === 0 && epoch >= 2)).toBe(true)
    expect(world.engine.state.lastEntry - before).toBeLessThanOrEqual(2)
    expect(stored().members.size).toBe(21)
  })

  it('full requests are told the assignment again', async () => {
    await join('a')
    expect(given(await beat('a', 1))).toBeNull()
    expect(given(await beat('a', 1, { rebalanceTimeoutMs: 20_000, topics: ['t'], ...own(0, 1, 2) }))).toEqual([0, 1, 2])
  })

  it('topics and patterns: what comes later is assigned, what is deleted is taken away', async () => {
    expect(given(await join('a', { topics: null, regex: 't.?' }))).toEqual([0, 1, 2])
    const number = await createTopic(world.engine, 't2', 2)
    await createTopic(world.engine, 'xt', 2)
    const more = await beat('a', 1)
    expect([more.epoch, given(more)!.length]).toEqual([2, 5])
    await world.engine.propose({ kind: 'deleteTopic', topic: number, keepTableAs: '' } as never)
    expect(given(await beat('a', 2))!.length).toBe(3)
    // The empty pattern takes it back.
    await beat('a', 2, own(0, 1, 2))
    expect(given(await beat('a', 3, { regex: '' }))).toEqual([])
  })
})

describe('epochs', () => {
  it('are the member’s, or the one before when its answer was lost', async () => {
    await join('a')
    expect(await beat('a', 2)).toMatchObject({ error: Errors.FENCED_MEMBER_EPOCH })
    await join('b')
    await beat('a', 1)
    await beat('a', 1, own(0, 1))
    expect(await beat('a', 1)).toMatchObject({ error: Errors.FENCED_MEMBER_EPOCH })
    expect(await beat('a', 1, own(0, 1, 2))).toMatchObject({ error: Errors.FENCED_MEMBER_EPOCH })
    expect(await beat('a', 1, own(0))).toMatchObject({ error: 0, epoch: 2 })
    expect(await beat('x', 1)).toMatchObject({ error: Errors.UNKNOWN_MEMBER_ID })
    expect(await beat('a', 1, { groupId: 'none' })).toMatchObject({ error: Errors.GROUP_ID_NOT_FOUND })
    expect(await join('a')).toMatchObject({ error: 0, epoch: 2 })
  })

  it('guard offsets', async () => {
    await join('a')
    const commit = async (generation: number, memberId: string, more = {}): Promise<number> =>
      (await world.groups.commitOffsets(commitRequest([item(world, 1)], { generation, memberId, groupIdNotFound: true, ...more })))[0]
    expect(await commit(1, 'a')).toBe(Errors.NONE)
    expect(await commit(1, 'a', { groupIdNotFound: false })).toBe(Errors.UNSUPPORTED_VERSION)
    expect(await commit(0, 'a')).toBe(Errors.STALE_MEMBER_EPOCH)
    expect(await commit(1, 'x')).toBe(Errors.UNKNOWN_MEMBER_ID)
    expect(await commit(-1, '')).toBe(Errors.UNKNOWN_MEMBER_ID)
    expect(world.groups.mayFetch('g')).toBe(Errors.NONE)
    expect(world.groups.mayFetch('g', 'a', 1)).toBe(Errors.NONE)
    expect(world.groups.mayFetch('g', 'a', 0)).toBe(Errors.STALE_MEMBER_EPOCH)
    expect(world.groups.mayFetch('g', 'x', 1)).toBe(Errors.UNKNOWN_MEMBER_ID)
    await beat('a', -1)
    expect(await commit(-1, '')).toBe(Errors.NONE)
  })
})

describe('time', () => {
  it('takes out who is silent for a session, and nobody else', async () => {
    await join('a')
    await join('b')
    await world.clock.advance(30_000)
    await beat('a', 1)
    await world.clock.advance(16_000)
    await settle()
    expect([...stored().members.keys()]).toEqual(['a'])
    expect(await beat('b', 2)).toMatchObject({ error: Errors.UNKNOWN_MEMBER_ID })
  })

  it('takes out who does not give up in its rebalance timeout', async () => {
    await join('a')
    await join('b')
    await beat('a', 1)
    await world.clock.advance(19_000)
    await beat('a', 1)
    await beat('b', 2)
    await world.clock.advance(2_000)
    await settle()
    expect([...stored().members.keys()]).toEqual(['b'])
    expect(given(await beat('b', 2))).toEqual([0, 1, 2])
  })
})

describe('static members', () => {
  it('keep what they have while they are away; a second holder is refused', async () => {
    const one = { instanceId: 'one' }
    await join('a', one)
    expect(await join('a2', one)).toMatchObject({ error: Errors.UNRELEASED_INSTANCE_ID })
    expect(await beat('a2', 1, one)).toMatchObject({ error: Errors.FENCED_INSTANCE_ID })
    expect(await beat('a', -2, one)).toMatchObject({ error: 0, epoch: -2 })
    const { epoch } = stored().head
    const back = await join('a2', one)
    expect([back.error, back.epoch, given(back)]).toEqual([0, 1, [0, 1, 2]])
    expect(stored().head.epoch).toBe(epoch)
    expect(await beat('a', 1, one)).toMatchObject({ error: Errors.FENCED_INSTANCE_ID })
    await beat('a2', -2, one)
    await world.clock.advance(46_000)
    await settle()
    expect(stored().members.size).toBe(0)
  })
})

describe('patterns', () => {
  it('are forgotten when no member has them any more', () => {
    let looks = 0
    const topics = (): Iterable<TopicView> => {
      looks++
      return world.engine.state.topics()
    }
    const state = { topics, topicByName: (name: string) => world.engine.state.topicByName(name) } as StateView
    const subscriptions = new Subscriptions(state, new TopicsVersion(state))
    const member = (regex: string): ConsumerMember => ({ topics: [], regex }) as unknown as ConsumerMember
    subscriptions.hash([member('a'), member('b')])
    const before = looks
    subscriptions.hash([member('b')])
    expect(looks).toBe(before)
    subscriptions.hash([member('a')])
    expect(looks).toBe(before + 1)
  })
})

describe('what is refused', () => {
  it.each<[string, number, More]>([
    ['no member id', Errors.INVALID_REQUEST, { memberId: '' }],
    ['an empty group id', Errors.INVALID_REQUEST, { groupId: '' }],
    ['an empty instance id', Errors.INVALID_REQUEST, { instanceId: '' }],
    ['no rebalance timeout', Errors.INVALID_REQUEST, { rebalanceTimeoutMs: -1 }],
    ['partitions of a newcomer', Errors.INVALID_REQUEST, { owned: null }],
    ['no subscription', Errors.INVALID_REQUEST, { topics: null }],
    ['an epoch below -2', Errors.INVALID_REQUEST, { epoch: -3 }],
    ['away without an instance id', Errors.INVALID_REQUEST, { epoch: -2 }],
    ['an unknown assignor', Errors.UNSUPPORTED_ASSIGNOR, { assignor: 'sticky' }],
    ['a bad pattern', Errors.INVALID_REGULAR_EXPRESSION, { regex: '(a' }],
    ['a pattern that takes seconds to compile', Errors.INVALID_REGULAR_EXPRESSION, { regex: `[${'\\pL'.repeat(3000)}]` }],
  ])('%s', async (_, error, more) => {
    const result = await join('a', more)
    expect(result.error).toBe(error)
    expect(result.message).not.toBeNull()
    expect(world.groups.list()).toEqual([])
  })

  it('one member too many', async () => {
    const consumer = { ...DEFAULT_GROUP_SETTINGS.consumer, membersMax: 1 }
    world = await groupWorld({ level: 2, settings: { consumer } })
    await join('a')
    expect(await join('b')).toMatchObject({ error: Errors.GROUP_MAX_SIZE_REACHED })
    expect(await join('a')).toMatchObject({ error: 0 })
  })

  it('what came under an old epoch of the shard: nothing of it stays', async () => {
    await join('a')
    const shard = shardOf('g')
    const lost = world.engine.propose({ kind: 'assignShards', shards: [{ shard, owner: 0 }] })
    const late = await Promise.all([join('b'), join('c')])
    await lost
    expect(late.map(({ error }) => error)).toEqual([Errors.NOT_COORDINATOR, Errors.NOT_COORDINATOR])
    expect([...stored().members.keys()]).toEqual(['a'])
    expect(await beat('a', 1)).toMatchObject({ error: Errors.NOT_COORDINATOR })
    await world.engine.propose({ kind: 'assignShards', shards: [{ shard, owner: world.engine.incarnation }] })
    expect(await join('b')).toMatchObject({ error: 0, epoch: 2 })
  })
})

describe('the two protocols', () => {
  it('an empty group goes from one to the other, with its offsets', async () => {
    const [member] = await stableGroup(world, [{}])
    await world.groups.commitOffsets(commitRequest([item(world, 5)], { generation: member.generation, memberId: member.memberId }))
    expect(await join('a')).toMatchObject({ error: Errors.GROUP_ID_NOT_FOUND })
    world.groups.leave('g', [{ memberId: member.memberId, instanceId: null }])
    await settle()
    expect(await join('a')).toMatchObject({ error: 0, epoch: 1 })
    expect(world.groups.offset('g', world.topic, 0)?.offset).toBe(5)
    expect(await now(world.groups.join(joinRequest()))).toMatchObject({ error: Errors.INCONSISTENT_GROUP_PROTOCOL })
    expect(await world.groups.delete('g')).toBe(Errors.NON_EMPTY_GROUP)
    await beat('a', -1)
    await stableGroup(world, [{}])
    expect(world.groups.describe('g')).toMatchObject({ error: 0, state: 'Stable' })
    expect(world.groups.consumers.stored('g')).toBeNull()
    expect(world.groups.offset('g', world.topic, 0)?.offset).toBe(5)
  })

  it('an empty consumer group can be deleted', async () => {
    await join('a')
    await beat('a', -1)
    expect(await world.groups.delete('g')).toBe(Errors.NONE)
    expect(world.groups.list()).toEqual([])
    expect(await join('a')).toMatchObject({ error: 0, epoch: 1 })
  })
})

describe('a restart', () => {
  it('finds members, epochs and assignments, and their sessions begin anew', async () => {
    await join('a', { instanceId: 'one' })
    await join('b')
    await beat('a', 1)
    const before = stored()
    world = await restart(world, undefined, 2)
    expect(stored()).toEqual(before)
    expect((await beat('a', 1, { instanceId: 'one', ...own(0, 1) })).epoch).toBe(2)
    expect(given(await beat('b', 2))).toEqual([2])
    await world.clock.advance(46_000)
    await settle()
    expect(stored().members.size).toBe(0)
  })

  it('a snapshot holds the same as the log', async () => {
    await join('a', { instanceId: 'one' })
    await join('b')
    await beat('a', 1)
    const { rooms } = world.engine.state as never as { rooms: Parameters<typeof hashRooms>[0] }
    const again = decodeSnapshot(rooms.lastEntry, encodeSnapshot(rooms))
    expect(hashRooms(again)).toEqual(hashRooms(rooms))
    expect(again.groupRows.byId.get('g')?.consumer).toEqual(stored())
  })
})
