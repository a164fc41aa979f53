import { describe, expect, it } from 'vitest'
import { Errors } from '../../../protocol/errors.ts'
import type { Command, GroupRecord, PodAbout } from '../../../src/metadata/commands.ts'
import { SUPPORTED_LEVEL } from '../../../src/metadata/apply/pods.ts'
import { shardOf } from '../../../src/metadata/state/shards.ts'
import { decodeSnapshot, encodeSnapshot } from '../../../src/metadata/snapshot/file.ts'
import { State } from '../../../src/metadata/state/state.ts'
import { Bench } from './rooms.ts'

const register = (pod: string, nonce: number, more: object = {}): Command => ({
  kind: 'registerIncarnation',
  pod,
  nonce: Buffer.alloc(16, nonce),
  level: 1,
  fenceOlder: false,
  ...more,
})

describe('proposals (L1)', () => {
  it('apply once: a seen sequence is skipped and answered as before, a gap is refused', () => {
    const bench = new Bench()
    const allocate: Command = { kind: 'allocateProducerIds', count: 5 }
    expect(bench.apply(allocate, { sequence: 1 })).toEqual({ kind: 'producerIds', first: 0, count: 5 })
    expect(bench.apply(allocate, { sequence: 1 })).toEqual({ kind: 'producerIds', first: 0, count: 5 })
    expect(bench.apply(allocate, { sequence: 3 })).toMatchObject({ kind: 'refused', reason: expect.stringContaining('came after 1') })
    expect(bench.apply(allocate, { sequence: 2 })).toEqual({ kind: 'producerIds', first: 5, count: 5 })
    expect(bench.apply(allocate, { sequence: 1 })).toEqual({ kind: 'producerIds', first: 0, count: 5 })
    expect(bench.apply(allocate, { incarnation: 9, sequence: 1 })).toMatchObject({ kind: 'refused', error: Errors.STALE_BROKER_EPOCH })
    for (const count of [0, 1_000_001]) expect(bench.apply({ ...allocate, count } as Command)).toMatchObject({ kind: 'refused' })
  })

  it('one entry may hold the same proposal twice', () => {
    const bench = new Bench()
    const allocate: Command = { kind: 'allocateProducerIds', count: 5 }
    bench.entry([allocate, allocate], { sequence: 1 })
    const { results } = bench.entry([allocate, allocate], { sequence: 2 })
    expect(results.map((result) => (result.kind === 'producerIds' ? result.first : -1))).toEqual([5, 10])
  })
})

describe('pods and incarnations (L22)', () => {
  it('a node id belongs to a name for ever, the first is 0; an incarnation is never used again', () => {
    const bench = new Bench()
    expect(bench.apply(register('pod-b', 2))).toEqual({ kind: 'incarnation', incarnation: 2, nodeId: 1 })
    expect(bench.apply(register('pod-a', 3))).toEqual({ kind: 'incarnation', incarnation: 3, nodeId: 0 })
    expect(bench.apply(register('pod-a', 3))).toEqual({ kind: 'incarnation', incarnation: 3, nodeId: 0 })
    expect([1, 3].map((i) => bench.state.incarnation(i)!.live)).toEqual([true, true])
    bench.apply(register('pod-a', 4, { fenceOlder: true }))
    expect([1, 2, 3, 4].map((i) => bench.state.incarnation(i)!.live)).toEqual([false, true, false, true])
    expect([...bench.state.pods()]).toEqual([
      { name: 'pod-a', nodeId: 0, incarnation: 4, live: true },
      { name: 'pod-b', nodeId: 1, incarnation: 2, live: true },
    ])
    expect(bench.apply({ kind: 'registerIncarnation', pod: '', nonce: Buffer.alloc(16), level: 1, fenceOlder: false })).toMatchObject({
      kind: 'refused',
    })
    expect(bench.state.clusterId).toBe(Buffer.alloc(16, 1).toString('base64url'))
  })

  it('a fence names the renewals it saw (L6)', () => {
    const bench = new Bench()
    bench.apply(register('pod-b', 2))
    expect(bench.apply({ kind: 'fenceIncarnation', incarnation: 2, renewals: 1 })).toMatchObject({ kind: 'refused' })
    expect(bench.apply({ kind: 'fenceIncarnation', incarnation: 7, renewals: 0 })).toMatchObject({ kind: 'refused' })
    expect(bench.apply({ kind: 'fenceIncarnation', incarnation: 2, renewals: 0 })).toEqual({ kind: 'ok' })
    expect(bench.state.incarnation(2)!.live).toBe(false)
  })

  it('a level is raised only when every live pod supports it; a program that does not stops (L5)', () => {
    const bench = new Bench()
    expect(bench.apply({ kind: 'setLevel', level: 2 })).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('pod-a supports level 1'),
    })
    expect(bench.apply({ kind: 'setLevel', level: 1 })).toMatchObject({ kind: 'refused' })
    expect(bench.apply({ kind: 'moveLease', name: 'log', owner: 1, term: 0 })).toMatchObject({
      reason: expect.stringContaining('needs feature level 2'),
    })
    const next = SUPPORTED_LEVEL + 1
    bench.apply(register('pod-a', 2, { level: next, fenceOlder: true }))
    expect(() => bench.apply({ kind: 'setLevel', level: next }, { incarnation: 2 })).toThrow(/start a newer one/)
  })

  it('time of the state never goes back, whatever an entry says (L6)', () => {
    const bench = new Bench()
    const before = bench.state.lastTimeMs
    bench.apply({ kind: 'allocateProducerIds', count: 1 }, { timeMs: before - 5000 })
    expect(bench.state.lastTimeMs).toBe(before)
  })
})

describe('membership (level 2)', () => {
  const about: PodAbout = { listeners: [{ name: 'PLAINTEXT', host: 'h', port: 9092 }], rack: 'z', peer: 'h:1', phase: 2 }
  function cluster(): Bench {
    const bench = new Bench()
    bench.apply(register('pod-a', 2, { level: 2, fenceOlder: true }))
    bench.apply(register('pod-b', 3, { level: 2 }))
    expect(bench.apply({ kind: 'setLevel', level: 2 }, { incarnation: 2 })).toEqual({ kind: 'ok' })
    return bench
  }

  it('what a pod announces is its own, comes back from a snapshot, and goes when it is fenced', () => {
    const bench = cluster()
    expect(bench.apply({ kind: 'announcePod', about }, { incarnation: 2 })).toEqual({ kind: 'ok' })
    expect(bench.apply({ kind: 'announcePod', about: { ...about, phase: 4 } }, { incarnation: 3 })).toMatchObject({ kind: 'refused' })
    const view = { incarnation: 2, pod: 'pod-a', nodeId: 0, level: 2, renewals: 0, about }
    expect([...bench.state.livePods()]).toEqual([view, { ...view, incarnation: 3, pod: 'pod-b', nodeId: 1, about: null }])
    bench.apply({ kind: 'moveLease', name: 'log', owner: 2, term: 0 }, { incarnation: 3 })
    const again = new State(decodeSnapshot(bench.rooms.lastEntry, encodeSnapshot(bench.rooms)))
    expect([...again.livePods()]).toEqual([...bench.state.livePods()])
    expect(again.lease('log')).toMatchObject({ owner: 2, term: 1 })
    bench.apply({ kind: 'fenceIncarnation', incarnation: 2, renewals: 0 }, { incarnation: 3 })
    expect([...bench.state.livePods()].map((pod) => pod.pod)).toEqual(['pod-b'])
    expect(bench.rooms.podRows.incarnations.get(2)!.about).toBe(undefined)
  })

  it('a renewal names the counter it saw: late or doubled ones renew nobody (L6)', () => {
    const bench = cluster()
    const renew = (...items: { incarnation: number; renewals: number }[]) =>
      bench.apply({ kind: 'renewIncarnations', items }, { incarnation: 2 })
    renew(
      { incarnation: 2, renewals: 0 },
      { incarnation: 3, renewals: 0 },
      { incarnation: 1, renewals: 0 },
      { incarnation: 9, renewals: 0 },
    )
    renew({ incarnation: 2, renewals: 0 }, { incarnation: 3, renewals: 1 })
    expect([...bench.state.livePods()].map((pod) => pod.renewals)).toEqual([1, 2])
    expect(bench.rooms.podRows.incarnations.get(1)!.renewals).toBe(0)
    expect(bench.apply({ kind: 'fenceIncarnation', incarnation: 3, renewals: 1 }, { incarnation: 2 })).toMatchObject({ kind: 'refused' })
  })

  it('a lease moves from the term that was seen only, and to the living', () => {
    const bench = cluster()
    const move = (owner: number, term: number) => bench.apply({ kind: 'moveLease', name: 'log', owner, term }, { incarnation: 2 })
    expect(bench.state.lease('log')).toEqual({ owner: 0, term: 0 })
    expect(move(1, 0)).toMatchObject({ kind: 'refused' })
    expect(move(2, 0)).toEqual({ kind: 'lease', term: 1 })
    expect(move(3, 0)).toMatchObject({ kind: 'refused' })
    expect(move(3, 1)).toEqual({ kind: 'lease', term: 2 })
    expect(move(0, 2)).toEqual({ kind: 'lease', term: 3 })
    expect(bench.state.lease('log')).toMatchObject({ owner: 0, term: 3 })
  })

  it('shards move from the epoch that was seen only; others of the same entry are not held up', () => {
    const bench = cluster()
    const move = (...shards: { shard: number; owner: number; epoch: number }[]) =>
      bench.apply({ kind: 'moveShards', shards }, { incarnation: 2 })
    expect(move({ shard: 5, owner: 2, epoch: 0 }, { shard: 6, owner: 1, epoch: 0 }, { shard: 64, owner: 2, epoch: 0 })).toEqual({
      kind: 'shards',
      epochs: [1, -1, -1],
    })
    expect(move({ shard: 5, owner: 3, epoch: 0 }, { shard: 7, owner: 3, epoch: 0 })).toEqual({ kind: 'shards', epochs: [-1, 1] })
    expect([5, 6, 7].map((shard) => bench.state.shard(shard).owner)).toEqual([2, 0, 3])
  })
})

describe('groups (L19)', () => {
  const record = (groupId: string, more: Partial<GroupRecord> = {}): GroupRecord => ({
    groupId,
    protocolType: 'consumer',
    protocolName: null,
    generation: 3,
    leader: null,
    members: [],
    stateTimeMs: 5,
    ...more,
  })
  const item = (topic: number, offset: number, commitTimeMs = 1) => ({
    topic,
    partition: 0,
    offset,
    leaderEpoch: -1,
    metadata: '',
    commitTimeMs,
    expireTimeMs: -1,
  })

  it('every entry carries the epoch of its shard; an old one is refused', () => {
    const bench = new Bench()
    const shard = shardOf('g')
    expect(bench.apply({ kind: 'assignShards', shards: [{ shard, owner: 1 }] })).toEqual({ kind: 'shards', epochs: [1] })
    expect(bench.state.shard(shard)).toEqual({ owner: 1, epoch: 1 })
    const refused = { kind: 'refused', error: Errors.NOT_COORDINATOR }
    const commands = (shardEpoch: number): Command[] => [
      { kind: 'putGroup', shardEpoch, group: record('g') },
      { kind: 'commitOffsets', shardEpoch, groupId: 'g', items: [] },
      { kind: 'expireOffsets', shardEpoch, groupId: 'g', items: [] },
      { kind: 'deleteGroup', shardEpoch, groupId: 'g' },
    ]
    for (const command of commands(0)) expect(bench.apply(command)).toMatchObject(refused)
    for (const command of commands(1)) expect(bench.apply(command)).toEqual({ kind: 'ok' })
    for (const command of commands(1).slice(2))
      expect(bench.apply(command)).toMatchObject({ kind: 'refused', error: Errors.GROUP_ID_NOT_FOUND })
    for (const shards of [[{ shard: 64, owner: 1 }], [{ shard: 1, owner: 9 }]])
      expect(bench.apply({ kind: 'assignShards', shards })).toMatchObject({ kind: 'refused' })
    // Refused whole: shard 0 keeps its epoch.
    bench.apply({
      kind: 'assignShards',
      shards: [
        { shard: 0, owner: 1 },
        { shard: 64, owner: 1 },
      ],
    })
    expect(bench.state.shard(0).epoch).toBe(0)
  })

  // Expected values from java.lang.String.hashCode.
  it('shards are frozen', () => {
    expect(['', 'g', 'my-group', 'ünï', 'x'.repeat(300)].map(shardOf)).toEqual([0, 39, 30, 61, 0])
  })

  it('members, offsets and nulls come back as they were; nothing points into the entry', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    const member = {
      memberId: 'm',
      instanceId: null,
      clientId: 'c',
      clientHost: '/h',
      rebalanceTimeoutMs: 1,
      sessionTimeoutMs: 2,
      protocols: [{ name: 'range', metadata: Buffer.from([1, 2]) }],
      assignment: Buffer.alloc(0),
    }
    bench.apply({ kind: 'putGroup', shardEpoch: 0, group: record('g', { leader: 'm', members: [member, { ...member, instanceId: '' }] }) })
    const group = bench.state.group('g')!
    expect([group.protocolName, group.leader, group.members[0].instanceId, group.members[1].instanceId]).toEqual([null, 'm', null, ''])
    expect(group.members[0].protocols[0].metadata.buffer.byteLength).toBe(2)
    bench.apply({
      kind: 'commitOffsets',
      shardEpoch: 0,
      groupId: 'g',
      items: [item(topic, 7), item(99, 1), { ...item(topic, 1), partition: 5 }],
    })
    expect([...bench.state.offsets('g')]).toEqual([item(topic, 7)])
    expect(bench.state.offset('g', topic, 0)!.offset).toBe(7)
    expect([...bench.state.groups()].length).toBe(1)
  })

  it('an expired offset that was committed anew stays; offsets of a deleted topic go', () => {
    const bench = new Bench()
    const [a, b] = [bench.topic('a'), bench.topic('b')]
    bench.apply({ kind: 'commitOffsets', shardEpoch: 0, groupId: 'g', items: [item(a, 1, 10), item(b, 2, 10)] })
    bench.apply({ kind: 'commitOffsets', shardEpoch: 0, groupId: 'g', items: [item(a, 1, 20)] })
    bench.apply({ kind: 'expireOffsets', shardEpoch: 0, groupId: 'g', items: [item(a, 0, 10)] })
    expect(bench.state.offset('g', a, 0)).not.toBe(null)
    bench.apply({ kind: 'deleteTopic', topic: a, keepTableAs: '', graceMs: 0 })
    expect([...bench.state.offsets('g')].map((o) => o.topic)).toEqual([b])
    bench.apply({ kind: 'expireOffsets', shardEpoch: 0, groupId: 'g', items: [item(b, 0, 10)] })
    expect([...bench.state.offsets('g')]).toEqual([])
    // A simple consumer's group has no members and no protocol.
    expect(bench.state.group('g')).toMatchObject({ protocolType: '', members: [], generation: 0 })
  })
})

describe('deletions (L13)', () => {
  it('are queued once, never for what is in use, and go when they are carried out', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    bench.produce(topic, 0, {})
    const { location } = bench.state.table(topic)!
    bench.commitTable(topic, { metadataKey: `${location}/m1` })
    const keys = ['wal/1', 'wal/orphan', `${location}/m1`, `${location}/orphan`, `${location}/`, 'tables/', 'wal/orphan', '']
    bench.apply({ kind: 'enqueueDeletions', items: keys.map((key) => ({ key, graceMs: 5 })) })
    const queued = [...bench.state.deletions()]
    expect(queued.map((d) => [d.key, d.dueMs])).toEqual([
      ['wal/orphan', bench.nowMs + 5],
      [`${location}/orphan`, bench.nowMs + 5],
    ])
    bench.apply({ kind: 'deleted', ids: [queued[0].id, 12345] })
    expect([...bench.state.deletions()].map((d) => d.key)).toEqual([`${location}/orphan`])
  })
})
