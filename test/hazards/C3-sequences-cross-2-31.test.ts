// C3: sequences do not wrap. A producer comes from 2^31-10, crosses, the broker starts anew from its log, and from a snapshot; the
// last five batches sent again are known by their offsets, an older one and a gap are not taken.
import { expect, it } from 'vitest'
import { Errors } from '../../protocol/index.ts'
import { MemoryLog } from '../unit/metadata/memoryLog.ts'
import { apiWorld, produceRequest, type ApiWorld } from '../unit/api/harness.ts'
import { batchBytes } from '../unit/wal/harness.ts'

const SEQUENCES = 2 ** 31
const FIRST = SEQUENCES - 10
const BATCHES = 20

async function send(world: ApiWorld, n: number): Promise<readonly [number, number]> {
  const batch = batchBytes({ producerId: 7, epoch: 3, sequence: (FIRST + n) % SEQUENCES })
  const answer = (await world.call(0, 9, produceRequest({ name: 'a' }, batch))).responses[0].partitionResponses[0]
  return [answer.errorCode, answer.baseOffset]
}

it.each([false, true])('crossed, restarted (from a snapshot: %s), the last five sent again', async (fromSnapshot) => {
  const log = new MemoryLog()
  const world = await apiWorld({ log })
  for (let n = 0; n < BATCHES; n++) expect(await send(world, n)).toEqual([Errors.NONE, n])
  if (fromSnapshot) await world.engine.snapshot()
  const { store } = world
  await world.close()
  const again = await apiWorld({ log, store })
  for (let n = BATCHES - 5; n < BATCHES; n++) expect(await send(again, n)).toEqual([Errors.NONE, n])
  expect(await send(again, BATCHES - 6)).toEqual([Errors.OUT_OF_ORDER_SEQUENCE_NUMBER, -1])
  expect(await send(again, BATCHES + 1)).toEqual([Errors.OUT_OF_ORDER_SEQUENCE_NUMBER, -1])
  expect(await send(again, BATCHES)).toEqual([Errors.NONE, BATCHES])
  await again.close()
})
