import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { EntryLog } from './entryLog.ts'
import type { State } from './state/state.ts'

export interface EngineMetrics {
  readonly entries: Counter
  readonly proposals: Counter
  readonly retries: Counter
  readonly conflicts: Counter
  readonly appendSeconds: Histogram
  readonly snapshots: Counter<'outcome'>
}

/** Registers the room's metrics; gauges are read from the state when asked for. */
export function engineMetrics(registry: Registry, state: State, log: EntryLog): EngineMetrics {
  const registers = [registry]
  const gauge = (name: string, help: string, value: () => number): void => {
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
  gauge('frazil_metadata_log_bytes', 'Bytes that the metadata log holds', () => log.sizeBytes())
  gauge('frazil_metadata_last_entry', 'Number of the last metadata entry applied', () => state.lastEntry)
  gauge('frazil_metadata_topics', 'Topics', () => state.rooms.topicRows.byNumber.size)
  gauge('frazil_metadata_partitions', 'Partitions', () => state.rooms.parts.count)
  gauge('frazil_metadata_extents', 'Extents of all partitions', () => state.rooms.parts.extents.count)
  gauge('frazil_metadata_producers', 'Idempotent producers remembered', () => state.rooms.producerRows.count)
  gauge('frazil_metadata_deletions', 'Keys waiting to be deleted', () => state.rooms.deletionRows.byId.size)
  gauge('frazil_wal_objects', 'WAL objects with live bytes, those inside metadata entries included', () => state.rooms.objects.byId.size)
  gauge('frazil_wal_bytes', 'Bytes of these WAL objects', () => state.rooms.objects.sizeBytes)
  return {
    entries: new Counter({ name: 'frazil_metadata_entries_total', help: 'Metadata entries written', registers }),
    proposals: new Counter({ name: 'frazil_metadata_proposals_total', help: 'Proposals in these entries', registers }),
    retries: new Counter({ name: 'frazil_metadata_append_retries_total', help: 'Appends tried again because the log failed', registers }),
    conflicts: new Counter({ name: 'frazil_metadata_conflicts_total', help: 'Appends that found another writer there', registers }),
    appendSeconds: new Histogram({
      name: 'frazil_metadata_append_seconds',
      help: 'Time to make an entry durable',
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers,
    }),
    snapshots: new Counter({ name: 'frazil_metadata_snapshots_total', help: 'Snapshots tried', labelNames: ['outcome'], registers }),
  }
}
