/**
 * D8: commit metadata was lost, DescribeConfigs was empty, a group rebalanced once too often. (CreatePartitions, also in the
 * report, is not advertised.)
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BROKER_CONFIGS } from '../../src/base/config/brokerConfigs.ts'
import { TOPIC_CONFIGS } from '../../src/base/config/topicConfigs.ts'
import { SERVED } from '../../src/api/served.ts'
import { apiWorld, type ApiWorld } from '../unit/api/harness.ts'
import { formGroup, TestMember } from '../unit/api/members.ts'

let world: ApiWorld
beforeAll(async () => (world = await apiWorld()))
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

it('CreatePartitions is not shown', () => {
  expect(SERVED.some(({ key }) => key === 37)).toBe(false)
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
