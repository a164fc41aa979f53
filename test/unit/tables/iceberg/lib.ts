import { randomUUID } from 'node:crypto'
import { decodeManifest } from '../../../../src/tables/iceberg/manifest.ts'
import { decodeManifestList } from '../../../../src/tables/iceberg/manifestList.ts'
import { stage, type Change, type Staged, type StagedFile, type StageInput } from '../../../../src/tables/iceberg/stage.ts'
import { currentSnapshot, type LoadedTable } from '../../../../src/tables/iceberg/table.ts'
import { EntryStatus, type ManifestEntry } from '../../../../src/tables/iceberg/types.ts'

export const ROOT = 'file:///store/'
export const LOCATION = 'tables/default/t-12345678'
export const uri = (key: string): string => ROOT + key
export const keyOf = (text: string): string | null => (text.startsWith(ROOT) ? text.slice(ROOT.length) : null)
export const CREATED_MS = 1_700_000_000_000

export const NONE: Change = { operation: 'none', added: [], removedKeys: [], offsets: [], dataTimeMs: 0 }

export function file(name: string, rows = 10, partition = 0, firstOffset = 0): StagedFile {
  const int = (value: number): Buffer => {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32LE(value)
    return bytes
  }
  return {
    key: `${LOCATION}/data/${name}.parquet`,
    sizeBytes: rows * 100,
    rows,
    level: 0,
    ranges: [[partition, firstOffset, firstOffset + rows - 1, rows, CREATED_MS + rows, rows * 90]],
    metrics: {
      columnSizes: [[1, 7]],
      valueCounts: [[1, rows]],
      nullValueCounts: [[1, 0]],
      lowerBounds: [[1, int(partition)]],
      upperBounds: [[1, int(partition)]],
      splitOffsets: [4],
    },
  }
}

/** A table that is only staged: objects in a map. */
export class Sketch {
  readonly objects = new Map<string, Buffer>()
  base: LoadedTable | null = null
  publication = 0
  nowMs = CREATED_MS + 1000

  async publish(change: Partial<Change>, more: Partial<StageInput> = {}): Promise<Staged> {
    const opened = new Map<string, readonly ManifestEntry[]>()
    const removed = new Set((change.removedKeys ?? []).map(uri))
    for (const line of this.base?.lines ?? []) {
      const entries = await decodeManifest(this.objects.get(keyOf(line.path)!)!, line, this.base!.metadata)
      if (entries.some((entry) => removed.has(entry.file.path))) opened.set(line.path, entries)
    }
    const staged = await stage({
      identity: {
        topic: { id: '0000-topic', name: 't', partitions: 2, configs: {}, createdMs: CREATED_MS },
        table: { uuid: '11111111-2222-4333-8444-555555555555', namespace: 'default', name: 't', location: LOCATION },
        progress: [],
        targetFileBytes: 1 << 29,
        formatVersion: 2,
        partitionBy: [],
      },
      base: this.base,
      publication: ++this.publication,
      change: { ...NONE, ...change },
      userFields: [],
      nowMs: this.nowMs,
      graces: { fileMs: 60_000, metadataMs: 1000 },
      uuid: randomUUID(),
      uri,
      keyOf,
      moved: false,
      drop: [],
      manifestsOf: new Map(),
      opened,
      ...more,
    })
    for (const object of staged.objects) this.objects.set(object.key, object.body)
    this.base = staged.loaded
    return staged
  }

  /** Live files of the current snapshot, as a reader finds them: list, manifests, entries that are not deleted. */
  async live(): Promise<string[]> {
    return (await this.entries()).filter((entry) => entry.status !== EntryStatus.deleted).map((entry) => entry.file.path)
  }

  async entries(): Promise<ManifestEntry[]> {
    const snapshot = currentSnapshot(this.base!.metadata)!
    const entries: ManifestEntry[] = []
    for (const line of await decodeManifestList(this.objects.get(keyOf(snapshot['manifest-list'])!)!)) {
      entries.push(...(await decodeManifest(this.objects.get(keyOf(line.path)!)!, line, this.base!.metadata)))
    }
    return entries
  }
}
