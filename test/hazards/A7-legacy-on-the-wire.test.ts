/**
 * A7: old message sets met a write path that assumed magic 2. In an advertised version they are refused per partition as
 * Kafka 4 refuses them; in a version that is shown but not served (v0-2) the connection is closed. Nothing is stored.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Errors } from '../../protocol/index.ts'
import { apiWorld, produceRequest, type ApiWorld } from '../unit/api/harness.ts'
import { batchBytes } from '../unit/wal/harness.ts'

let world: ApiWorld
beforeAll(async () => (world = await apiWorld()))
afterAll(() => world.close())

/** A message set of magic 1 with one empty message. */
function messageSet(): Uint8Array {
  const bytes = Buffer.alloc(34)
  bytes.writeInt32BE(22, 8)
  bytes[16] = 1
  bytes.writeInt32BE(-1, 26)
  bytes.writeInt32BE(-1, 30)
  return bytes
}

describe('a message set of magic 1', () => {
  for (const version of [3, 7, 8, 13]) {
    it(`is INVALID_RECORD in v${version}, and the next batch is stored at offset 0`, async () => {
      const { topicId, topic } = world.engine.state.topicByName('a')!
      const named = version >= 13 ? { topicId } : { name: 'a' }
      const end = world.engine.state.partition(topic, 0)!.endOffset
      const refused = await world.call(0, version, produceRequest(named, messageSet()))
      const answer = refused.responses[0].partitionResponses[0]
      expect(answer).toMatchObject({ errorCode: Errors.INVALID_RECORD, baseOffset: -1 })
      expect(answer.errorMessage === null).toBe(version < 8)
      expect(world.engine.state.partition(topic, 0)!.endOffset).toBe(end)
      const stored = await world.call(0, version, produceRequest(named, batchBytes()))
      expect(stored.responses[0].partitionResponses[0]).toMatchObject({ errorCode: 0, baseOffset: end })
    })
  }

  it('closes the connection in v0, v1 and v2, though they are shown', async () => {
    for (const apiVersion of [0, 1, 2]) {
      const header = { apiKey: 0, apiVersion, correlationId: 1, clientId: 'old', bodyAt: 0 }
      const sent = world.dispatcher.dispatch(world.connection, header, Buffer.concat([Buffer.alloc(10), messageSet()]))
      await expect(sent).rejects.toThrow(`Produce v${apiVersion} is not served`)
    }
  })
})
