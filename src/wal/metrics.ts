import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Metadata } from '../metadata/port.ts'
import type { HotCache } from './cache.ts'

/** A gauge whose value is asked for when the metrics are. */
export function gauge(registry: Registry, name: string, help: string, value: () => number): void {
  registry.registerMetric(
    new Gauge({
      name,
      help,
      registers: [],
      collect() {
        this.set(value())
      },
    }),
  )
}

/** The WAL's metrics. `frazil_wal_objects` and `frazil_wal_bytes` are the metadata engine's, from the state. */
export function walMetrics(
  registry: Registry,
  metadata: Metadata,
  hot: HotCache,
): { readonly reads: Counter<'cache'>; readonly observeCommit: (kind: 'inline' | 'object', sizeBytes: number, seconds: number) => void } {
  const registers = [registry]
  gauge(registry, 'frazil_wal_live_bytes', 'Bytes of batches in WAL objects that were not converted yet', () => {
    let sum = 0
    for (const object of metadata.state.walObjects()) sum += object.liveBytes
    return sum
  })
  gauge(registry, 'frazil_wal_cache_bytes', 'Memory that the cache of recent WAL objects keeps alive', () => hot.retainedBytes)
  const seconds = new Histogram({
    name: 'frazil_wal_commit_seconds',
    help: 'From closing a buffer to its answer',
    labelNames: ['kind'],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5],
    registers,
  })
  const bytes = new Counter({ name: 'frazil_wal_written_bytes_total', help: 'Bytes of batches written', labelNames: ['kind'], registers })
  const reads = new Counter({
    name: 'frazil_wal_reads_total',
    help: 'Reads of WAL extents, from memory or not',
    labelNames: ['cache'],
    registers,
  })
  return {
    reads,
    observeCommit(kind, sizeBytes, took) {
      seconds.observe({ kind }, took)
      bytes.inc({ kind }, sizeBytes)
    },
  }
}
