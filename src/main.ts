import { randomBytes, randomUUID } from 'node:crypto'
import { Registry } from 'prom-client'
import { BrokerConfigs } from './api/support/brokerConfigs.ts'
import { groupSettings } from './api/support/groupSettings.ts'
import { ProducerIds } from './api/support/producerIds.ts'
import { Dispatcher } from './api/dispatcher.ts'
import type { ApiParts, NodeEndpoint } from './api/parts.ts'
import { systemClock, type Clock } from './base/clock.ts'
import { hostPort } from './base/config/load.ts'
import type { Settings } from './base/config/settings.ts'
import { TopicSettingsCache } from './base/config/topicSettings.ts'
import { FrazilError } from './base/errors.ts'
import type { Logger } from './base/log.ts'
import { greet } from './cli/greeting.ts'
import { makeLogger } from './cli/logger.ts'
import { registerCatalog } from './catalog/register.ts'
import { GroupCoordinator } from './groups/coordinator.ts'
import { registerProcessMetrics } from './http/processMetrics.ts'
import { startHttp, type HttpServer } from './http/server.ts'
import { PartitionLog } from './log/log.ts'
import { Retention } from './log/retention.ts'
import { TransactionTimeouts } from './log/transactionTimeouts.ts'
import { ProduceValidator } from './log/validate.ts'
import { openMetadata } from './metadata/open.ts'
import type { TopicView } from './metadata/view.ts'
import { registerSchemas } from './schemas/api/register.ts'
import { SchemaRegistry } from './schemas/registry/registry.ts'
import { parseAdvertised, parseListeners, type Listener } from './server/listeners.ts'
import { KafkaServer } from './server/server.ts'
import { StoreMetrics } from './storage/metrics.ts'
import { engineProperties } from './storage/spec.ts'
import { createTables } from './tables/tables.ts'
import { FileTableReader } from './tables/readback/reader.ts'
import { Deleter } from './wal/deleter.ts'
import { Evacuator } from './wal/evacuate.ts'
import { setWalGrace } from './wal/grace.ts'
import { enqueueOrphans } from './wal/orphans.ts'
import { WalSequences } from './wal/sequences.ts'
import { WriteAheadLog } from './wal/wal.ts'
import { openStores } from './wiring/stores.ts'

/** Share of the backlog limit at which the largest topics are converted whatever their own triggers say. */
const CONVERT_PRESSURE = 0.5
const CONVERT_BEFORE_DELETE_MS = 25_000
const SHUTDOWN_MS = 30_000
const SAME_SIGNAL_MS = 500
/** No answer is made smaller than this for lack of memory. */
const ANSWER_MIN_BYTES = 1 << 20
/** Attachments cost no replay, only space: many more of their bytes than of entries may pass between two snapshots. */
const ATTACHMENTS_PER_SNAPSHOT = 16

export interface BrokerOptions {
  readonly settings: Settings
  readonly clock: Clock
  readonly logger: Logger
  readonly registry: Registry
  /** Addresses of this node by listener name, known once the listeners are open. */
  readonly endpoint: (listener: string) => { readonly host: string; readonly port: number }
  /** Memory of responses that wait for their clients to read. */
  readonly queuedBytes: () => number
  /** The process cannot go on (fenced, a log that cannot be followed). */
  readonly onStop: (error: FrazilError) => void
}

/** Everything of one process but its sockets. */
export interface Broker {
  readonly dispatcher: Dispatcher
  readonly parts: ApiParts
  /** Mounts the catalog, metrics and health on HTTP. */
  startHttp(): Promise<HttpServer>
  /** Records and state are safe once this resolves; called when no request is running any more. */
  close(): Promise<void>
}

/** Opens the store and the metadata log and wires the rooms together. Errors: SETTING_INVALID, STORE_IN_USE, LOG_CORRUPT, … */
export async function openBroker(options: BrokerOptions): Promise<Broker> {
  const { settings, clock, logger, registry } = options
  const storeMetrics = new StoreMetrics(registry)
  const stores = await openStores({ settings, clock, logger, metrics: storeMetrics, environment: process.env })
  const { spec, store, log } = stores
  const metadata = await openMetadata({
    log,
    clock,
    logger,
    registry,
    pod: settings.pod,
    random: (bytes) => randomBytes(bytes),
    onStop: options.onStop,
    snapshots: { logBytes: settings.snapshotBytes, attachmentBytes: settings.snapshotBytes * ATTACHMENTS_PER_SNAPSHOT },
  })
  await stores.settle(metadata.state.clusterId)

  const given = new Map(settings.broker)
  given.set('listeners', settings.listeners)
  given.set('advertised.listeners', settings.advertisedListeners === '' ? settings.listeners : settings.advertisedListeners)
  given.set('node.id', String(metadata.nodeId))
  given.set('broker.id', String(metadata.nodeId))
  const brokerConfigs = new BrokerConfigs(metadata, given)
  const settingsCache = new TopicSettingsCache(brokerConfigs, () => brokerConfigs.version)
  const topicSettings = (topic: TopicView): ReturnType<TopicSettingsCache['of']> => settingsCache.of(topic)

  await setWalGrace(metadata, settings.walGraceMs)
  const sequences = new WalSequences(metadata)
  const wal = new WriteAheadLog({
    store,
    metadata,
    clock,
    logger,
    registry,
    sequences,
    lingerMs: settings.walLingerMs,
    maxBytes: settings.walMaxBytes,
    inlineMaxBytes: settings.walInlineMaxBytes,
    hotCacheBytes: settings.cacheBytes,
    graceMs: settings.walGraceMs,
  })
  const reader = new FileTableReader({ store, clock, registry, cacheBytes: settings.tableCacheBytes, workers: settings.readWorkers })
  const partitions = new PartitionLog({
    metadata,
    wal,
    tables: reader,
    clock,
    logger,
    registry,
    backlogBytes: settings.backlogMaxBytes,
    fetchMaxBytes: brokerConfigs.number('fetch.max.bytes'),
    // a part of what is left, so that many fetches that are read at once find room too
    answerRoomBytes: () => Math.max(ANSWER_MIN_BYTES, (settings.responseMemoryBytes - options.queuedBytes()) / 4),
  })
  const tables = createTables({
    store,
    spec,
    storeMetrics,
    metadata,
    wal,
    clock,
    logger,
    registry,
    settings: topicSettings,
    uuid: randomUUID,
    workers: settings.convertWorkers,
    convertBytes: settings.convertBytes,
    pressureBytes: settings.backlogMaxBytes * CONVERT_PRESSURE,
    paused: settings.conversion === 'paused',
  })
  const validator = new ProduceValidator({ clock, rules: topicSettings, workers: 1 })
  const schemas = new SchemaRegistry(metadata)
  const groups = new GroupCoordinator({
    metadata,
    clock,
    logger,
    registry,
    randomUuid: randomUUID,
    settings: () => groupSettings(brokerConfigs),
  })
  const background = [
    new Deleter({ store, metadata, clock, logger, registry }),
    new Evacuator({
      store,
      metadata,
      wal,
      sequences,
      clock,
      logger,
      registry,
      afterMs: settings.walEvacuateMs,
      everyMs: Math.min(30_000, settings.walEvacuateMs),
      segmentBytes: settings.walMaxBytes,
      graceMs: settings.walGraceMs,
    }),
    new Retention({
      metadata,
      clock,
      logger,
      rules: topicSettings,
      requestConversion: (topic) => tables.converter.request(topic, 'convert'),
      everyMs: brokerConfigs.number('log.retention.check.interval.ms'),
      producerExpiryMs: brokerConfigs.number('producer.id.expiration.ms'),
    }),
    new TransactionTimeouts({
      metadata,
      clock,
      logger,
      everyMs: brokerConfigs.number('transaction.abort.timed.out.transaction.cleanup.interval.ms'),
      idExpiryMs: brokerConfigs.number('transactional.id.expiration.ms'),
    }),
  ]
  /** Brings what a topic holds into its table before the topic goes (T20). */
  const convertTopic = async (topic: number): Promise<void> => {
    const giveUpAt = clock.monotonicMs() + CONVERT_BEFORE_DELETE_MS
    for (;;) {
      const view = metadata.state.topicByNumber(topic)
      if (view === null || (await tables.loads.flush(view)).records === 0) return
      if (clock.monotonicMs() >= giveUpAt || settings.conversion === 'paused') {
        throw new FrazilError('STORE_UNAVAILABLE', `the topic ${view.name} could not be converted before it is deleted`)
      }
    }
  }
  const rack = brokerConfigs.value('broker.rack')
  const parts: ApiParts = {
    metadata,
    log: partitions,
    groups,
    clock,
    logger,
    brokerConfigs,
    producerIds: new ProducerIds(metadata),
    topicSettings,
    validateProduce: (topic, records, version) => validator.validate(topic, records, version),
    nodes: (listener): readonly NodeEndpoint[] => [{ nodeId: metadata.nodeId, rack, ...options.endpoint(listener) }],
    convertTopic,
    randomUuid: randomUUID,
  }
  const dispatcher = new Dispatcher(parts, registry)
  await groups.start()
  tables.start()
  reader.warm()
  for (const part of background) part.start()
  const orphans = enqueueOrphans({ store, metadata, logger, graceMs: settings.walGraceMs }).catch((error: unknown) =>
    logger.warn({ err: error }, 'orphaned WAL objects could not be listed'),
  )

  let ready: string | null = null
  const stopProcessMetrics = registerProcessMetrics(registry)
  return {
    dispatcher,
    parts,
    startHttp() {
      const { host, port } = hostPort('http', settings.http)
      return startHttp({
        host,
        port,
        registry,
        logger,
        notReady: () => ready ?? metadata.stopped?.message ?? null,
        mounts: [
          {
            prefix: '/schemas',
            register: (app) => registerSchemas(app, { registry: schemas, logger, clusterId: () => metadata.state.clusterId }),
          },
          {
            prefix: '/iceberg',
            register: (app) =>
              registerCatalog(app, {
                metadata,
                publisher: tables.publisher,
                loads: tables.loads,
                store,
                settings: topicSettings,
                logger,
                fileIo: engineProperties(spec),
              }),
          },
        ],
      })
    },
    async close() {
      ready = 'shutting down'
      groups.close()
      stopProcessMetrics()
      await Promise.all(background.map((part) => part.close()))
      await orphans
      await tables.close()
      await schemas.close()
      await wal.close()
      await partitions.close()
      await Promise.all([reader.close(), validator.close()])
      await metadata.close()
      await stores.close()
    },
  }
}

/** `frazil serve`: runs until a signal, or until the process cannot go on. */
export async function serve(settings: Settings): Promise<void> {
  const logger = makeLogger(settings.logLevel)
  const clock = systemClock
  const registry = new Registry()
  let stop: (why: string, code: number) => void = () => {}
  let server: KafkaServer | null = null
  let bound: readonly Listener[] = []
  let advertised: readonly Listener[] = []
  // wrong addresses are told before anything is opened
  const listeners = parseListeners(settings.listeners)
  parseAdvertised(settings.advertisedListeners, listeners)
  hostPort('http', settings.http)
  const broker = await openBroker({
    settings,
    clock,
    logger,
    registry,
    queuedBytes: () => server?.queuedBytes ?? 0,
    endpoint: (name) => advertised.find((listener) => listener.name === name) ?? advertised[0]!,
    onStop: (error) => {
      logger.error({ err: error }, 'this pod cannot go on')
      stop(error.message, 1)
    },
  })
  const { brokerConfigs } = broker.parts
  server = new KafkaServer({
    clock,
    logger,
    registry,
    listeners,
    dispatch: (connection, header, frame) => broker.dispatcher.dispatch(connection, header, frame),
    limits: {
      requestMaxBytes: brokerConfigs.number('socket.request.max.bytes'),
      connectionInFlightBytes: settings.connectionMemoryBytes,
      inFlightBytes: settings.requestMemoryBytes,
      queuedBytes: settings.responseMemoryBytes * 2,
      idleMs: brokerConfigs.number('connections.max.idle.ms'),
      connections: brokerConfigs.number('max.connections'),
      connectionsPerHost: brokerConfigs.number('max.connections.per.ip'),
    },
  })
  let http: HttpServer | null = null
  try {
    bound = await server.listen()
    advertised = parseAdvertised(settings.advertisedListeners, bound)
    http = await broker.startHttp()
  } catch (error) {
    await server.close(0)
    await broker.close()
    throw error
  }
  greet(settings, bound, http)
  const why = await new Promise<readonly [string, number]>((resolve) => {
    stop = (reason, code) => resolve([reason, code])
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve([signal, 0]))
  })
  logger.info({ reason: why[0] }, 'shutting down')
  // a second signal, or a part that hangs, must not keep the process: what was acknowledged is on disk already. One Ctrl-C
  // may arrive several times, from the terminal and from npm
  const stoppingMs = clock.monotonicMs()
  const again = (): void => void (clock.monotonicMs() - stoppingMs > SAME_SIGNAL_MS && process.exit(130))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, again)
  setTimeout(() => process.exit(1), SHUTDOWN_MS).unref()
  await server.close(SHUTDOWN_MS / 3)
  await broker.close().catch((error: unknown) => logger.warn({ err: error }, 'the shutdown was not clean; nothing acknowledged is lost'))
  await http.close()
  process.exit(why[1])
}
