/**
 * D8: commit metadata was lost, DescribeConfigs and the answer of CreatePartitions were empty, a group rebalanced once too often.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BROKER_CONFIGS } from '../../src/base/config/brokerConfigs.ts'
import { TOPIC_CONFIGS } from '../../src/base/config/topicConfigs.ts'
import { batchBytes } from '../unit/wal/harness.ts'
import { apiWorld, produceRequest, type ApiWorld } from '../unit/api/harness.ts'
import { formGroup, TestMember } from '../unit/api/members.ts'

let world: ApiWorld
beforeAll(async () => (world = await apiWorld({ level: 2 })))
afterAll(() => world.close())

it('DescribeConfigs tells every key of a topic and of this node, with type, source and documentation', async () => {
  const described = await world.call(32, 4, {
    resources: [
      { resourceType: 2, resourceName: 'a', configurationKeys: null },
      { resourceType: 4, resourceName: '0', configurationKeys: null },
    ],
    includeSynonyms: true,
    includeDocumentation: true,
  })
  const [topic, broker] = described.results
  expect(topic.configs.map((config) => config.name)).toEqual([...TOPIC_CONFIGS.keys()])
  expect(broker.configs.map((config) => config.name)).toEqual([...BROKER_CONFIGS.keys()])
  for (const config of [...topic.configs, ...broker.configs]) {
    expect(config.configType).toBeGreaterThan(0)
    expect(config.configSource).toBe(5)
    expect(config.documentation).not.toBe('')
  }
  expect(topic.configs.find((config) => config.name === 'cleanup.policy')).toMatchObject({
    value: 'delete',
    synonyms: [{ name: 'log.cleanup.policy', value: 'delete', source: 5 }],
  })
})

it('CreatePartitions answers every topic, and Metadata and produced records follow', async () => {
  const topics = ['a', 'nowhere'].map((name) => ({ name, count: 6, assignments: null }))
  const { results } = await world.call(37, 3, { topics, timeoutMs: 1, validateOnly: false })
  expect(results.map(({ name, errorCode }) => [name, errorCode])).toEqual([
    ['a', 0],
    ['nowhere', 3],
  ])
  expect((await world.call(3, 12, { topics: [{ name: 'a' }] })).topics[0].partitions).toHaveLength(6)
  const produced = await world.call(0, 9, produceRequest({ name: 'a' }, batchBytes(), {}, 5))
  expect(produced.responses[0].partitionResponses[0]).toMatchObject({ index: 5, errorCode: 0, baseOffset: 0 })
})

it('members that only poll slowly do not cause a rebalance: one join each, one generation', async () => {
  const members = [new TestMember(world), new TestMember(world)]
  await formGroup(world, members, (i) => Buffer.from([i]))
  for (let i = 0; i < 20; i++) {
    await world.clock.advance(9_000)
    for (const member of members) expect(await member.heartbeat()).toBe(0)
  }
  expect(members.map((member) => member.generation)).toEqual([1, 1])
})
