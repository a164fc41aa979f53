import { Registry } from 'prom-client'
import {
  decodeRequestHeader,
  decodeResponse,
  decodeResponseHeader,
  encodeRequestFrame,
  type ApiKey,
  type Apis,
  type MessageInput,
  type MessageOf,
} from '../../../protocol/index.ts'
import { Dispatcher } from '../../../src/api/dispatcher.ts'
import type { Connection } from '../../../src/api/handler.ts'
import type { ApiParts } from '../../../src/api/parts.ts'
import { BrokerConfigs } from '../../../src/api/support/brokerConfigs.ts'
import { FetchSessions } from '../../../src/api/support/fetchSessions.ts'
import { ProducerIds } from '../../../src/api/support/producerIds.ts'
import { TopicSettingsCache } from '../../../src/base/config/topicSettings.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { GroupCoordinator } from '../../../src/groups/coordinator.ts'
import { consumerSettings, groupSettings } from '../../../src/api/support/groupSettings.ts'
import { PartitionLog } from '../../../src/log/log.ts'
import { ProduceValidator } from '../../../src/log/validate.ts'
import { testRandom } from '../metadata/helpers.ts'
import { MemoryLog } from '../metadata/memoryLog.ts'
import { FakeTables } from '../log/harness.ts'
import { settle, world, type World } from '../wal/harness.ts'

export { settle }

type Request<K extends ApiKey> = MessageInput<Apis[K]['request']>
type Response<K extends ApiKey> = MessageOf<Apis[K]['response']>

export interface ApiWorld extends World {
  readonly parts: ApiParts
  readonly dispatcher: Dispatcher
  readonly registry: Registry
  readonly connection: Connection
  /** Sends a request through its own bytes and reads the response from its bytes; null when none was sent. */
  send<K extends ApiKey>(key: K, version: number, request: Request<K>, clientId?: string): Promise<Response<K> | null>
  /** As `send`, for requests that are always answered. */
  call<K extends ApiKey>(key: K, version: number, request: Request<K>, clientId?: string): Promise<Response<K>>
  close(): Promise<void>
}

export function uuid(): string {
  const hex = Buffer.from(testRandom(16)).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
}

/** Every handler over the real state machine, WAL, log and coordinator, with topic 'a' of four partitions. */
export async function apiWorld(
  options: { log?: MemoryLog; store?: World['store']; level?: number; broker?: Record<string, string>; parts?: Partial<ApiParts> } = {},
): Promise<ApiWorld> {
  const { broker = {}, parts: more, ...rest } = options
  const w = await world(rest)
  const { engine, clock } = w
  const registry = new Registry()
  const brokerConfigs = new BrokerConfigs(engine, new Map(Object.entries(broker)))
  const settings = new TopicSettingsCache(brokerConfigs, () => brokerConfigs.version)
  const groups = new GroupCoordinator({
    metadata: engine,
    clock,
    logger: silentLogger,
    registry,
    settings: () => groupSettings(brokerConfigs),
    consumerSettings: (groupId) => consumerSettings(brokerConfigs, engine.state.groupConfigs(groupId)),
    randomUuid: uuid,
  })
  await groups.start()
  const validator = new ProduceValidator({ clock, rules: (topic) => settings.of(topic), workers: 1 })
  const log = new PartitionLog({ metadata: engine, wal: w.wal, tables: new FakeTables(), clock, logger: silentLogger, registry })
  const parts: ApiParts = {
    metadata: engine,
    log,
    groups,
    clock,
    logger: silentLogger,
    brokerConfigs,
    producerIds: new ProducerIds(engine),
    fetchSessions: new FetchSessions({ clock, registry, slots: 1000, randomUuid: uuid }),
    topicSettings: (topic) => settings.of(topic),
    validateProduce: (topic, records, version) => validator.validate(topic, records, version),
    nodes: () => [{ nodeId: engine.nodeId, host: '127.0.0.1', port: 9092, rack: null }],
    convertTopic: () => Promise.resolve(),
    logDir: { path: '/data', volume: () => Promise.resolve({ totalBytes: 1000, usableBytes: 400 }) },
    randomUuid: uuid,
    ...more,
  }
  const dispatcher = new Dispatcher(parts, registry)
  const connection: Connection = { clientHost: '127.0.0.1', listener: 'PLAINTEXT', signal: new AbortController().signal }
  let correlation = 0

  async function send<K extends ApiKey>(
    apiKey: K,
    apiVersion: number,
    request: Request<K>,
    clientId = 'client',
  ): Promise<Response<K> | null> {
    const correlationId = ++correlation
    const frame = Buffer.concat(encodeRequestFrame({ apiKey, apiVersion, correlationId, clientId }, request).chunks).subarray(4)
    const header = decodeRequestHeader(frame)
    const encoded = await dispatcher.dispatch(connection, header, frame)
    if (encoded === null) return null
    const bytes = Buffer.concat(encoded.chunks)
    if (bytes.length !== encoded.sizeBytes || bytes.readInt32BE(0) !== bytes.length - 4) throw new Error('the size of the frame is wrong')
    const answer = decodeResponseHeader(apiKey, apiVersion, bytes, 4)
    if (answer.correlationId !== correlationId) throw new Error('the correlation id is wrong')
    return decodeResponse(apiKey, apiVersion, bytes, answer.bodyAt)
  }

  async function call<K extends ApiKey>(key: K, version: number, request: Request<K>, clientId?: string): Promise<Response<K>> {
    const response = await send(key, version, request, clientId)
    if (response === null) throw new Error('no response was sent')
    return response
  }

  async function close(): Promise<void> {
    groups.close()
    await validator.close()
  }
  return { ...w, parts, dispatcher, registry, connection, send, call, close }
}

export type AnyRequest = { readonly key: ApiKey; readonly request: (version: number) => Request<ApiKey> }

/** A Produce request with one batch for one partition. */
export function produceRequest(
  topic: { name?: string; topicId?: string },
  records: Uint8Array | null,
  more: Partial<Request<0>> = {},
  index = 0,
): Request<0> {
  return { acks: -1, timeoutMs: 1000, topicData: [{ ...topic, partitionData: [{ index, records }] }], ...more }
}

export function fetchRequest(
  topic: { topic?: string; topicId?: string },
  fetchOffset: number,
  more: Partial<Request<1>> = {},
  partition: object = {},
): Request<1> {
  const asked = { partition: 0, fetchOffset, partitionMaxBytes: 1 << 20, ...partition }
  return { maxWaitMs: 0, minBytes: 1, topics: [{ ...topic, partitions: [asked] }], ...more }
}
