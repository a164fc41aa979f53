/** A10: a negative length slipped past a guard and the broker panicked. Hostile batches are answered, the broker goes on. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Errors, ProtocolError } from '../../protocol/index.ts'
import { batchCrc } from '../../protocol/records/header.ts'
import { apiWorld, produceRequest, type ApiWorld } from '../unit/api/harness.ts'
import { batchBytes } from '../unit/wal/harness.ts'

let world: ApiWorld
beforeAll(async () => (world = await apiWorld()))
afterAll(() => world.close())

function changed(change: (batch: Buffer) => void, renewCrc = true): Buffer {
  const batch = Buffer.from(batchBytes({ count: 2 }))
  change(batch)
  if (renewCrc) batch.writeUInt32BE(batchCrc(batch), 17)
  return batch
}

const CASES: Record<string, { readonly records: Buffer | null; readonly error: number }> = {
  'a length with the high bit set': {
    records: changed((batch) => batch.writeUInt32BE(0x80000000, 8), false),
    error: Errors.CORRUPT_MESSAGE,
  },
  'a record count of 2^31-1': { records: changed((batch) => batch.writeInt32BE(0x7fffffff, 57)), error: Errors.INVALID_RECORD },
  'a varint of eleven bytes': { records: changed((batch) => batch.fill(0xff, 61)), error: Errors.INVALID_RECORD },
  'a wrong checksum': { records: changed((batch) => (batch[70] ^= 1), false), error: Errors.CORRUPT_MESSAGE },
  'no bytes at all': { records: Buffer.alloc(0), error: Errors.INVALID_RECORD },
  null: { records: null, error: Errors.INVALID_RECORD },
}

describe('a produced batch with', () => {
  for (const [name, { records, error }] of Object.entries(CASES)) {
    it(`${name} is refused, and a good one is stored after it`, async () => {
      const { topic } = world.engine.state.topicByName('a')!
      const end = world.engine.state.partition(topic, 0)!.endOffset
      const refused = await world.call(0, 9, produceRequest({ name: 'a' }, records))
      expect(refused.responses[0].partitionResponses[0]).toMatchObject({ errorCode: error, baseOffset: -1 })
      const stored = await world.call(0, 9, produceRequest({ name: 'a' }, batchBytes()))
      expect(stored.responses[0].partitionResponses[0]).toMatchObject({ errorCode: 0, baseOffset: end })
    })
  }
})

describe('a request body that does not decode', () => {
  it('closes the connection and changes nothing', async () => {
    for (const body of [Buffer.alloc(0), Buffer.alloc(3), Buffer.from('ffff7fffffffffffffff7fffffff', 'hex')]) {
      const header = { apiKey: 0, apiVersion: 3, correlationId: 1, clientId: null, bodyAt: 0 }
      await expect(world.dispatcher.dispatch(world.connection, header, body)).rejects.toBeInstanceOf(ProtocolError)
    }
  })
})
