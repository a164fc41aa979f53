/**
 * C9: transaction APIs shown and not served; an advertised range that was not true. Every version that ApiVersions shows is
 * called here, lowest, highest and between, through its own bytes, with a request that must succeed.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { advertisedVersions, apis, Errors, type ApiKey, type Apis, type MessageInput } from '../../protocol/index.ts'
import { SERVED } from '../../src/api/served.ts'
import { apiWorld, fetchRequest, produceRequest, uuid, type ApiWorld } from '../unit/api/harness.ts'
import { batchBytes } from '../unit/wal/harness.ts'

let world: ApiWorld
let topicId = ''
let names = 0

beforeAll(async () => {
  world = await apiWorld({ level: 2, broker: { 'group.initial.rebalance.delay.ms': '0' } })
  topicId = world.engine.state.topicByName('a')!.topicId
})
afterAll(() => world.close())

type Golden = { [K in ApiKey]?: (version: number) => MessageInput<Apis[K]['request']> }

const named = (version: number, from: number): { name?: string; topicId?: string } => (version >= from ? { topicId } : { name: 'a' })

const GOLDEN: Golden = {
  0: (version) => produceRequest(named(version, 13), batchBytes()),
  1: (version) => fetchRequest(version >= 13 ? { topicId } : { topic: 'a' }, 0),
  2: () => ({ replicaId: -1, topics: [{ name: 'a', partitions: [{ partitionIndex: 0, timestamp: -1 }] }] }),
  3: () => ({ topics: [{ name: 'a' }] }),
  8: (version) => ({
    groupId: 'offsets',
    memberId: '',
    topics: [{ ...named(version, 10), partitions: [{ partitionIndex: 0, committedOffset: 3, committedMetadata: 'm' }] }],
  }),
  9: (version) =>
    version >= 8
      ? { groups: [{ groupId: 'offsets', topics: [{ ...named(version, 10), partitionIndexes: [0] }] }] }
      : { groupId: 'offsets', topics: [{ name: 'a', partitionIndexes: [0] }] },
  10: (version) => (version >= 4 ? { coordinatorKeys: ['g'] } : { key: 'g' }),
  15: () => ({ groups: ['offsets'] }),
  16: () => ({}),
  18: (version) => (version >= 3 ? { clientSoftwareName: 'frazil-test', clientSoftwareVersion: '1.0' } : {}),
  19: () => ({
    topics: [{ name: `made-${++names}`, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }],
    timeoutMs: 1000,
  }),
  21: () => ({ topics: [{ name: 'a', partitions: [{ partitionIndex: 3, offset: 0 }] }], timeoutMs: 1000 }),
  22: () => ({ transactionalId: null, transactionTimeoutMs: 1000 }),
  23: () => ({ topics: [{ topic: 'a', partitions: [{ partition: 0, leaderEpoch: 0 }] }] }),
  32: () => ({ resources: [{ resourceType: 2, resourceName: 'a', configurationKeys: null }] }),
  33: () => ({ resources: [{ resourceType: 2, resourceName: 'a', configs: [{ name: 'retention.ms', value: '5' }] }], validateOnly: false }),
  35: () => ({ topics: null }),
  43: () => ({ topicPartitions: null }),
  45: () => ({ topics: [{ name: 'a', partitions: [{ partitionIndex: 0, replicas: [0] }] }] }),
  46: () => ({ topics: null }),
  48: () => ({ components: [], strict: false }),
  55: () => ({ topics: [{ topicName: '__cluster_metadata', partitions: [{ partitionIndex: 0 }] }] }),
  57: () => ({ featureUpdates: [] }),
  74: () => ({}),
  75: () => ({ topics: [] }),
  37: () => ({ topics: [{ name: 'a', count: 9, assignments: null }], timeoutMs: 1000, validateOnly: true }),
  44: () => ({
    resources: [{ resourceType: 2, resourceName: 'a', configs: [{ name: 'retention.ms', configOperation: 0, value: '5' }] }],
    validateOnly: false,
  }),
  60: () => ({ includeClusterAuthorizedOperations: true }),
  68: (version) => ({
    groupId: 'consumers',
    memberId: 'm',
    memberEpoch: 0,
    rebalanceTimeoutMs: 1000,
    subscribedTopicNames: ['a'],
    ...(version >= 1 ? { subscribedTopicRegex: null } : {}),
    topicPartitions: [],
  }),
  69: () => ({ groupIds: ['consumers'], includeAuthorizedOperations: true }),
}

/** Every errorCode anywhere in a response, by path. */
function errorsIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return []
  return Object.entries(value).flatMap(([key, field]) =>
    key === 'errorCode' ? (field === Errors.NONE ? [] : [`${path}.${key}=${field}`]) : errorsIn(field, `${path}.${key}`),
  )
}

/** Joins alone; from v4 on a member without an id is sent away with one first (KIP-394). */
async function join(groupId: string, version: number): Promise<{ memberId: string; generationId: number }> {
  let memberId = ''
  for (;;) {
    const protocols = [{ name: 'range', metadata: Buffer.from('m') }]
    const timeouts = { sessionTimeoutMs: 10_000, ...(version >= 1 ? { rebalanceTimeoutMs: 10_000 } : {}) }
    const joining = world.call(11, version, { groupId, ...timeouts, memberId, protocolType: 'consumer', protocols })
    await world.clock.advance(1)
    const joined = await joining
    const wantsId = version >= 4 && memberId === ''
    expect({ version, error: joined.errorCode }).toEqual({ version, error: wantsId ? Errors.MEMBER_ID_REQUIRED : Errors.NONE })
    if (!wantsId) return joined
    memberId = joined.memberId
  }
}

describe('what ApiVersions shows', () => {
  it('is what the handlers registered, and within the definitions', async () => {
    const { apiKeys } = await world.call(18, 0, {})
    expect(apiKeys.map(({ apiKey }) => apiKey)).toEqual(SERVED.map(({ key }) => key).toSorted((a, b) => a - b))
    for (const { apiKey, minVersion, maxVersion } of apiKeys) {
      expect({ apiKey, min: minVersion, max: maxVersion }).toEqual({ apiKey, ...advertisedVersions(apiKey) })
    }
  })

  for (const [key, golden] of Object.entries(GOLDEN)) {
    const apiKey = Number(key) as ApiKey
    const { versions } = SERVED.find((api) => api.key === apiKey)!
    it(`${apis[apiKey].name} is served from v${versions.min} to v${versions.max}`, async () => {
      for (let version = versions.min; version <= versions.max; version++) {
        const request = (golden as (version: number) => never)(version)
        const pending = world.call(apiKey, version, request)
        await world.clock.advance(1)
        expect({ version, errors: errorsIn(await pending) }).toEqual({ version, errors: [] })
      }
    })
  }

  it('JoinGroup from v0 to v9; SyncGroup, Heartbeat and LeaveGroup with it, in every version', async () => {
    for (let version = 0; version <= 9; version++) {
      const groupId = `chain-${version}`
      const { memberId, generationId } = await join(groupId, version)
      const assignments = [{ memberId, assignment: Buffer.from('all') }]
      const protocol = version >= 5 ? { protocolType: 'consumer', protocolName: 'range' } : {}
      const synced = await world.call(14, Math.min(version, 5), { groupId, generationId, memberId, ...protocol, assignments })
      expect(synced).toMatchObject({ errorCode: 0, assignment: Buffer.from('all') })
      const beatVersion = Math.min(version, 4)
      expect(await world.call(12, beatVersion, { groupId, generationId, memberId })).toMatchObject({ errorCode: 0 })
      const left = await world.call(13, Math.min(version, 5), version < 3 ? { groupId, memberId } : { groupId, members: [{ memberId }] })
      expect(errorsIn(left)).toEqual([])
      const gone = await world.call(12, beatVersion, { groupId, generationId, memberId })
      expect(gone.errorCode).toBe(Errors.UNKNOWN_MEMBER_ID)
    }
  })

  it('DeleteTopics by name and by id, OffsetDelete, DeleteGroups', async () => {
    for (let version = 1; version <= 6; version++) {
      const name = `gone-${version}`
      const made = await world.call(19, 7, {
        topics: [{ name, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }],
        timeoutMs: 1,
      })
      const request =
        version < 6 ? { topicNames: [name], timeoutMs: 1 } : { topics: [{ name: null, topicId: made.topics[0].topicId }], timeoutMs: 1 }
      const deleted = await world.call(20, version, request)
      expect(deleted.responses).toMatchObject([{ errorCode: 0, name }])
      expect(world.engine.state.topicByName(name)).toBeNull()
    }
    for (let version = 0; version <= 3; version++) {
      const groupId = `group-${version}`
      await world.call(8, 9, {
        groupId,
        memberId: '',
        topics: [{ name: 'a', partitions: [{ partitionIndex: 0, committedOffset: 1, committedMetadata: null }] }],
      })
      const offsets = { groupId, topics: [{ name: 'a', partitions: [{ partitionIndex: 0 }] }] }
      expect(errorsIn(await world.call(47, 0, offsets))).toEqual([])
      expect(errorsIn(await world.call(42, version, { groupsNames: [groupId] }))).toEqual([])
    }
  })
})

describe('what it does not show', () => {
  it('closes the connection: unknown keys, and versions outside the range', async () => {
    const header = { apiKey: 71, apiVersion: 0, correlationId: 1, clientId: null, bodyAt: 0 }
    await expect(world.dispatcher.dispatch(world.connection, header, Buffer.alloc(0))).rejects.toMatchObject({ reason: 'unsupported' })
    for (const [apiKey, apiVersion] of [
      [0, 2],
      [0, 14],
      [1, 3],
      [22, 6],
    ]) {
      const old = { apiKey, apiVersion, correlationId: 1, clientId: null, bodyAt: 0 }
      await expect(world.dispatcher.dispatch(world.connection, old, Buffer.alloc(64))).rejects.toMatchObject({ reason: 'unsupported' })
    }
  })

  it('is told in v0 where it is ApiVersions itself, with its own range alone', async () => {
    const encoded = await world.dispatcher.dispatch(
      world.connection,
      { apiKey: 18, apiVersion: 99, correlationId: 7, clientId: null, bodyAt: 0 },
      Buffer.alloc(0),
    )
    expect(Buffer.concat(encoded!.chunks).toString('hex')).toBe('0000001000000007002300000001001200000005')
  })

  it('transactions and consumer groups before every pod knows them: clients look for the coordinator again', async () => {
    const older = await apiWorld({ level: 1 })
    const found = await older.call(10, 6, { keyType: 1, coordinatorKeys: ['tx'] })
    expect(found.coordinators[0].errorCode).toBe(Errors.COORDINATOR_NOT_AVAILABLE)
    const init = await older.call(22, 5, { transactionalId: 'tx', transactionTimeoutMs: 1000 })
    expect(init.errorCode).toBe(Errors.COORDINATOR_NOT_AVAILABLE)
    const beat = await older.call(68, 1, GOLDEN[68]!(1))
    expect(beat.errorCode).toBe(Errors.UNSUPPORTED_VERSION)
    const versions = await older.call(18, 4, { clientSoftwareName: 'c', clientSoftwareVersion: '1' })
    expect(versions.finalizedFeatures.map(({ name }) => name)).toEqual(['metadata.version'])
    await older.close()
  })

  it('an unknown topic id is told as such', async () => {
    const produced = await world.call(0, 13, produceRequest({ topicId: uuid() }, batchBytes()))
    expect(produced.responses[0].partitionResponses[0].errorCode).toBe(Errors.UNKNOWN_TOPIC_ID)
  })
})
