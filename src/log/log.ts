import { Counter, type Registry } from 'prom-client'
import { Errors } from '../../protocol/errors.ts'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Metadata } from '../metadata/port.ts'
import { gauge } from '../wal/metrics.ts'
import type { Wal } from '../wal/port.ts'
import { ByteBudget } from './budget.ts'
import { Fetcher } from './fetch.ts'
import { PartitionReader } from './partitionReader.ts'
import type { FetchedPartition, Log, TableReader } from './port.ts'
import { Throttle } from './throttle.ts'
import type { TimedOffset } from './firstInBatch.ts'
import { TimeLookup } from './times.ts'
import { Waiters } from './waiters.ts'

export interface PartitionLogOptions {
  readonly metadata: Metadata
  readonly wal: Wal
  readonly tables: TableReader
  readonly clock: Clock
  readonly logger: Logger
  readonly registry: Registry
  /** Unconverted bytes over all topics at which producers begin to be slowed; 1 GiB when left out. */
  readonly backlogBytes?: number
  /** `fetch.max.bytes`; 55 MiB when left out. */
  readonly fetchMaxBytes?: number
  /** Memory of reads from the store that run at a time; 128 MiB when left out. */
  readonly readBudgetBytes?: number
  /** How much one answer may hold now, so that clients who do not read them leave memory for others; no bound when left out. */
  readonly answerRoomBytes?: () => number
  /** Runs after the commit that is being applied has been answered; setImmediate when left out. */
  readonly defer?: (fn: () => void) => void
}

const MIB = 1024 * 1024

/** Partitions as clients see them: append, fetch and wait over cache, WAL objects and table files. */
export class PartitionLog implements Log {
  readonly #wal: Wal
  readonly #throttle: Throttle
  readonly #fetcher: Fetcher
  readonly #times: TimeLookup
  readonly #waiters: Waiters
  readonly #producedRecords: Counter
  readonly #producedBytes: Counter
  readonly #fetchedBytes: Counter

  constructor(options: PartitionLogOptions) {
    const { metadata, wal, tables, clock, logger, registry } = options
    const registers = [registry]
    const throttled = new Counter({
      name: 'frazil_produce_throttled_seconds',
      help: 'Time that appends waited for conversion to catch up',
      registers,
    })
    const failures = new Counter({
      name: 'frazil_fetch_failures_total',
      help: 'Partitions that could not be read',
      labelNames: ['reason'],
      registers,
    })
    this.#producedRecords = new Counter({
      name: 'frazil_produced_records_total',
      help: 'Records acknowledged to producers, by the counts of their batches; repeats of idempotent producers included',
      registers,
    })
    this.#producedBytes = new Counter({ name: 'frazil_produced_bytes_total', help: 'Bytes of the batches of these records', registers })
    this.#fetchedBytes = new Counter({ name: 'frazil_fetched_bytes_total', help: 'Bytes of batches given to fetches', registers })
    this.#wal = wal
    this.#waiters = new Waiters({ metadata, defer: options.defer ?? setImmediate })
    const limitBytes = options.backlogBytes ?? 1024 * MIB
    const throttle = new Throttle({ state: metadata.state, clock, limitBytes, observe: (seconds) => throttled.inc(seconds) })
    this.#throttle = throttle
    gauge(registry, 'frazil_unconverted_bytes', 'Bytes that were produced and are not in a table file yet', () => throttle.backlogBytes())
    this.#times = new TimeLookup({ metadata, wal, tables })
    this.#fetcher = new Fetcher({
      metadata,
      clock,
      logger,
      reader: new PartitionReader({ metadata, wal, tables, clock }),
      waiters: this.#waiters,
      budget: new ByteBudget(options.readBudgetBytes ?? 128 * MIB),
      maxBytes: options.fetchMaxBytes ?? 55 * MIB,
      roomBytes: options.answerRoomBytes ?? (() => Infinity),
      failed: (reason) => failures.inc({ reason }),
    })
  }

  async append(items: Parameters<Log['append']>[0]): ReturnType<Log['append']> {
    // It may fail while the append is held back, before the WAL listens.
    for (const { ready } of items) ready?.catch(() => {})
    const { value, throttleMs } = await this.#throttle.pass(() => this.#wal.append(items))
    let records = 0
    let sizeBytes = 0
    for (let i = 0; i < items.length; i++) {
      if (value[i].error !== Errors.NONE) continue
      records += items[i].batch.offsetCount
      sizeBytes += items[i].batch.bytes.length
    }
    this.#producedRecords.inc(records)
    this.#producedBytes.inc(sizeBytes)
    return { batches: value, throttleMs }
  }

  async fetch(request: Parameters<Log['fetch']>[0]): Promise<readonly FetchedPartition[]> {
    const fetched = await this.#fetcher.fetch(request)
    let sizeBytes = 0
    for (const one of fetched) sizeBytes += one.sizeBytes
    this.#fetchedBytes.inc(sizeBytes)
    return fetched
  }

  offsetByTime(topic: number, partition: number, timestampMs: number): Promise<TimedOffset | null> {
    return this.#times.atOrAfter(topic, partition, timestampMs)
  }

  offsetOfMaxTimestamp(topic: number, partition: number): Promise<TimedOffset | null> {
    return this.#times.ofMax(topic, partition)
  }

  /** Stops listening to the metadata log. Parked fetches end with their own time or signal. */
  async close(): Promise<void> {
    this.#waiters.close()
    await this.#times.close()
  }
}
