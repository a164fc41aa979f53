/** A9: records without a key were taken on a compacted topic. They are refused, each named (KIP-467), uncompressed or not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Errors } from '../../protocol/index.ts'
import { apiWorld, produceRequest, type ApiWorld } from '../unit/api/harness.ts'
import { batchBytes } from '../unit/wal/harness.ts'

let world: ApiWorld
beforeAll(async () => {
  world = await apiWorld()
  const configs = [{ name: 'cleanup.policy', value: 'compact,delete' }]
  await world.call(19, 7, {
    topics: [{ name: 'compacted', numPartitions: 1, replicationFactor: 1, assignments: [], configs }],
    timeoutMs: 1,
  })
})
afterAll(() => world.close())

const SPECS = {
  uncompressed: { count: 3 },
  'compressed, walked at once': { count: 3, codec: 1 },
  'compressed, walked in a worker': { count: 3, codec: 1, valueBytes: 1 << 20 },
}

describe('three keyless records on a compacted topic', () => {
  for (const [name, spec] of Object.entries(SPECS)) {
    it(`are INVALID_RECORD with three record errors: ${name}`, async () => {
      const produced = await world.call(0, 8, produceRequest({ name: 'compacted' }, batchBytes(spec)))
      const [answer] = produced.responses[0].partitionResponses
      expect(answer).toMatchObject({ errorCode: Errors.INVALID_RECORD, baseOffset: -1 })
      expect(answer.recordErrors.map((error) => error.batchIndex)).toEqual([0, 1, 2])
      expect(answer.recordErrors[0].batchIndexErrorMessage).toContain('without key')
      const { topic } = world.engine.state.topicByName('compacted')!
      expect(world.engine.state.partition(topic, 0)!.endOffset).toBe(0)
    })
  }

  it('are told by the code alone before v8', async () => {
    const produced = await world.call(0, 7, produceRequest({ name: 'compacted' }, batchBytes({ count: 3 })))
    expect(produced.responses[0].partitionResponses[0]).toMatchObject({ errorCode: Errors.INVALID_RECORD, recordErrors: [] })
  })
})
