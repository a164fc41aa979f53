import { LRUCache } from 'lru-cache'
import type { ObjectStore } from '../../storage/store.ts'
import { FrazilError } from '../../base/errors.ts'
import { layout, stemOf } from './layout.ts'
import { decodeManifest } from './manifest.ts'
import { decodeManifestList } from './manifestList.ts'
import { currentSnapshot, parseMetadata, type LoadedTable, type TopicObject } from './table.ts'
import type { ManifestEntry, ManifestListEntry, Snapshot, TableMetadata } from './types.ts'

/** Memory that parsed values take over the bytes they were read from, roughly. */
const METADATA_FACTOR = 4
const MANIFEST_FACTOR = 12

/** Reads publications and manifests; all of them are immutable, so what was read once is right for ever. */
export class TableCache {
  readonly #store: ObjectStore
  readonly #tables: LRUCache<string, LoadedTable>
  readonly #manifests: LRUCache<string, readonly ManifestEntry[]>
  readonly #lists: LRUCache<string, readonly string[]>

  constructor(store: ObjectStore, options: { readonly sizeBytes: number }) {
    this.#store = store
    this.#tables = new LRUCache({
      maxSize: options.sizeBytes,
      sizeCalculation: (table) => METADATA_FACTOR * table.text.length + 300 * table.lines.length + 1,
    })
    this.#manifests = new LRUCache({ maxSize: options.sizeBytes, sizeCalculation: (entries) => MANIFEST_FACTOR * 200 * entries.length + 1 })
    this.#lists = new LRUCache({ maxSize: Math.ceil(options.sizeBytes / 4), sizeCalculation: (paths) => 200 * paths.length + 1 })
  }

  /** The publication behind a metadata key. Errors: STORE_…, CORRUPT. */
  async table(location: string, metadataKey: string): Promise<LoadedTable> {
    const hit = this.#tables.get(metadataKey)
    if (hit !== undefined) return hit
    const { body } = await this.#store.get(metadataKey, { reason: 'metadata' })
    const text = body.toString()
    const metadata = parseMetadata(text)
    const snapshot = currentSnapshot(metadata)
    const here = metadata.location === this.#store.uri(location)
    const lines = snapshot === null ? [] : await this.#linesOf(metadata, location, snapshot)
    const { pinned, removedSequence } = await this.#topicObject(location, metadataKey)
    const loaded = { metadataKey, metadata, text, lines, pinned, removedSequence }
    if (here) this.#tables.set(metadataKey, loaded)
    return loaded
  }

  put(loaded: LoadedTable): void {
    this.#tables.set(loaded.metadataKey, loaded)
  }

  /** Paths of the manifests of a snapshot. */
  async manifestsOf(metadata: TableMetadata, location: string, snapshot: Snapshot): Promise<readonly string[]> {
    const hit = this.#lists.get(snapshot['manifest-list'])
    if (hit !== undefined) return hit
    const lines = await this.#linesOf(metadata, location, snapshot)
    this.rememberList(snapshot, lines)
    return lines.map((line) => line.path)
  }

  rememberList(snapshot: Snapshot, lines: readonly ManifestListEntry[]): void {
    this.#lists.set(
      snapshot['manifest-list'],
      lines.map((line) => line.path),
    )
  }

  async entries(metadata: TableMetadata, location: string, line: ManifestListEntry): Promise<readonly ManifestEntry[]> {
    // A manifest of before the upgrade to v3 has row ids in the lists of after it only.
    const id = `${line.path} ${line.firstRowId ?? ''}`
    const hit = this.#manifests.get(id)
    if (hit !== undefined) return hit
    const { body } = await this.#store.get(this.keyIn(metadata, location, line.path), { reason: 'metadata' })
    const entries = await decodeManifest(body, line, metadata)
    this.#manifests.set(id, entries)
    return entries
  }

  async lines(metadata: TableMetadata, location: string, snapshot: Snapshot): Promise<ManifestListEntry[]> {
    return this.#linesOf(metadata, location, snapshot)
  }

  /** The store key of a URI in a publication, also when the folder moved since it was written. */
  keyIn(metadata: TableMetadata, location: string, uri: string): string {
    if (uri.startsWith(`${metadata.location}/`)) return location + uri.slice(metadata.location.length)
    const key = this.#store.keyOf(uri)
    if (key === null) throw new FrazilError('CORRUPT', `${uri} is outside the table's folder`)
    return key
  }

  async #linesOf(metadata: TableMetadata, location: string, snapshot: Snapshot): Promise<ManifestListEntry[]> {
    const { body } = await this.#store.get(this.keyIn(metadata, location, snapshot['manifest-list']), { reason: 'metadata' })
    return decodeManifestList(body)
  }

  async #topicObject(location: string, metadataKey: string): Promise<TopicObject> {
    const { body } = await this.#store.get(layout.topic(location, stemOf(metadataKey)), { reason: 'metadata' })
    return JSON.parse(body.toString()) as TopicObject
  }
}
