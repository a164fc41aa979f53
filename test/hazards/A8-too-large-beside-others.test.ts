/** A8: max.message.bytes was not enforced. It is, per partition: others of the same request are stored. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Errors } from '../../protocol/index.ts'
import { apiWorld, type ApiWorld } from '../unit/api/harness.ts'
import { batchBytes } from '../unit/wal/harness.ts'

let world: ApiWorld
beforeAll(async () => (world = await apiWorld()))
afterAll(() => world.close())

it('a batch over the topic’s limit is MESSAGE_TOO_LARGE, its neighbours are stored', async () => {
  const configs = [{ name: 'max.message.bytes', value: '51200' }]
  await world.call(19, 7, { topics: [{ name: 'small', numPartitions: 2, replicationFactor: 1, assignments: [], configs }], timeoutMs: 1 })
  const large = batchBytes({ valueBytes: 1 << 20 })
  const partitions = (...records: Uint8Array[]): { index: number; records: Uint8Array }[] =>
    records.map((each, index) => ({ index, records: each }))
  const produced = await world.call(0, 9, {
    acks: -1,
    timeoutMs: 1,
    topicData: [
      { name: 'small', partitionData: partitions(large, batchBytes()) },
      { name: 'a', partitionData: partitions(batchBytes({ valueBytes: 1 << 18 })) },
    ],
  })
  const errors = produced.responses.map((topic) => topic.partitionResponses.map(({ errorCode, baseOffset }) => [errorCode, baseOffset]))
  expect(errors).toEqual([
    [
      [Errors.MESSAGE_TOO_LARGE, -1],
      [0, 0],
    ],
    [[0, 0]],
  ])
})

it('a limit that is raised holds for the next batch', async () => {
  const config = { name: 'max.message.bytes', configOperation: 0, value: '2000000' }
  await world.call(44, 1, { resources: [{ resourceType: 2, resourceName: 'small', configs: [config] }], validateOnly: false })
  const large = batchBytes({ valueBytes: 1 << 20 })
  const produced = await world.call(0, 9, {
    acks: 1,
    timeoutMs: 1,
    topicData: [{ name: 'small', partitionData: [{ index: 0, records: large }] }],
  })
  expect(produced.responses[0].partitionResponses[0]).toMatchObject({ errorCode: 0, baseOffset: 0 })
})
