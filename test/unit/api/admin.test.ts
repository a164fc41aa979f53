import { afterEach, describe, expect, it } from 'vitest'
import { Errors } from '../../../protocol/index.ts'
import { ZERO_UUID } from '../../../src/api/support/topics.ts'
import { FrazilError } from '../../../src/base/errors.ts'
import { batchBytes } from '../wal/harness.ts'
import { apiWorld, produceRequest, settle, uuid, type ApiWorld } from './harness.ts'

let world: ApiWorld
afterEach(() => world.close())

async function create(
  name: string,
  configs: Record<string, string> = {},
): Promise<{ errorCode: number; topicId: string; errorMessage: string | null }> {
  const given = Object.entries(configs).map(([key, value]) => ({ name: key, value }))
  const topic = { name, numPartitions: 1, replicationFactor: -1, assignments: [], configs: given }
  return (await world.call(19, 7, { topics: [topic], timeoutMs: 1 })).topics[0]
}

describe('auto-creation by Metadata', () => {
  it('answers the finished topic, once for many askers at a time', async () => {
    world = await apiWorld({ broker: { 'num.partitions': '3' } })
    const answers = await Promise.all(Array.from({ length: 5 }, () => world.call(3, 8, { topics: [{ name: 'fresh' }] })))
    for (const { topics } of answers) {
      expect(topics).toMatchObject([{ errorCode: 0, name: 'fresh', isInternal: false }])
      expect(topics[0].partitions.map((partition) => [partition.errorCode, partition.leaderId, partition.leaderEpoch])).toEqual([
        [0, 0, 0],
        [0, 0, 0],
        [0, 0, 0],
      ])
    }
    expect([...world.engine.state.topics()].filter((topic) => topic.name === 'fresh')).toHaveLength(1)
  })

  it('is what old versions always want, and what a setting forbids', async () => {
    world = await apiWorld()
    expect((await world.call(3, 1, { topics: [{ name: 'old' }] })).topics[0].errorCode).toBe(0)
    await world.close()
    world = await apiWorld({ broker: { 'auto.create.topics.enable': 'false' } })
    expect((await world.call(3, 1, { topics: [{ name: 'old' }] })).topics[0].errorCode).toBe(Errors.UNKNOWN_TOPIC_OR_PARTITION)
  })

  it('tells a retriable error when the log cannot be written', async () => {
    world = await apiWorld()
    world.log.beforeAppend = () => {
      throw new FrazilError('STORE_FULL', 'no space left')
    }
    expect((await world.call(3, 8, { topics: [{ name: 'full' }] })).topics[0].errorCode).toBe(Errors.LEADER_NOT_AVAILABLE)
  })
})

describe('Metadata of all topics', () => {
  it('is asked for by nothing in v0 and by null from v1 on, where nothing is nothing', async () => {
    world = await apiWorld()
    const names = async (version: number, topics: null | []): Promise<string[]> =>
      (await world.call(3, version, { topics })).topics.map((topic) => topic.name!)
    expect(await names(0, [])).toEqual(['a'])
    expect(await names(1, null)).toEqual(['a'])
    expect(await names(1, [])).toEqual([])
    expect(await names(13, null)).toEqual(['a'])
  })

  it('spreads leaders over several nodes, the same way for every asker', async () => {
    const nodes = [0, 1, 2].map((nodeId) => ({ nodeId, host: `127.0.0.${nodeId + 1}`, port: 9092, rack: `r${nodeId}` }))
    world = await apiWorld({ broker: { 'default.replication.factor': '3' }, parts: { nodes: () => nodes } })
    await world.call(19, 7, {
      topics: [{ name: 'wide', numPartitions: 60, replicationFactor: 3, assignments: [], configs: [] }],
      timeoutMs: 1,
    })
    const first = await world.call(3, 9, { topics: [{ name: 'wide' }] })
    const partitions = first.topics[0].partitions
    expect(new Set(partitions.map((partition) => partition.leaderId))).toEqual(new Set([0, 1, 2]))
    for (const { leaderId, replicaNodes, isrNodes } of partitions) {
      expect(replicaNodes[0]).toBe(leaderId)
      expect(replicaNodes.toSorted()).toEqual([0, 1, 2])
      expect(isrNodes).toEqual(replicaNodes)
    }
    expect(await world.call(3, 9, { topics: [{ name: 'wide' }] })).toEqual(first)
  })
})

describe('a topic’s table', () => {
  it('is named by configs, and its name is fixed', async () => {
    world = await apiWorld()
    expect((await create('orders.v1', { 'table.namespace': 'sales', 'table.name': 'orders' })).errorCode).toBe(0)
    const { topic } = world.engine.state.topicByName('orders.v1')!
    expect(world.engine.state.table(topic)).toMatchObject({ namespace: 'sales', name: 'orders' })
    const set = async (name: string, configOperation: number, value: string | null): Promise<number> => {
      const resources = [{ resourceType: 2, resourceName: 'orders.v1', configs: [{ name, configOperation, value }] }]
      return (await world.call(44, 1, { resources, validateOnly: false })).responses[0].errorCode
    }
    expect(await set('table.name', 0, 'orders')).toBe(0)
    expect(await set('table.name', 0, 'other')).toBe(Errors.INVALID_CONFIG)
    expect(await set('table.namespace', 1, null)).toBe(Errors.INVALID_CONFIG)
    expect(await set('table.commit.interval.ms', 0, '1')).toBe(Errors.INVALID_CONFIG)
    expect(await set('table.commit.interval.ms', 0, '60000')).toBe(0)
  })

  it('takes the topic’s name with underscores, and a number when that is taken', async () => {
    world = await apiWorld()
    await create('x.y')
    await create('X.Y')
    const tableOf = (name: string): string => world.engine.state.table(world.engine.state.topicByName(name)!.topic)!.name
    expect([tableOf('x.y'), tableOf('X.Y')]).toEqual(['x_y', 'X_Y_2'])
  })
})

describe('DeleteTopics', () => {
  it('converts what is left first, and keeps the topic when that fails (T20)', async () => {
    const converted: number[] = []
    let broken = true
    const convertTopic = (topic: number): Promise<void> => {
      converted.push(topic)
      return broken ? Promise.reject(new FrazilError('STORE_UNAVAILABLE', 'away')) : Promise.resolve()
    }
    world = await apiWorld({ parts: { convertTopic } })
    await world.call(0, 9, produceRequest({ name: 'a' }, batchBytes()))
    const remove = async (): Promise<number> =>
      (await world.call(20, 6, { topics: [{ name: 'a', topicId: ZERO_UUID }], timeoutMs: 1 })).responses[0].errorCode
    expect(await remove()).toBe(Errors.REQUEST_TIMED_OUT)
    expect(world.engine.state.partition(world.topic, 0)!.endOffset).toBe(1)
    broken = false
    expect(await remove()).toBe(0)
    expect(converted).toEqual([world.topic, world.topic])
    expect(world.engine.state.topicByName('a')).toBeNull()
  })

  it('converts nothing where the table goes too', async () => {
    const convertTopic = (): Promise<void> => Promise.reject(new FrazilError('REFUSED', 'not asked for'))
    world = await apiWorld({ parts: { convertTopic } })
    await create('dropped', { 'table.on.delete': 'drop' })
    const removed = await world.call(20, 1, { topicNames: ['dropped'], timeoutMs: 1 })
    expect(removed.responses[0].errorCode).toBe(0)
  })

  it('can be forbidden', async () => {
    world = await apiWorld({ broker: { 'delete.topic.enable': 'false' } })
    expect((await world.call(20, 3, { topicNames: ['a'], timeoutMs: 1 })).responses[0].errorCode).toBe(Errors.TOPIC_DELETION_DISABLED)
    expect((await world.call(20, 1, { topicNames: ['a'], timeoutMs: 1 })).responses[0].errorCode).toBe(Errors.INVALID_REQUEST)
    expect(world.engine.state.topicByName('a')).not.toBeNull()
  })
})

describe('configs', () => {
  it('of the cluster and of this node reach topics at once, the nearest first', async () => {
    world = await apiWorld({ broker: { 'message.max.bytes': '3000' } })
    const limit = (): number => world.parts.topicSettings(world.engine.state.topicByName('a')!).maxMessageBytes
    const set = (resourceName: string, value: string | null): Promise<unknown> => {
      const configs = [{ name: 'message.max.bytes', configOperation: value === null ? 1 : 0, value }]
      return world.call(44, 1, { resources: [{ resourceType: 4, resourceName, configs }], validateOnly: false })
    }
    expect(limit()).toBe(3000)
    await set('', '4000')
    expect(limit()).toBe(4000)
    await set('0', '5000')
    expect(limit()).toBe(5000)
    await set('0', null)
    await set('', null)
    expect(limit()).toBe(3000)
  })
})

describe('configs of groups', () => {
  const GROUP = 32
  const HEARTBEAT = 'consumer.heartbeat.interval.ms'
  const SESSION = 'consumer.session.timeout.ms'

  async function alter(resourceName: string, ...configs: [string, string | null, number?][]): Promise<[number, string | null]> {
    const given = configs.map(([name, value, configOperation = 0]) => ({ name, value, configOperation }))
    const { responses } = await world.call(44, 1, {
      resources: [{ resourceType: GROUP, resourceName, configs: given }],
      validateOnly: false,
    })
    return [responses[0].errorCode, responses[0].errorMessage]
  }

  async function described(name: string): Promise<[string | null, number, (string | null)[]]> {
    const resources = [{ resourceType: GROUP, resourceName: 'g', configurationKeys: [name] }]
    const { results } = await world.call(32, 4, { resources, includeSynonyms: true })
    const [{ value, configSource, synonyms }] = results[0].configs
    return [value, configSource, synonyms.map((each) => `${each.name}=${each.value}`)]
  }

  it('are set within the broker’s bounds, told with their synonyms, listed, and obeyed', async () => {
    world = await apiWorld({ level: 3, broker: { 'group.consumer.heartbeat.interval.ms': '6000' } })
    expect(await described(HEARTBEAT)).toEqual([
      '6000',
      4,
      ['group.consumer.heartbeat.interval.ms=6000', 'group.consumer.heartbeat.interval.ms=5000'],
    ])
    expect(await alter('g', [HEARTBEAT, '7000'])).toEqual([0, null])
    expect((await described(HEARTBEAT)).slice(0, 2)).toEqual(['7000', 8])
    expect((await world.call(74, 1, { resourceTypes: [GROUP] })).configResources).toEqual([{ resourceName: 'g', resourceType: GROUP }])
    const joining = { memberId: 'a', memberEpoch: 0, rebalanceTimeoutMs: 1000, subscribedTopicNames: ['a'], topicPartitions: [] }
    expect((await world.call(68, 1, { groupId: 'g', ...joining })).heartbeatIntervalMs).toBe(7000)
    expect((await world.call(68, 1, { groupId: 'other', ...joining })).heartbeatIntervalMs).toBe(6000)
    expect(await alter('g', [HEARTBEAT, null, 1])).toEqual([0, null])
    expect((await described(HEARTBEAT))[0]).toBe('6000')
    expect((await world.call(74, 1, { resourceTypes: [GROUP] })).configResources).toEqual([])
  })

  it('are refused outside the bounds, unknown, no numbers, or a session no longer than a heartbeat', async () => {
    world = await apiWorld({ level: 3, broker: { 'group.consumer.min.session.timeout.ms': '5000' } })
    const refused: [string, string, RegExp][] = [
      [SESSION, '4999', /consumer.session.timeout.ms must be in the range 5000 to 60000 inclusive/],
      [SESSION, '60001', /in the range/],
      [HEARTBEAT, '15001', /consumer.heartbeat.interval.ms must be in the range 5000 to 15000 inclusive/],
      ['consumer.assignment.interval.ms', '15001', /in the range 0 to 15000/],
      [SESSION, 'x', /Not a number of type INT/],
      [SESSION, '5000', /consumer.session.timeout.ms must be greater than consumer.heartbeat.interval.ms/],
      ['consumer.bogus', '1', /Unknown group config name: consumer.bogus/],
    ]
    for (const [name, value, why] of refused) {
      expect(await alter('g', [name, value])).toEqual([Errors.INVALID_CONFIG, expect.stringMatching(why)])
    }
    expect((await alter('', [SESSION, '6000']))[0]).toBe(Errors.INVALID_REQUEST)
    expect(await alter('g', [SESSION, '6000'])).toEqual([0, null])
  })

  it('hold within bounds that became narrower', async () => {
    world = await apiWorld({ level: 3 })
    expect(await alter('g', [SESSION, '60000'])).toEqual([0, null])
    await world.engine.propose({ kind: 'alterConfigs', target: { group: 'g' }, set: { [SESSION]: '90000' }, remove: [] })
    expect((await described(SESSION))[0]).toBe('60000')
  })
})

describe('ApiVersions v5 (KIP-1242)', () => {
  it('accepts this cluster and node, and sends others to bootstrap again', async () => {
    world = await apiWorld()
    const { clusterId } = world.engine.state
    const ask = async (more: object): Promise<number> =>
      (await world.call(18, 5, { clientSoftwareName: 'x', clientSoftwareVersion: '1', ...more })).errorCode
    expect(await ask({})).toBe(0)
    expect(await ask({ clusterId })).toBe(0)
    expect(await ask({ clusterId, nodeId: 0 })).toBe(0)
    expect(await ask({ clusterId, nodeId: 1 })).toBe(Errors.REBOOTSTRAP_REQUIRED)
    expect(await ask({ clusterId: 'other' })).toBe(Errors.REBOOTSTRAP_REQUIRED)
  })
})

describe('InitProducerId', () => {
  it('gives every producer its own id, also after a restart and when the log is away for a while', async () => {
    world = await apiWorld()
    const next = async (): Promise<{ errorCode: number; producerId: number }> =>
      world.call(22, 4, { transactionalId: null, transactionTimeoutMs: 1 })
    const ids = await Promise.all(Array.from({ length: 1500 }, next))
    expect(new Set(ids.map(({ producerId }) => producerId)).size).toBe(1500)
    const other = await apiWorld({ log: world.log })
    const { producerId } = await other.call(22, 4, { transactionalId: null, transactionTimeoutMs: 1 })
    expect(producerId).toBeGreaterThan(Math.max(...ids.map((id) => id.producerId)))
    other.log.beforeAppend = () => {
      throw new FrazilError('STORE_FULL', 'no space left')
    }
    const asked = Array.from({ length: 1000 }, () => other.call(22, 4, { transactionalId: null, transactionTimeoutMs: 1 }))
    expect(new Set((await Promise.all(asked)).map(({ errorCode }) => errorCode))).toEqual(new Set([0, Errors.COORDINATOR_NOT_AVAILABLE]))
    await other.close()
  })
})

describe('a fetch that waits', () => {
  it('is answered at once when one of its partitions is in error, and by a produce otherwise', async () => {
    world = await apiWorld()
    const partitions = [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 1000 }]
    const { topicId } = world.engine.state.topicByName('a')!
    const waiting = { maxWaitMs: 60_000, minBytes: 1 }
    const mixed = await world.call(1, 13, {
      ...waiting,
      topics: [
        { topicId, partitions },
        { topicId: uuid(), partitions },
      ],
    })
    expect(mixed.responses.map((topic) => topic.partitions[0].errorCode)).toEqual([0, Errors.UNKNOWN_TOPIC_ID])
    const fetched = world.call(1, 13, { ...waiting, topics: [{ topicId, partitions }] })
    await settle()
    await world.call(0, 9, produceRequest({ name: 'a' }, batchBytes()))
    expect((await fetched).responses[0].partitions[0]).toMatchObject({ errorCode: 0, highWatermark: 1 })
  })
})

describe('metrics', () => {
  it('count requests and their time by API', async () => {
    world = await apiWorld()
    await world.call(3, 1, { topics: [] })
    await world.call(3, 1, { topics: [] })
    const text = await world.registry.metrics()
    expect(text).toContain('frazil_requests_total{api="Metadata"} 2')
    expect(text).toContain('frazil_request_seconds_count{api="Metadata"} 2')
  })
})

describe('large requests', () => {
  it('a hundred thousand keys of a topic are looked through once', async () => {
    world = await apiWorld()
    const configs = Array.from({ length: 100_000 }, (_, i) => ({ name: `key.${i}`, value: '' }))
    const answer = await world.call(33, 2, { resources: [{ resourceType: 2, resourceName: 'a', configs }], validateOnly: false })
    expect(answer.responses[0].errorCode).toBe(Errors.INVALID_CONFIG)
  })

  it('so are replicas of one partition', async () => {
    world = await apiWorld()
    const brokerIds = Array.from({ length: 500_000 }, (_, i) => i)
    const topic = {
      name: 'a',
      count: world.engine.state.topicByName('a')!.partitions + 2,
      assignments: [{ brokerIds }, { brokerIds: [0] }],
    }
    const answer = await world.call(37, 3, { topics: [topic], timeoutMs: 1, validateOnly: true })
    expect(answer.results[0].errorCode).toBe(Errors.INVALID_REPLICA_ASSIGNMENT)
  })

  it('what is named again and again is described once', async () => {
    world = await apiWorld({ level: 2 })
    const groups = Array.from({ length: 100 }, () => 'g')
    expect((await world.call(15, 6, { groups })).groups).toHaveLength(1)
    expect((await world.call(69, 1, { groupIds: groups, includeAuthorizedOperations: false })).groups).toHaveLength(1)
    const resource = { resourceType: 2, resourceName: 'a', configurationKeys: null }
    const resources = [resource, resource, { ...resource, configurationKeys: ['retention.ms'] }, resource]
    expect((await world.call(32, 4, { resources })).results.map(({ configs }) => configs.length > 1)).toEqual([true, false])
  })

  it('a name that no topic can have is not repeated whole for every partition', async () => {
    world = await apiWorld()
    const name = 'x'.repeat(30_000)
    const elected = await world.call(43, 2, { electionType: 0, topicPartitions: [{ topic: name, partitions: [0, 1] }], timeoutMs: 1 })
    const moved = await world.call(45, 1, { timeoutMs: 1, topics: [{ name, partitions: [{ partitionIndex: 0, replicas: [0] }] }] })
    const messages = [elected.replicaElectionResults[0].partitionResult[1].errorMessage, moved.responses[0].partitions[0].errorMessage]
    for (const message of messages) expect(message!.length).toBeLessThan(300)
  })
})
