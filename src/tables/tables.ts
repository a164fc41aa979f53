import type { Registry } from 'prom-client'
import type { Clock } from '../base/clock.ts'
import type { TopicSettings } from '../base/config/topicSettings.ts'
import type { Logger } from '../base/log.ts'
import type { Metadata } from '../metadata/port.ts'
import type { TopicView } from '../metadata/view.ts'
import type { StoreMetrics } from '../storage/metrics.ts'
import type { ObjectStore, StoreSpec } from '../storage/store.ts'
import type { Wal } from '../wal/port.ts'
import { Compactor } from './compact/compactor.ts'
import type { SchemaSource } from '../schemas/source.ts'
import type { Typings } from './typed/typings.ts'
import { ChunkPool } from './convert/chunks.ts'
import { Converter } from './convert/converter.ts'
import { Loads } from './convert/loads.ts'
import { TableMetrics } from './convert/metrics.ts'
import { Slots } from './convert/slots.ts'
import { TableWorkers, type Encoders } from './convert/workers.ts'
import { DeltaReplica } from './delta/replica.ts'
import { Publisher } from './iceberg/publisher.ts'
import { Expirer } from './maintain/expirer.ts'
import { OrphanSearch } from './maintain/orphans.ts'
import { TableRetention } from './maintain/retention.ts'
import { PaimonReplica } from './paimon/replica.ts'
import { Replicas } from './replicas/replicas.ts'

const FILE_BYTES = 64 * 1024 * 1024
const RETENTION_CHECK_MS = 300_000

export interface TablesOptions {
  readonly store: ObjectStore
  /** How worker threads open the same store. */
  readonly spec: StoreSpec
  /** Counts their requests. */
  readonly storeMetrics?: StoreMetrics
  readonly metadata: Metadata
  readonly wal: Wal
  readonly clock: Clock
  readonly logger: Logger
  readonly registry: Registry
  readonly settings: (topic: TopicView) => TopicSettings
  /** Random UUIDs, canonical lower-case text. */
  readonly uuid: () => string
  /** Threads that write and merge table files (`--convert-workers`). */
  readonly workers: number
  /** Unconverted bytes of a topic that start a conversion (`--convert-bytes`). */
  readonly convertBytes: number
  /** Unconverted bytes of all topics together that start the conversion of the largest. */
  readonly pressureBytes: number
  /** False for topics whose table another pod keeps (pods/); all of them when left out. */
  readonly keeps?: (topic: TopicView) => boolean
  /** `--conversion paused`: no table is written. */
  readonly paused: boolean
  /** Batch bytes of a first-level file; 64 MiB when left out. */
  readonly fileBytes?: number
  /** How often table retention is looked at (`log.retention.check.interval.ms`); 300000 when left out. */
  readonly retentionCheckMs?: number
  /** Memory for parsed table metadata; 64 MiB when left out. */
  readonly metadataCacheBytes?: number
  readonly typings: Typings
  /** Where schemas of values come from; null while there is no registry. */
  readonly schemas: SchemaSource | null
  /** What writes files; threads when left out. */
  readonly encoders?: Encoders
}

/** Everything that keeps tables, wired together. */
export interface Tables {
  readonly publisher: Publisher
  readonly converter: Converter
  readonly loads: Loads
  readonly compactor: Compactor
  readonly retention: TableRetention
  readonly replicas: Replicas
  start(): void
  /** Ends conversions, publications and hints that run, takes no more. */
  close(): Promise<void>
}

/** Builds the tables of one process (main.ts calls it once). */
export function createTables(options: TablesOptions): Tables {
  const { clock, logger, metadata, registry, schemas, settings, store, typings, uuid, wal } = options
  const metrics = new TableMetrics({ registry, state: metadata.state, clock })
  const publisher = new Publisher({
    store,
    metadata,
    clock,
    logger,
    registry,
    uuid,
    settings,
    typings,
    cacheBytes: options.metadataCacheBytes,
  })
  const fileBytes = options.fileBytes ?? FILE_BYTES
  const chunks = new ChunkPool(clock, fileBytes)
  const workers = options.encoders ?? new TableWorkers({ size: options.workers, spec: options.spec, metrics: options.storeMetrics, chunks })
  const slots = new Slots(options.workers)
  const converter = new Converter({
    metadata,
    wal,
    publisher,
    workers,
    slots,
    clock,
    logger,
    metrics,
    uuid,
    settings,
    fileBytes,
    chunks,
    convertBytes: options.convertBytes,
    pressureBytes: options.pressureBytes,
    typings,
    schemas,
    paused: options.paused,
    keeps: options.keeps,
  })
  const loads = new Loads({ metadata, converter, publisher, clock, logger, metrics, settings })
  const { paused } = options
  const compactor = new Compactor({ metadata, publisher, workers, slots, clock, logger, metrics, settings, uuid, paused, typings })
  const expirer = new Expirer({ metadata, publisher, clock, logger, settings })
  const retention = new TableRetention({
    metadata,
    publisher,
    clock,
    logger,
    settings,
    keeps: options.keeps,
    everyMs: options.retentionCheckMs ?? RETENTION_CHECK_MS,
  })
  const shared = { store, metadata, clock, logger }
  const replicas = new Replicas({
    ...shared,
    publisher,
    registry,
    settings,
    replicas: [new DeltaReplica(shared), new PaimonReplica({ ...shared, uuid })],
  })
  const orphans = new OrphanSearch({ store, metadata, publisher, clock, logger })
  return {
    publisher,
    converter,
    loads,
    compactor,
    retention,
    replicas,
    start() {
      converter.start()
      retention.start()
      replicas.start()
      orphans.start((table, loaded) => {
        if (table.topic === 0) return
        expirer.schedule(table.topic, table.uuid, loaded)
        compactor.consider(table.topic)
      })
    },
    async close() {
      expirer.close()
      await Promise.all([orphans.close(), retention.close(), converter.close(), compactor.close()])
      await publisher.settle()
      await replicas.close()
      await workers.close()
    },
  }
}
