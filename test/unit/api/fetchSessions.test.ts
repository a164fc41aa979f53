import { Registry } from 'prom-client'
import { afterEach, expect, test } from 'vitest'
import { Errors, type RequestOf } from '../../../protocol/index.ts'
import { FetchSessions } from '../../../src/api/support/fetchSessions.ts'
import { batchOf } from '../../compat/limits/client.ts'
import { ManualClock } from '../wal/harness.ts'
import { apiWorld, uuid, type ApiWorld } from './harness.ts'

type Topics = RequestOf<1>['topics']

let world: ApiWorld | null = null
afterEach(async () => {
  await world?.close()
  world = null
})

const asked = (partition: number, fetchOffset = 0): object => ({ partition, fetchOffset, partitionMaxBytes: 1 << 20 })

function fetchWith(sessionId: number, sessionEpoch: number, partitions: readonly object[], more: object = {}): never {
  const topics = partitions.length === 0 ? [] : [{ topic: 'a', partitions }]
  return { maxWaitMs: 0, minBytes: 0, maxBytes: 1 << 20, sessionId, sessionEpoch, topics, forgottenTopicsData: [], ...more } as never
}

async function produce(w: ApiWorld, index: number): Promise<void> {
  const records = batchOf([Buffer.from('v')], w.clock.nowMs)
  const topicData = [{ name: 'a', partitionData: [{ index, records }] }]
  const { responses } = await w.call(0, 9, { transactionalId: null, acks: -1, timeoutMs: 1000, topicData })
  expect(responses[0].partitionResponses[0].errorCode).toBe(0)
}

test('a session tells what is new, serves the others first, and forgets', async () => {
  const w = (world = await apiWorld())
  const told = async (epoch: number, partitions: readonly object[] = [], more: object = {}): Promise<number[]> => {
    const { errorCode, sessionId, responses } = await w.call(1, 12, fetchWith(id, epoch, partitions, more))
    expect(errorCode).toBe(0)
    expect(sessionId).toBe(id)
    return responses.flatMap((topic) => topic.partitions.map(({ partitionIndex }) => partitionIndex))
  }
  const first = await w.call(1, 12, fetchWith(0, 0, [asked(0), asked(1), asked(2)]))
  const id = first.sessionId
  expect(id).toBeGreaterThan(0)
  expect(first.responses[0].partitions).toHaveLength(3)
  expect(await told(1)).toEqual([])
  await produce(w, 0)
  await produce(w, 2)
  expect(await told(2)).toEqual([0, 2])
  await produce(w, 1)
  // 0 and 2 were not asked anew: their records come again, after the one that had none
  expect(await told(3)).toEqual([1, 0, 2])
  expect(await told(4, [asked(0, 1), asked(1, 1)])).toEqual([2])
  expect(await told(5, [asked(2, 9)])).toEqual([2])
  expect(await told(6)).toEqual([2])
  expect(await told(7, [asked(2, 1)])).toEqual([2])
  expect(await told(8)).toEqual([])
  await produce(w, 0)
  expect(await told(9, [], { forgottenTopicsData: [{ topic: 'a', partitions: [0, 3] }] })).toEqual([])
  const gone = await w.call(1, 12, fetchWith(id, 10, [], { forgottenTopicsData: [{ topic: 'a', partitions: [1, 2] }] }))
  expect([gone.errorCode, gone.sessionId]).toEqual([0, 0])
  expect((await w.call(1, 12, fetchWith(id, 11, []))).errorCode).toBe(Errors.FETCH_SESSION_ID_NOT_FOUND)
})

test('epochs, names and closing', async () => {
  const w = (world = await apiWorld())
  const errorOf = async (version: number, sessionId: number, epoch: number): Promise<number> => {
    const { errorCode, sessionId: told, responses } = await w.call(1, version, fetchWith(sessionId, epoch, []))
    expect([told, responses]).toEqual([errorCode === 0 ? sessionId : 0, []])
    return errorCode
  }
  const { sessionId } = await w.call(1, 12, fetchWith(0, 0, [asked(0)]))
  expect(await errorOf(12, sessionId, 2)).toBe(Errors.INVALID_FETCH_SESSION_EPOCH)
  expect(await errorOf(13, sessionId, 1)).toBe(Errors.FETCH_SESSION_TOPIC_ID_ERROR)
  expect(await errorOf(12, sessionId + 1, 1)).toBe(Errors.FETCH_SESSION_ID_NOT_FOUND)
  expect(await errorOf(12, sessionId, -2)).toBe(Errors.INVALID_FETCH_SESSION_EPOCH)
  expect(await errorOf(12, sessionId, 1)).toBe(0)
  const made = await w.call(1, 12, fetchWith(sessionId, 0, [asked(0)]))
  expect(made.sessionId).not.toBe(sessionId)
  expect(await errorOf(12, sessionId, 2)).toBe(Errors.FETCH_SESSION_ID_NOT_FOUND)
  expect((await w.call(1, 12, fetchWith(made.sessionId, -1, [asked(0)]))).sessionId).toBe(0)
  expect(await errorOf(12, made.sessionId, 1)).toBe(Errors.FETCH_SESSION_ID_NOT_FOUND)
  expect((await w.call(1, 6, fetchWith(0, 0, [asked(0)]))).sessionId).toBe(0)
})

function topicsOf(count: number): Topics {
  const partitions = Array.from({ length: count }, (_, partition) => ({ partition, fetchOffset: 0 }))
  return [{ topic: 'a', topicId: '', partitions }] as never
}

const answersTo = (topics: Topics): never =>
  topics.map((topic) => ({ partitions: topic.partitions.map(() => ({ highWatermark: 0, logStartOffset: 0 })) })) as never

test('slots and partitions bound the memory; what is stale or small makes room', () => {
  const clock = new ManualClock()
  const sessions = new FetchSessions({ clock, registry: new Registry(), slots: 2, randomUuid: uuid, maxPartitions: 12 })
  const create = (count: number): number => sessions.create(topicsOf(count), answersTo(topicsOf(count)), 12)
  const isThere = (id: number): boolean =>
    sessions.begin({ sessionId: id, sessionEpoch: 9, topics: [], forgottenTopicsData: [] } as never, 12).error ===
    Errors.INVALID_FETCH_SESSION_EPOCH
  const [small, large] = [create(1), create(4)]
  expect([sessions.size, sessions.partitions]).toEqual([2, 5])
  expect(create(5)).toBe(0)
  clock.nowMs += 120_001
  const stale = create(1)
  expect(stale).toBeGreaterThan(0)
  expect([isThere(small), isThere(large), isThere(stale)]).toEqual([false, true, true])
  // used just now, but old: it goes for one that is as large
  sessions.begin({ sessionId: large, sessionEpoch: 1, topics: [], forgottenTopicsData: [] } as never, 12)
  expect(create(3)).toBe(0)
  expect(create(4)).toBeGreaterThan(0)
  expect(isThere(large)).toBe(false)
  expect(create(12)).toBe(0)
  const grown = sessions.begin({ sessionId: stale, sessionEpoch: 1, topics: topicsOf(9), forgottenTopicsData: [] } as never, 12)
  expect(grown.error).toBe(Errors.FETCH_SESSION_ID_NOT_FOUND)
  expect([sessions.size, sessions.partitions]).toEqual([1, 4])
})
