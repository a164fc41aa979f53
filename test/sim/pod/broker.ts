import { Registry } from 'prom-client'
import { BrokerConfigs } from '../../../src/api/support/brokerConfigs.ts'
import { groupSettings } from '../../../src/api/support/groupSettings.ts'
import { FetchSessions } from '../../../src/api/support/fetchSessions.ts'
import { ProducerIds } from '../../../src/api/support/producerIds.ts'
import type { ApiParts } from '../../../src/api/parts.ts'
import { TopicSettingsCache, type TopicSettings } from '../../../src/base/config/topicSettings.ts'
import type { FrazilError } from '../../../src/base/errors.ts'
import type { Logger } from '../../../src/base/log.ts'
import { GroupCoordinator } from '../../../src/groups/coordinator.ts'
import { PartitionLog } from '../../../src/log/log.ts'
import { TransactionTimeouts } from '../../../src/log/transactionTimeouts.ts'
import { Retention } from '../../../src/log/retention.ts'
import { ProduceValidator } from '../../../src/log/validate.ts'
import type { MetadataEngine } from '../../../src/metadata/engine.ts'
import { StoreLog } from '../../../src/metadata/logs/storeLog.ts'
import { openMetadata, raiseLevel } from '../../../src/metadata/open.ts'
import type { TopicView } from '../../../src/metadata/view.ts'
import { Pods } from '../../../src/pods/pods.ts'
import type { PeerNetwork } from '../../../src/pods/port.ts'
import type { ObjectStore } from '../../../src/storage/store.ts'
import { FileTableReader } from '../../../src/tables/readback/reader.ts'
import { Typings } from '../../../src/tables/typed/typings.ts'
import { createTables, type Tables } from '../../../src/tables/tables.ts'
import { Deleter } from '../../../src/wal/deleter.ts'
import { Evacuator } from '../../../src/wal/evacuate.ts'
import { setWalGrace } from '../../../src/wal/grace.ts'
import { Loop } from '../../../src/wal/loop.ts'
import { enqueueOrphans } from '../../../src/wal/orphans.ts'
import { WalSequences } from '../../../src/wal/sequences.ts'
import { WriteAheadLog } from '../../../src/wal/wal.ts'
import type { Process } from '../world/process.ts'
import { inlineEncoders, readbackRunner, snapshotRunner } from './runners.ts'

/** What differs between seeds: small numbers, so that everything that is rare elsewhere happens here. */
export interface BrokerShape {
  readonly lingerMs: number
  readonly walMaxBytes: number
  readonly hotCacheBytes: number
  readonly snapshotEntries: number
  readonly logRetentionMs: number
  readonly graceMs: number
  readonly evacuateMs: number
  readonly convertBytes: number
  readonly commitIntervalMs: number
  readonly targetFileBytes: number
  readonly paused: boolean
}

export interface SimBroker {
  readonly engine: MetadataEngine
  readonly parts: ApiParts
  readonly tables: Tables
  close(): Promise<void>
}

export interface BrokerOptions {
  readonly process: Process
  readonly pod: string
  readonly store: ObjectStore
  /** null: pods do not talk to each other. */
  readonly network: PeerNetwork | null
  readonly shape: BrokerShape
  readonly logger: Logger
  readonly onStop: (error: FrazilError) => void
}

/** Shorter than real ones: runs are short. */
const TIMINGS = {
  heartbeatMs: 250,
  suspectBeats: 3,
  renewMs: 1500,
  expireRenewals: 3,
  forwardMs: 2000,
  readMs: 50,
  balanceMs: 600,
  forgetMs: 5000,
}

/** All parts of one process, wired as src/wiring does, but for sockets and threads. */
export async function openBroker(options: BrokerOptions): Promise<SimBroker> {
  const { process, pod, store, network, shape, logger } = options
  const { clock, defer, world } = process
  const registry = new Registry()
  const uuid = (): string => world.uuid()
  const metadata = await openMetadata({
    log: new StoreLog({ store, clock, retentionMs: shape.logRetentionMs }),
    clock,
    logger,
    registry,
    pod,
    random: (bytes) => world.bytes(bytes),
    onStop: options.onStop,
    snapshots: { entries: shape.snapshotEntries, pauseMs: 300, intervalMs: 20_000, quietMs: 1000 },
    snapshotWorker: () => snapshotRunner(process),
    fenceOlder: false,
  })
  const pods = new Pods({
    metadata,
    raiseLevel: () => raiseLevel(metadata),
    pod,
    network,
    clock,
    logger,
    registry,
    random: () => world.random(),
    cached: (object, start, end) => wal?.cached(object, start, end - start) ?? null,
    timings: TIMINGS,
  })
  let wal: WriteAheadLog | null = null
  try {
    await pods.claim()
  } catch (error) {
    await metadata.retire().catch(() => undefined)
    await pods.close()
    throw error
  }
  const turn = (work: string) => (): boolean => pods.owns(work)
  const given = new Map([
    ['node.id', String(metadata.nodeId)],
    ['broker.id', String(metadata.nodeId)],
    ['log.retention.check.interval.ms', '10000'],
  ])
  const brokerConfigs = new BrokerConfigs(metadata, given)
  const settingsCache = new TopicSettingsCache(brokerConfigs, () => brokerConfigs.version)
  const topicSettings = (topic: TopicView): TopicSettings => settingsCache.of(topic)
  await setWalGrace(metadata, shape.graceMs)
  const sequences = new WalSequences(metadata)
  wal = new WriteAheadLog({
    store,
    metadata,
    clock,
    logger,
    registry,
    sequences,
    lingerMs: shape.lingerMs,
    maxBytes: shape.walMaxBytes,
    inlineMaxBytes: 0,
    hotCacheBytes: shape.hotCacheBytes,
    coldCacheBytes: Math.max(1000, shape.hotCacheBytes),
    graceMs: shape.graceMs,
    fromPeer: (incarnation, object, start, end) => pods.readFrom(incarnation, object, start, end),
    defer,
  })
  const typings = new Typings({ store, metadata, uuid })
  const reader = new FileTableReader({ store, clock, registry, cacheBytes: 1 << 16, runner: readbackRunner(process), typings })
  const log = new PartitionLog({ metadata, wal, tables: reader, clock, logger, registry, defer })
  const tables = createTables({
    store,
    spec: { kind: 'memory', name: 'sim' },
    metadata,
    wal,
    clock,
    logger,
    registry,
    settings: topicSettings,
    uuid,
    workers: 2,
    convertBytes: shape.convertBytes,
    pressureBytes: 1 << 28,
    typings,
    schemas: null,
    paused: shape.paused,
    fileBytes: shape.targetFileBytes,
    retentionCheckMs: 10_000,
    encoders: inlineEncoders(process, store),
    keeps: (topic) => pods.owns(`table ${topic.topicId}`),
  })
  pods.onChanged(() => tables.converter.reassess())
  const validator = new ProduceValidator({ clock, rules: topicSettings, workers: 1 })
  const groups = new GroupCoordinator({
    metadata,
    clock,
    logger,
    registry,
    randomUuid: uuid,
    shared: true,
    settings: () => groupSettings(brokerConfigs),
  })
  const background = [
    new Deleter({ store, metadata, clock, logger, registry, turn: turn('deletions') }),
    new Evacuator({
      store,
      metadata,
      wal,
      sequences,
      clock,
      logger,
      registry,
      afterMs: shape.evacuateMs,
      sparseAfterMs: shape.evacuateMs / 2,
      everyMs: shape.evacuateMs,
      segmentBytes: 2000,
      graceMs: shape.graceMs,
      turn: turn('evacuation'),
    }),
    new Retention({
      turn: turn('retention'),
      metadata,
      clock,
      logger,
      rules: topicSettings,
      requestConversion: (topic) => tables.converter.request(topic, 'convert'),
      everyMs: 10_000,
      producerExpiryMs: 86_400_000,
    }),
    new TransactionTimeouts({ metadata, clock, logger, everyMs: 1000, idExpiryMs: 86_400_000 }),
    new Loop({
      clock,
      everyMs: 3000,
      pass: () => enqueueOrphans({ store, metadata, logger, graceMs: shape.graceMs }),
      turn: turn('orphans'),
      failed: () => {},
    }),
  ]
  const parts: ApiParts = {
    metadata,
    log,
    groups,
    clock,
    logger,
    brokerConfigs,
    producerIds: new ProducerIds(metadata),
    fetchSessions: new FetchSessions({ clock, registry, slots: 1000, randomUuid: uuid }),
    topicSettings,
    validateProduce: (topic, records, version) => validator.validate(topic, records, version),
    nodes: () => [{ nodeId: metadata.nodeId, rack: null, host: pod, port: 9092 }],
    leaving: () => pods.draining && !pods.alone,
    logDir: { path: 'memory', volume: () => Promise.resolve(null) },
    convertTopic: async (topic) => {
      const view = metadata.state.topicByNumber(topic)
      if (view !== null) await tables.loads.flush(view)
    },
    randomUuid: uuid,
  }
  await groups.start()
  tables.start()
  for (const part of background) part.start()
  await pods.join({ listeners: [{ name: 'PLAINTEXT', host: pod, port: 9092 }], rack: '' })
  return {
    engine: metadata,
    parts,
    tables,
    async close() {
      await pods.drain().catch(() => undefined) // it was fenced, or the log is away
      await clock.sleep(300)
      groups.close()
      await Promise.all(background.map((part) => part.close()))
      await tables.close()
      await wal?.close()
      await log.close()
      await Promise.all([reader.close(), validator.close()])
      await pods.leave().catch(() => undefined)
      await pods.close()
      await metadata.close()
    },
  }
}
