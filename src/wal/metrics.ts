import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Metadata } from '../metadata/port.ts'
import type { HotCache } from './cache.ts'

/** The WAL's metrics; gauges are computed from the state when they are asked for. */
export function walMetrics(
  registry: Registry,
  metadata: Metadata,
  hot: HotCache,
): { readonly reads: Counter<'cache'>; readonly observeCommit: (kind: 'inline' | 'object', sizeBytes: number, seconds: number) => void } {
  const registers = [registry]
  const objects = (): { objects: number; bytes: number; liveBytes: number } => {
    const sum = { objects: 0, bytes: 0, liveBytes: 0 }
    for (const object of metadata.state.walObjects()) {
      sum.objects++
      sum.bytes += object.sizeBytes
      sum.liveBytes += object.liveBytes
    }
    return sum
  }
  new Gauge({
    name: 'frazil_wal_objects',
    help: 'WAL objects that the state knows, those inside entries included',
    registers,
    collect() {
      this.set(objects().objects)
    },
  })
  new Gauge({
    name: 'frazil_wal_bytes',
    help: 'Bytes of these objects',
    registers,
    collect() {
      this.set(objects().bytes)
    },
  })
  new Gauge({
    name: 'frazil_wal_live_bytes',
    help: 'Bytes of batches in them that were not converted yet',
    registers,
    collect() {
      this.set(objects().liveBytes)
    },
  })
  new Gauge({
    name: 'frazil_wal_cache_bytes',
    help: 'Memory that the cache of recent WAL objects keeps alive',
    registers,
    collect() {
      this.set(hot.retainedBytes)
    },
  })
  const seconds = new Histogram({
    name: 'frazil_wal_commit_seconds',
    help: 'From closing a buffer to its answer',
    labelNames: ['kind'],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5],
    registers,
  })
  const bytes = new Counter({ name: 'frazil_wal_written_bytes_total', help: 'Bytes of batches written', labelNames: ['kind'], registers })
  const reads = new Counter({ name: 'frazil_wal_reads_total', help: 'Reads of WAL extents, from memory or not', labelNames: ['cache'], registers })
  return {
    reads,
    observeCommit(kind, sizeBytes, took) {
      seconds.observe({ kind }, took)
      bytes.inc({ kind }, sizeBytes)
    },
  }
}
