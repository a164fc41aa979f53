import { randomBytes, randomUUID } from 'node:crypto'
import { Registry } from 'prom-client'
import { BrokerConfigs } from '../api/support/brokerConfigs.ts'
import { FetchSessions } from '../api/support/fetchSessions.ts'
import { consumerSettings, groupSettings } from '../api/support/groupSettings.ts'
import { ProducerIds } from '../api/support/producerIds.ts'
import { Dispatcher } from '../api/dispatcher.ts'
import type { ApiParts, NodeEndpoint } from '../api/parts.ts'
import { type Clock } from '../base/clock.ts'
import { hostPort } from '../base/config/load.ts'
import type { Settings } from '../base/config/settings.ts'
import { TopicSettingsCache } from '../base/config/topicSettings.ts'
import { FrazilError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import { registerCatalog } from '../catalog/register.ts'
import { GroupCoordinator } from '../groups/coordinator.ts'
import { registerProcessMetrics } from '../http/processMetrics.ts'
import { startHttp, type HttpServer } from '../http/server.ts'
import { PartitionLog } from '../log/log.ts'
import { ProduceValidator } from '../log/validate.ts'
import { openMetadata } from '../metadata/open.ts'
import type { TopicView } from '../metadata/view.ts'
import { Forget } from '../pods/forget.ts'
import type { Pods } from '../pods/pods.ts'
import { parseListeners, type Listener } from '../server/listeners.ts'
import { StoreMetrics } from '../storage/metrics.ts'
import { engineProperties } from '../storage/spec.ts'
import { createTables } from '../tables/tables.ts'
import { Typings } from '../tables/typed/typings.ts'
import { FileTableReader } from '../tables/readback/reader.ts'
import { setWalGrace } from '../wal/grace.ts'
import { Loop } from '../wal/loop.ts'
import { enqueueOrphans } from '../wal/orphans.ts'
import { WalSequences } from '../wal/sequences.ts'
import { WriteAheadLog } from '../wal/wal.ts'
import { registerHolds } from './holds.ts'
import { openPods } from './pods.ts'
import { openSchemas } from './schemas.ts'
import { openStores, placeName, volumeOf } from './stores.ts'
import { backgroundParts } from './background.ts'

/** Share of the backlog limit at which the largest topics are converted whatever their own triggers say. */
const CONVERT_PRESSURE = 0.5
const CONVERT_BEFORE_DELETE_MS = 25_000
/** A pod that leaves closes its listeners when no client came for this long, or after the other. */
const DRAIN_QUIET_MS = 1500
const DRAIN_MS = 10_000
const DRAIN_LOOK_MS = 100
/** With a shared log: between two searches for WAL objects that dead pods left. */
const ORPHANS_MS = 600_000
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
  /** With a shared log: tells the other pods, and through them clients, where this one listens. Call once it does. */
  join(advertised: readonly Listener[]): Promise<void>
  /** With other pods there: sends clients to them and waits until they have gone. */
  drain(): Promise<void>
  /** Mounts the catalog, metrics and health on HTTP. */
  startHttp(): Promise<HttpServer>
  /** Records and state are safe once this resolves; called when no request is running any more. */
  close(): Promise<void>
}

/** The pods that clients are sent to; null while none is known, or with a log of one. */
function nodesOf(pods: Pods | null, listener: string): readonly NodeEndpoint[] | null {
  const members = pods?.nodes() ?? []
  const nodes = members.flatMap(({ nodeId, about: { listeners, rack } }) => {
    const { host, port } = listeners.find((each) => each.name === listener) ?? listeners[0] ?? { host: '', port: 0 }
    return host === '' ? [] : [{ nodeId, host, port, rack: rack === '' ? null : rack }]
  })
  return nodes.length === 0 ? null : nodes
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
    fenceOlder: !log.shared,
  })
  await stores.settle(metadata.state.clusterId)
  let wal: WriteAheadLog | null = null
  const pods: Pods | null = log.shared
    ? await openPods({
        settings,
        metadata,
        store,
        clock,
        logger,
        registry,
        listeners: parseListeners(settings.listeners),
        cached: (object, start, end) => wal?.cached(object, start, end - start) ?? null,
      })
    : null
  const turn = (work: string): (() => boolean) | undefined => (pods === null ? undefined : () => pods.owns(work))

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
  wal = new WriteAheadLog({
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
    fromPeer: pods === null ? undefined : (incarnation, object, start, end) => pods.readFrom(incarnation, object, start, end),
    graceMs: settings.walGraceMs,
  })
  const typings = new Typings({ store, metadata, uuid: randomUUID })
  const { tableCacheBytes: cacheBytes, readWorkers } = settings
  const reader = new FileTableReader({ store, clock, registry, typings, cacheBytes, workers: readWorkers })
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
  const schemas = openSchemas(settings, metadata, logger)
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
    typings,
    schemas: schemas.source,
    workers: settings.convertWorkers,
    convertBytes: settings.convertBytes,
    pressureBytes: settings.backlogMaxBytes * CONVERT_PRESSURE,
    paused: settings.conversion === 'paused',
    keeps: pods === null ? undefined : (topic) => pods.owns(`table ${topic.topicId}`),
  })
  pods?.onChanged(() => tables.converter.reassess())
  const validator = new ProduceValidator({ clock, rules: topicSettings, workers: 1 })
  const groups = new GroupCoordinator({
    metadata,
    clock,
    logger,
    registry,
    randomUuid: randomUUID,
    shared: pods !== null,
    settings: () => groupSettings(brokerConfigs),
    consumerSettings: (groupId) => consumerSettings(brokerConfigs, metadata.state.groupConfigs(groupId)),
  })
  const background = backgroundParts({
    settings,
    store,
    metadata,
    wal,
    sequences,
    brokerConfigs,
    topicSettings,
    tables,
    clock,
    logger,
    registry,
    turn,
  })
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
    fetchSessions: new FetchSessions({
      clock,
      registry,
      slots: brokerConfigs.number('max.incremental.fetch.session.cache.slots'),
      randomUuid: randomUUID,
    }),
    topicSettings,
    validateProduce: (topic, records, version) => validator.validate(topic, records, version),
    nodes: (listener) => nodesOf(pods, listener) ?? [{ nodeId: metadata.nodeId, rack, ...options.endpoint(listener) }],
    leaving: () => pods !== null && pods.draining && !pods.alone,
    convertTopic,
    logDir: { path: placeName(spec), volume: () => volumeOf(spec) },
    randomUuid: randomUUID,
  }
  const dispatcher = new Dispatcher(parts, registry)
  await groups.start()
  tables.start()
  reader.warm()
  for (const part of background) part.start()
  const findOrphans = (): Promise<unknown> => enqueueOrphans({ store, metadata, logger, graceMs: settings.walGraceMs })
  const orphansFailed = (error: unknown): void => logger.warn({ err: error }, 'orphaned WAL objects could not be listed')
  // whoever wrote a folder before this process is gone
  const forget = new Forget({ metadata, clock, afterMs: 0 })
  const tidied = async (): Promise<void> => {
    await findOrphans()
    await forget.pass(true)
  }
  const orphans = pods === null ? tidied().catch(orphansFailed) : Promise.resolve()
  if (pods !== null) {
    // pods die while this one lives on
    const loop = new Loop({ clock, everyMs: ORPHANS_MS, pass: findOrphans, turn: turn('orphans'), failed: orphansFailed })
    loop.start()
    background.push(loop)
  }

  let ready: string | null = pods === null ? null : 'joining the cluster'
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
          ...schemas.mounts,
          { prefix: '/holds', register: (app) => registerHolds(app, { metadata, clock }) },
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
    async join(advertised) {
      if (pods === null) return
      await pods.join({ listeners: advertised.map(({ name, host, port }) => ({ name, host, port })), rack: rack ?? '' })
      ready = null
    },
    async drain() {
      if (pods === null) return
      ready = 'draining'
      await pods.drain()
      const fromMs = clock.monotonicMs()
      const quietMs = (): number => clock.monotonicMs() - Math.max(fromMs, dispatcher.movedMs)
      while (!pods.alone && quietMs() < DRAIN_QUIET_MS && clock.monotonicMs() - fromMs < DRAIN_MS) await clock.sleep(DRAIN_LOOK_MS)
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
      await pods
        ?.leave()
        .catch((error: unknown) => logger.warn({ reason: String(error) }, 'this pod left without a word: its lease runs out'))
      await pods?.close()
      await metadata.close()
      await stores.close()
    },
  }
}
