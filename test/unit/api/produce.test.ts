import { afterEach, describe, expect, it } from 'vitest'
import { Errors } from '../../../protocol/index.ts'
import { CloseConnection } from '../../../src/api/handler.ts'
import { FrazilError, type ErrorCode } from '../../../src/base/errors.ts'
import { batchBytes } from '../wal/harness.ts'
import { createTopic } from '../metadata/helpers.ts'
import { apiWorld, produceRequest, settle, type ApiWorld } from './harness.ts'

let world: ApiWorld
afterEach(() => world.close())

async function produceError(version = 9): Promise<{ errorCode: number; baseOffset: number }> {
  const produced = await world.call(0, version, produceRequest({ name: 'a' }, batchBytes()))
  const { errorCode, baseOffset } = produced.responses[0].partitionResponses[0]
  return { errorCode, baseOffset }
}

describe('a store that fails', () => {
  const CODES: readonly [ErrorCode, number][] = [
    ['STORE_FULL', Errors.KAFKA_STORAGE_ERROR],
    ['STORE_UNAVAILABLE', Errors.KAFKA_STORAGE_ERROR],
    ['LOG_REFUSED', Errors.KAFKA_STORAGE_ERROR],
    ['LOG_UNAVAILABLE', Errors.REQUEST_TIMED_OUT],
    ['LIMIT', Errors.REQUEST_TIMED_OUT],
    ['CLOSED', Errors.NOT_LEADER_OR_FOLLOWER],
    ['FENCED', Errors.NOT_LEADER_OR_FOLLOWER],
  ]
  for (const [code, kafka] of CODES) {
    it(`with ${code} is told as ${kafka}, which producers retry`, async () => {
      world = await apiWorld()
      const { log } = world.parts
      Object.assign(log, { append: () => Promise.reject(new FrazilError(code, 'broken')) })
      expect(await produceError()).toEqual({ errorCode: kafka, baseOffset: -1 })
    })
  }

  it('is written to again once it works, and the batch lands once', async () => {
    world = await apiWorld()
    world.log.beforeAppend = () => {
      throw new FrazilError('STORE_FULL', 'no space left')
    }
    expect((await produceError()).errorCode).toBe(Errors.KAFKA_STORAGE_ERROR)
    world.log.beforeAppend = () => {}
    expect(await produceError()).toEqual({ errorCode: 0, baseOffset: 0 })
  })

  it('with a fault of ours is UNKNOWN_SERVER_ERROR, logged once with its stack', async () => {
    const logged: object[] = []
    const logger = { debug() {}, info() {}, warn() {}, error: (fields: object) => void logged.push(fields) }
    world = await apiWorld({ parts: { logger } })
    Object.assign(world.parts.log, { append: () => Promise.reject(new TypeError('a bug')) })
    expect((await produceError()).errorCode).toBe(Errors.UNKNOWN_SERVER_ERROR)
    expect(logged).toMatchObject([{ api: 'Produce', version: 9, err: { message: 'a bug' } }])
  })
})

describe('a topic that another pod has just made', () => {
  it('is looked for in the log, and batches behind the first do not overtake it', async () => {
    world = await apiWorld()
    const { engine } = world
    let looks = 0
    Object.assign(engine, {
      barrier: async () => {
        looks++
        await createTopic(engine, 'b', 1)
        await settle()
      },
    })
    const send = (count: number): ReturnType<typeof world.call<0>> => world.call(0, 9, produceRequest({ name: 'b' }, batchBytes({ count })))
    const answers = [send(1), send(2), send(3)]
    expect((await Promise.all(answers)).map(({ responses }) => responses[0].partitionResponses[0].baseOffset)).toEqual([0, 1, 3])
    expect(looks).toBe(1)
    expect((await send(1)).responses[0].partitionResponses[0].baseOffset).toBe(6)
  })
})

describe('a process on its way out', () => {
  it.each(['FENCED', 'CLOSED'] as const)('closes the connection (%s): the client finds another pod', async (code) => {
    world = await apiWorld()
    Object.assign(world.engine, { barrier: () => Promise.reject(new FrazilError(code, 'another process took over this pod')) })
    await expect(world.call(2, 7, { replicaId: -1, topics: [] })).rejects.toThrow(CloseConnection)
  })
})

describe('acks 0', () => {
  it('sends nothing when all is well, and the records are there', async () => {
    world = await apiWorld()
    expect(await world.send(0, 9, produceRequest({ name: 'a' }, batchBytes({ count: 3 }), { acks: 0 }))).toBeNull()
    expect(world.engine.state.partition(world.topic, 0)!.endOffset).toBe(3)
  })

  it('closes the connection on any error', async () => {
    world = await apiWorld()
    const sent = world.send(0, 9, produceRequest({ name: 'nowhere' }, batchBytes(), { acks: 0 }))
    await expect(sent).rejects.toThrow('acks 0 was refused with error 3')
  })
})

describe('a topic of append times', () => {
  it('answers the time of the append, again for a duplicate, and -1 is for create times', async () => {
    world = await apiWorld()
    const configs = [{ name: 'message.timestamp.type', value: 'LogAppendTime' }]
    await world.call(19, 7, {
      topics: [{ name: 'stamped', numPartitions: 1, replicationFactor: 1, assignments: [], configs }],
      timeoutMs: 1,
    })
    const atMs = world.clock.nowMs
    const send = async (): Promise<object> => {
      const records = batchBytes({ producerId: 7, epoch: 0, sequence: 0 })
      return (await world.call(0, 5, produceRequest({ name: 'stamped' }, records))).responses[0].partitionResponses[0]
    }
    expect(await send()).toMatchObject({ errorCode: 0, baseOffset: 0, logAppendTimeMs: atMs, logStartOffset: 0 })
    world.clock.nowMs += 5_000
    expect(await send()).toMatchObject({ errorCode: 0, baseOffset: 0, logAppendTimeMs: atMs })
    const plain = await world.call(0, 5, produceRequest({ name: 'a' }, batchBytes()))
    expect(plain.responses[0].partitionResponses[0].logAppendTimeMs).toBe(-1)
  })
})

describe('Produce requests that are dispatched without waiting (L12)', () => {
  it('reach the sequencer in their order', async () => {
    world = await apiWorld()
    const answers = Array.from({ length: 20 }, (_, i) => {
      const records = batchBytes({ producerId: 5, epoch: 0, sequence: i, valueBytes: (i * 7919) % 3000 })
      return world.call(0, 9, produceRequest({ name: 'a' }, records))
    })
    const offsets = (await Promise.all(answers)).map((answer) => answer.responses[0].partitionResponses[0])
    expect(offsets.map(({ errorCode, baseOffset }) => [errorCode, baseOffset])).toEqual(Array.from({ length: 20 }, (_, i) => [0, i]))
  })
})
