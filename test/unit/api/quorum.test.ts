import { describe, expect, it } from 'vitest'
import { Errors } from '../../../protocol/index.ts'
import { batchBytes } from '../wal/harness.ts'
import { apiWorld, produceRequest } from './harness.ts'

const own = { nodeId: 0, host: 'own', port: 9092, rack: null }
const other = { nodeId: 7, host: 'other', port: 9093, rack: null }

describe('DescribeQuorum', () => {
  it('names the pod that writes the log, and the others as observers', async () => {
    const w = await apiWorld({ level: 2, parts: { nodes: () => [own, other] } })
    const { incarnation } = [...w.engine.state.pods()][0]
    await w.engine.propose({ kind: 'moveLease', name: 'log', owner: incarnation, term: 0 })
    const topics = [{ topicName: '__cluster_metadata', partitions: [{ partitionIndex: 0 }] }]
    const { topics: described, nodes } = await w.call(55, 2, { topics })
    const [partition] = described[0].partitions
    const { lastEntry } = w.engine.state
    expect(partition).toMatchObject({ errorCode: 0, leaderId: 0, leaderEpoch: 1, highWatermark: lastEntry })
    expect(partition.currentVoters).toMatchObject([
      { replicaId: 0, logEndOffset: lastEntry, lastFetchTimestamp: w.clock.wallMs(), lastCaughtUpTimestamp: w.clock.wallMs() },
    ])
    expect(partition.observers).toMatchObject([{ replicaId: 7, logEndOffset: -1, lastFetchTimestamp: -1 }])
    expect(nodes).toMatchObject([{ nodeId: 0, listeners: [{ name: 'PLAINTEXT', host: 'own', port: 9092 }] }])
    await w.close()
  })
})

describe('DescribeLogDirs', () => {
  it('tells each partition at the nodes that are its replicas, with its bytes', async () => {
    const w = await apiWorld({ parts: { nodes: () => [own, other] } })
    const batch = batchBytes({ count: 3 })
    for (let index = 0; index < 4; index++) await w.call(0, 9, produceRequest({ name: 'a' }, batch, {}, index))
    const metadata = await w.call(3, 12, { topics: [{ name: 'a' }] })
    const mine = metadata.topics[0].partitions.filter(({ replicaNodes }) => replicaNodes.includes(0)).map((each) => each.partitionIndex)
    const [directory] = (await w.call(35, 5, { topics: null })).results
    expect(directory).toMatchObject({ errorCode: 0, logDir: '/data', totalBytes: 1000, usableBytes: 400, isCordoned: false })
    expect(mine.length).toBeLessThan(4)
    expect(directory.topics.flatMap((topic) => topic.partitions)).toEqual(
      mine.map((partitionIndex) => ({ partitionIndex, partitionSize: batch.length, offsetLag: 0, isFutureKey: false })),
    )
    await w.close()
  })
})

describe('AlterPartitionReassignments among several nodes', () => {
  it('takes what is so already, and nothing else', async () => {
    const w = await apiWorld({ parts: { nodes: () => [own, other] } })
    const leader = (await w.call(3, 12, { topics: [{ name: 'a' }] })).topics[0].partitions[0].leaderId
    const move = async (replicas: number[], allowReplicationFactorChange = true): Promise<number> => {
      const topics = [{ name: 'a', partitions: [{ partitionIndex: 0, replicas }] }]
      return (await w.call(45, 1, { topics, allowReplicationFactorChange })).responses[0].partitions[0].errorCode
    }
    expect(await move([leader])).toBe(Errors.NONE)
    expect(await move([7 - leader])).toBe(Errors.INVALID_REPLICA_ASSIGNMENT)
    expect(await move([0, 7])).toBe(Errors.INVALID_REPLICA_ASSIGNMENT)
    expect(await move([0, 7], false)).toBe(Errors.INVALID_REPLICATION_FACTOR)
    await w.close()
  })
})

describe('AlterConfigs', () => {
  it('leaves what was fixed when the topic was made, and lists groups that have configs', async () => {
    const w = await apiWorld()
    const configs = [
      { name: 'table.name', value: 'kept' },
      { name: 'retention.ms', value: '5' },
    ]
    const topic = { name: 'fixed', numPartitions: 1, replicationFactor: 1, assignments: [], configs }
    await w.call(19, 7, { topics: [topic], timeoutMs: 1 })
    const resource = { resourceType: 2, resourceName: 'fixed', configs: [{ name: 'retention.bytes', value: '9' }] }
    const { responses } = await w.call(33, 2, { resources: [resource], validateOnly: false })
    expect(responses[0].errorCode).toBe(0)
    expect(Object.fromEntries(w.engine.state.topicByName('fixed')!.configs)).toEqual({ 'table.name': 'kept', 'retention.bytes': '9' })
    await w.engine.propose({ kind: 'alterConfigs', target: { group: 'g' }, set: { x: '1' }, remove: [] })
    const { configResources } = await w.call(74, 1, { resourceTypes: [32] })
    expect(configResources).toMatchObject([{ resourceName: 'g', resourceType: 32 }])
    await w.close()
  })
})
