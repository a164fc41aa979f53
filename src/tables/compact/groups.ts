import type { TableFile } from '../../metadata/view.ts'
import type { TableCache } from '../iceberg/cache.ts'
import type { StagedPartition } from '../iceberg/stage.ts'
import type { LoadedTable } from '../iceberg/table.ts'
import { EntryStatus, type ManifestEntry } from '../iceberg/types.ts'
import type { RowOrigin } from '../parquet/lineage.ts'
import { tupleKey } from '../partition/avro.ts'
import { boundFields, specById } from '../partition/spec.ts'

/** Files that may be merged with each other: those of one partition of one spec. */
export interface MergeGroup {
  readonly files: readonly TableFile[]
  /** undefined for files of an unpartitioned spec. */
  readonly partition: StagedPartition | undefined
  /** Their ranges lie among those of files of other groups (T10). */
  readonly isScattered: boolean
  /** What rows of a file inherit, by key; null before v3. */
  readonly origins: ReadonlyMap<string, RowOrigin> | null
}

/** True where merging must know what the manifests say of each file. */
export function needsManifests({ metadata }: LoadedTable): boolean {
  return metadata['format-version'] >= 3 || metadata['partition-specs'].length > 1
}

/** Groups a table's files by partition. Files that the publication does not have (yet) are left out. */
export async function mergeGroups(
  files: Iterable<TableFile>,
  loaded: LoadedTable,
  cache: TableCache,
  location: string,
): Promise<MergeGroup[]> {
  const { metadata, lines } = loaded
  const entries = new Map<string, ManifestEntry>()
  for (const line of lines) {
    if (line.content !== 0 || line.addedFiles + line.existingFiles === 0) continue
    for (const entry of await cache.entries(metadata, location, line))
      if (entry.status !== EntryStatus.deleted) entries.set(cache.keyIn(metadata, location, entry.file.path), entry)
  }
  const origins = metadata['format-version'] < 3 ? null : new Map<string, RowOrigin>()
  const groups = new Map<string, { files: TableFile[]; entry: ManifestEntry }>()
  for (const file of files) {
    const entry = entries.get(file.key)
    if (entry === undefined) continue
    origins?.set(file.key, { firstRowId: entry.file.firstRowId, sequenceNumber: entry.sequenceNumber })
    const key = `${entry.specId} ${tupleKey(entry.file.partition)}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { files: [file], entry })
    else group.files.push(file)
  }
  return [...groups.values()].map(({ files: found, entry }) => {
    const fields = boundFields(metadata, specById(metadata, entry.specId))
    const partition = fields.length === 0 ? undefined : { fields, values: entry.file.partition }
    return { files: found, partition, isScattered: groups.size > 1, origins }
  })
}
