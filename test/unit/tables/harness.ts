import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { BatchBuilder } from '../../../protocol/records/build.ts'
import { readBatchHeader } from '../../../protocol/records/header.ts'
import type { Clock } from '../../../src/base/clock.ts'
import { topicSettings, type TopicSettings } from '../../../src/base/config/topicSettings.ts'
import { silentLogger } from '../../../src/base/log.ts'
import type { MetadataEngine } from '../../../src/metadata/engine.ts'
import type { Metadata } from '../../../src/metadata/port.ts'
import type { TableView, TopicView } from '../../../src/metadata/view.ts'
import { FolderStore } from '../../../src/storage/folder.ts'
import type { ObjectStore } from '../../../src/storage/store.ts'
import { encode, merge } from '../../../src/tables/convert/files.ts'
import { Typings } from '../../../src/tables/typed/typings.ts'
import { createTables, type Tables, type TablesOptions } from '../../../src/tables/tables.ts'
import type { LoadedTable } from '../../../src/tables/iceberg/table.ts'
import type { WalBatch } from '../../../src/wal/port.ts'
import { WalSequences } from '../../../src/wal/sequences.ts'
import { WriteAheadLog } from '../../../src/wal/wal.ts'
import { open, topicCommand } from '../metadata/helpers.ts'
import { MemoryLog } from '../metadata/memoryLog.ts'
import { ManualClock } from '../wal/harness.ts'

export interface Bench {
  readonly folder: string
  readonly store: ObjectStore
  readonly log: MemoryLog
  readonly clock: Clock
  readonly engine: MetadataEngine
  readonly wal: WriteAheadLog
  readonly tables: Tables
  readonly registry: Registry
  /** Makes a topic; its number. */
  topic(name: string, partitions?: number, configs?: Record<string, string>): Promise<TopicView>
  /** Appends values, one batch; the base offset. */
  produce(topic: TopicView, partition: number, values: readonly (string | Uint8Array | null)[]): Promise<number>
  table(topic: TopicView): TableView
  /** A load through the catalog, in effect: flushes; the table's current metadata. */
  load(topic: TopicView): Promise<LoadedTable>
  /** Deletes a topic as the API does: flushes, then keeps the table under another name ('' drops it). */
  remove(topic: TopicView, keepTableAs: string): Promise<void>
  /** Stops as a kill would: nothing is flushed. The folder and the log stay. */
  kill(): Promise<void>
  /** As `kill`, and removes the folder. */
  end(): Promise<void>
}

export interface BenchOptions {
  readonly clock?: Clock
  readonly folder?: string
  readonly log?: MemoryLog
  readonly store?: (inner: FolderStore) => ObjectStore
  /** Stands between the rooms and the state machine, to fail or delay proposals. */
  readonly metadata?: (inner: MetadataEngine) => Metadata
  readonly tables?: Partial<TablesOptions>
  readonly start?: boolean
  /** Real threads; else files are written in this one, which starts faster. */
  readonly threads?: boolean
  /** Feature level; 1 when left out. */
  readonly level?: number
}

export function valueBatch(values: readonly (string | Uint8Array | null)[], timestampMs = 1_700_000_000_000): WalBatch {
  const builder = new BatchBuilder()
  values.forEach((value, i) => {
    const bytes = value === null ? null : typeof value === 'string' ? Buffer.from(value) : value
    builder.append(i, timestampMs + i, null, 0, 0, bytes, 0, bytes?.length ?? 0)
  })
  const bytes = builder.finish()
  const header = readBatchHeader(bytes)
  return {
    bytes,
    offsetCount: values.length,
    maxTimestampMs: header.maxTimestampMs,
    producerId: -1,
    producerEpoch: -1,
    baseSequence: -1,
    appendTimeMs: -1,
  }
}

/** Waits until `done`, a bounded number of turns. */
export async function until(done: () => boolean, what: string): Promise<void> {
  for (let turn = 0; turn < 10_000; turn++) {
    if (done()) return
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  throw new Error(`${what} did not come`)
}

const noBroker = { own: (): undefined => undefined }

/** Lets time pass in steps until `done`, a bounded number of them; real work in between gets its turn. */
export async function advanceUntil(clock: Clock, stepMs: number, done: () => boolean, what: string): Promise<void> {
  for (let step = 0; step < 2000; step++) {
    if (done()) return
    if (clock instanceof ManualClock) await clock.advance(stepMs)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  throw new Error(`${what} did not come`)
}

/** Tables over a real folder, a real state machine and a real WAL. */
export async function bench(options: BenchOptions = {}): Promise<Bench> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'frazil-tables-'))
  const clock = options.clock ?? new ManualClock()
  const log = options.log ?? new MemoryLog()
  const inner = new FolderStore({ path: folder, fsync: false })
  await inner.open()
  const store = options.store?.(inner) ?? inner
  const engine = await open(log, { clock, level: options.level ?? 1 })
  const metadata = options.metadata?.(engine) ?? engine
  const registry = new Registry()
  const wal = new WriteAheadLog({
    store,
    metadata: engine,
    clock,
    logger: silentLogger,
    registry,
    sequences: new WalSequences(engine),
    lingerMs: 1,
  })
  const settings = (topic: TopicView): TopicSettings => topicSettings(topic, noBroker)
  const tables = createTables({
    store,
    spec: { kind: 'folder', path: folder, fsync: false },
    metadata,
    wal,
    clock,
    logger: silentLogger,
    registry,
    settings,
    uuid: randomUUID,
    workers: 1,
    convertBytes: 64 * 1024 * 1024,
    pressureBytes: 256 * 1024 * 1024,
    paused: false,
    typings: new Typings({ store, metadata, uuid: randomUUID }),
    schemas: null,
    ...(options.threads === true
      ? {}
      : { encoders: { encode: (task) => encode(task, store), merge: (task) => merge(task, store), close: async () => {} } }),
    ...options.tables,
  })
  if (options.start !== false) tables.start()
  const kill = async (): Promise<void> => {
    await tables.close()
    await engine.close()
    await store.close()
  }
  return {
    folder,
    store,
    log,
    clock,
    engine,
    wal,
    tables,
    registry,
    async topic(name, partitions = 2, configs = {}) {
      const table = name.replaceAll('.', '_')
      const result = await engine.propose(
        topicCommand(name, partitions, { configs, table: { namespace: 'default', name: table, uuid: randomUUID() } }),
      )
      if (result.kind !== 'topic') throw new Error(JSON.stringify(result))
      return engine.state.topicByNumber(result.topic)!
    },
    async produce(topic, partition, values) {
      const [answer] = await wal.append([{ topic: topic.topic, partition, batch: valueBatch(values) }])
      if (answer!.error !== 0) throw new Error(`error ${answer!.error}`)
      return answer!.baseOffset
    },
    table: (topic) => engine.state.table(topic.topic)!,
    async load(topic) {
      const lag = await tables.loads.flush(topic)
      if (lag.records > 0) throw new Error(`${lag.records} records are missing`)
      return (await tables.publisher.load(engine.state.table(topic.topic)!))!
    },
    async remove(topic, keepTableAs) {
      await tables.loads.flush(topic)
      const result = await engine.propose({ kind: 'deleteTopic', topic: topic.topic, keepTableAs, graceMs: 0 })
      if (result.kind !== 'ok') throw new Error(JSON.stringify(result))
    },
    kill,
    async end() {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
