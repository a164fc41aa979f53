import type { LoadLag } from '../tables/convert/loads.ts'
import { printJson } from '../tables/iceberg/json.ts'
import { stemOf } from '../tables/iceberg/layout.ts'
import type { LoadedTable } from '../tables/iceberg/table.ts'
import type { LongId } from '../tables/iceberg/types.ts'

export type SnapshotsMode = 'all' | 'refs'

export function etagOf(loaded: LoadedTable, mode: SnapshotsMode): string {
  return `"${stemOf(loaded.metadataKey)}-${mode}"`
}

/** True when the client's If-None-Match names this etag, weakly compared (RFC 9110, 13.1.2). */
export function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag || one.trim() === '*')
}

/**
 * The body of a load. The metadata file's own text goes out as it is; with `refs` only snapshots that a ref names stand
 * in it. `config` states what the load shows: its publication, and the lag where P7 could not be kept; and `fileIo`, where
 * the files are found.
 */
export function loadBody(
  loaded: LoadedTable,
  location: string,
  publication: number,
  lag: LoadLag,
  mode: SnapshotsMode,
  fileIo: Readonly<Record<string, string>>,
): string {
  const config = {
    ...fileIo,
    // DuckDB refuses a load that has a config but no region, even where nothing lies in S3.
    ...(location.startsWith('file:') ? { 'client.region': 'local' } : {}),
    'frazil.publication': String(publication),
    'frazil.lag-records': String(lag.records),
    'frazil.lag-ms': String(lag.ms),
  }
  const metadata = mode === 'all' ? loaded.text : printJson(onlyRefs(loaded))
  return `{"metadata-location":${JSON.stringify(location)},"metadata":${metadata},"config":${JSON.stringify(config)}}`
}

function onlyRefs({ metadata }: LoadedTable): object {
  const named = new Set<LongId>(Object.values(metadata.refs).map((ref) => ref['snapshot-id']))
  named.add(metadata['current-snapshot-id'])
  return {
    ...metadata,
    snapshots: metadata.snapshots.filter((snapshot) => named.has(snapshot['snapshot-id'])),
    'snapshot-log': metadata['snapshot-log'].filter((entry) => named.has(entry['snapshot-id'])),
  }
}
