import { describe, expect, it } from 'vitest'
import { Errors } from '../../../protocol/errors.ts'
import type { NodeEndpoint } from '../../../src/api/parts.ts'
import { leaderOf, nearReplica, replicasOf } from '../../../src/api/support/topics.ts'
import { apiWorld } from './harness.ts'

const racks = ['z1', 'z1', 'z2', 'z2', 'z3', null] as const
const NODES: readonly NodeEndpoint[] = racks.map((rack, nodeId) => ({ nodeId, host: `pod-${nodeId}`, port: 9092, rack }))
const id = '0f8fad5b-d9cb-469f-a165-70867728950e'
const each = Array.from({ length: 600 }, (_, partition) => partition)

describe('placement of partitions', () => {
  it('is spread over the nodes, and only what must moves when one goes', () => {
    const leaders = each.map((partition) => leaderOf(id, partition, NODES))
    for (const { nodeId } of NODES) expect(leaders.filter((leader) => leader === nodeId).length).toBeGreaterThan(60)
    const fewer = NODES.filter((node) => node.nodeId !== 2)
    each.forEach((partition, i) => {
      const after = leaderOf(id, partition, fewer)
      expect(after).toBe(leaders[i] === 2 ? after : leaders[i])
    })
    expect(each.map((partition) => leaderOf(id, partition, NODES.toReversed()))).toEqual(leaders)
  })

  it('shows a replica in each rack, and the one near a client is among them (KIP-392)', () => {
    for (const partition of each.slice(0, 100)) {
      const replicas = replicasOf(id, partition, NODES, 1)
      expect(replicas[0]).toBe(leaderOf(id, partition, NODES))
      expect(new Set(replicas.map((replica) => NODES[replica].rack).filter((rack) => rack !== null)).size).toBe(3)
      expect(new Set(replicas).size).toBe(replicas.length)
      expect(replicasOf(id, partition, NODES, 6).length).toBe(6)
      for (const rack of ['z1', 'z2', 'z3']) {
        const near = nearReplica(id, partition, rack, 5, NODES)
        expect(NODES[near].rack).toBe(rack)
        expect(replicas).toContain(near)
        expect(nearReplica(id, partition, rack, near, NODES)).toBe(-1)
      }
      expect([nearReplica(id, partition, '', 5, NODES), nearReplica(id, partition, 'z9', 5, NODES)]).toEqual([-1, -1])
    }
    expect(replicasOf(id, 0, [NODES[0]], 3)).toEqual([0])
  })
})

describe('a node among others', () => {
  const fetch = (topicId: string, rackId = '') => ({
    replicaId: -1,
    maxWaitMs: 0,
    minBytes: 0,
    maxBytes: 1000,
    rackId,
    topics: [{ topicId, partitions: [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 1000 }] }],
  })
  const own = { nodeId: 0, host: '127.0.0.1', port: 9092, rack: 'z1' }
  const other = { nodeId: 7, host: 'other', port: 9093, rack: 'z2' }

  it('tells of all, sends a consumer to the one in its rack, and serves those that are near', async () => {
    const w = await apiWorld({ parts: { nodes: () => [own, other] } })
    const { topicId } = w.engine.state.topicByName('a')!
    const metadata = await w.call(3, 12, { topics: [{ name: 'a' }] })
    expect(metadata.brokers.map((node) => [node.nodeId, node.rack])).toEqual([
      [0, 'z1'],
      [7, 'z2'],
    ])
    for (const partition of metadata.topics[0].partitions) expect([...partition.replicaNodes].sort()).toEqual([0, 7])
    const nearOf = async (rackId: string): Promise<number> =>
      (await w.call(1, 16, fetch(topicId, rackId))).responses[0].partitions[0].preferredReadReplica
    expect([await nearOf('z2'), await nearOf('z1'), await nearOf(''), await nearOf('z9')]).toEqual([7, -1, -1, -1])
    await w.close()
  })

  it('gives new partitions to all nodes as it gives all others (L22)', async () => {
    const nodes = [own, other, { ...other, nodeId: 9, rack: null }]
    const w = await apiWorld({ level: 2, parts: { nodes: () => nodes } })
    const partitions = async () => (await w.call(3, 12, { topics: [{ name: 'a' }] })).topics[0].partitions
    const before = await partitions()
    const raised = await w.call(37, 3, { topics: [{ name: 'a', count: 40, assignments: null }], timeoutMs: 1, validateOnly: false })
    expect(raised.results).toEqual([{ name: 'a', errorCode: 0, errorMessage: null }])
    const after = await partitions()
    expect(after.slice(0, 4)).toEqual(before)
    const { topicId } = w.engine.state.topicByName('a')!
    expect(after.map(({ leaderId }) => leaderId)).toEqual(each.slice(0, 40).map((partition) => leaderOf(topicId, partition, nodes)))
    expect(new Set(after.map(({ leaderId }) => leaderId)).size).toBe(3)
    // one that does not know the command yet keeps the cluster from it (L5)
    const old = await apiWorld({ level: 1 })
    const refused = await old.call(37, 3, { topics: [{ name: 'a', count: 5, assignments: null }], timeoutMs: 1, validateOnly: false })
    expect(refused.results[0].errorCode).toBe(Errors.UNSUPPORTED_VERSION)
    await old.close()
    await w.close()
  })

  it('that leaves sends clients of partitions to the others; those that want no answer are still taken', async () => {
    let leaving = false
    const w = await apiWorld({ parts: { nodes: () => (leaving ? [other] : [own, other]), leaving: () => leaving } })
    const { topicId } = w.engine.state.topicByName('a')!
    expect((await w.call(1, 16, fetch(topicId))).responses[0].partitions[0].errorCode).toBe(Errors.NONE)
    expect(w.dispatcher.movedMs).toBe(-Infinity)
    leaving = true
    const fetched = (await w.call(1, 16, fetch(topicId))).responses[0].partitions[0]
    expect([fetched.errorCode, fetched.currentLeader?.leaderId]).toEqual([Errors.NOT_LEADER_OR_FOLLOWER, 7])
    const listed = await w.call(2, 7, {
      replicaId: -1,
      isolationLevel: 0,
      topics: [{ name: 'a', partitions: [{ partitionIndex: 0, timestamp: -1 }] }],
    })
    expect(listed.topics[0].partitions[0].errorCode).toBe(Errors.NOT_LEADER_OR_FOLLOWER)
    const produce = { transactionalId: null, timeoutMs: 1000, topicData: [{ name: 'a', partitionData: [{ index: 0, records: null }] }] }
    const produced = await w.call(0, 9, { ...produce, acks: -1 })
    expect(produced.responses[0].partitionResponses[0].errorCode).toBe(Errors.NOT_LEADER_OR_FOLLOWER)
    expect(await w.send(0, 9, { ...produce, acks: 0 }).catch(() => null)).toBe(null)
    expect(w.dispatcher.movedMs).toBeGreaterThan(0)
    await w.close()
  })
})
