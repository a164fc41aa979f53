import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Clock } from '../../base/clock.ts'
import type { StateView } from '../../metadata/view.ts'

const MIB = 1024 * 1024
const SIZE_CLASSES = [
  { name: '<1MiB', below: MIB },
  { name: '<8MiB', below: 8 * MIB },
  { name: '<64MiB', below: 64 * MIB },
  { name: '<256MiB', below: 256 * MIB },
  { name: '>=256MiB', below: Number.POSITIVE_INFINITY },
] as const

/** Metrics of tables: those read from the state when asked for, and those counted by conversion. */
export class TableMetrics {
  readonly conversionSeconds: Histogram<'trigger'>
  readonly convertedBytes: Counter
  readonly convertedRows: Counter
  readonly writtenBytes: Counter<'kind'>
  readonly failures: Counter<'topic'>
  readonly flushes: Counter<'outcome'>
  readonly typedRows: Counter<'topic' | 'outcome'>

  constructor(options: { readonly registry: Registry; readonly state: StateView; readonly clock: Clock }) {
    const { state, clock } = options
    const registers = [options.registry]
    options.registry.registerMetric(
      new Gauge({
        name: 'frazil_table_lag_records',
        help: 'Committed records that are not in the table yet',
        labelNames: ['topic'],
        registers: [],
        collect() {
          this.reset()
          for (const topic of state.topics()) this.set({ topic: topic.name }, state.unconvertedRecords(topic.topic))
        },
      }),
    )
    options.registry.registerMetric(
      new Gauge({
        name: 'frazil_table_lag_seconds',
        help: 'Age of the oldest committed record that is not in the table yet',
        labelNames: ['topic'],
        registers: [],
        collect() {
          this.reset()
          for (const topic of state.topics()) {
            const oldestMs = state.oldestUnconvertedMs(topic.topic)
            this.set({ topic: topic.name }, oldestMs < 0 ? 0 : Math.max(0, clock.wallMs() - oldestMs) / 1000)
          }
        },
      }),
    )
    options.registry.registerMetric(
      new Gauge({
        name: 'frazil_table_files',
        help: 'Live files of a table by size',
        labelNames: ['topic', 'size_class'],
        registers: [],
        collect() {
          this.reset()
          for (const topic of state.topics()) {
            const table = state.table(topic.topic)
            if (table === null) continue
            const counts = SIZE_CLASSES.map(() => 0)
            for (const file of table.files()) counts[SIZE_CLASSES.findIndex((one) => file.sizeBytes < one.below)]!++
            for (const [at, one] of SIZE_CLASSES.entries()) this.set({ topic: topic.name, size_class: one.name }, counts[at]!)
          }
        },
      }),
    )
    options.registry.registerMetric(
      new Gauge({
        name: 'frazil_table_bytes',
        help: 'Bytes of the live files of a table',
        labelNames: ['topic'],
        registers: [],
        collect() {
          this.reset()
          for (const topic of state.topics()) {
            const table = state.table(topic.topic)
            if (table === null) continue
            let sizeBytes = 0
            for (const file of table.files()) sizeBytes += file.sizeBytes
            this.set({ topic: topic.name }, sizeBytes)
          }
        },
      }),
    )
    this.conversionSeconds = new Histogram({
      name: 'frazil_conversion_seconds',
      help: 'Time from choosing WAL ranges to the publication that holds them',
      labelNames: ['trigger'],
      registers,
    })
    this.convertedBytes = new Counter({ name: 'frazil_converted_bytes_total', help: 'WAL bytes that were converted', registers })
    this.convertedRows = new Counter({ name: 'frazil_converted_rows_total', help: 'Rows written by conversion', registers })
    this.writtenBytes = new Counter({
      name: 'frazil_table_written_bytes_total',
      help: 'Bytes of table files written, by conversion and by merging; their ratio is the write amplification',
      labelNames: ['kind'],
      registers,
    })
    this.failures = new Counter({
      name: 'frazil_conversion_failures_total',
      help: 'Conversions that failed and are tried again',
      labelNames: ['topic'],
      registers,
    })
    this.typedRows = new Counter({
      name: 'frazil_typed_rows_total',
      help: 'Rows whose value names a schema: stored as columns alone (exact), with raw bytes beside them (raw), or raw only (undecodable)',
      labelNames: ['topic', 'outcome'],
      registers,
    })
    this.flushes = new Counter({
      name: 'frazil_table_load_flushes_total',
      help: 'Loads by outcome: nothing to flush, flushed, or timed out with the lag stated',
      labelNames: ['outcome'],
      registers,
    })
  }
}
