import type { TableCache } from './cache.ts'
import { layout, publicationStem } from './layout.ts'
import { encodeManifest } from './manifest.ts'
import { encodeManifestList } from './manifestList.ts'
import { printMetadata, type LoadedTable } from './table.ts'
import type { ManifestEntry, ManifestListEntry, Snapshot, TableMetadata } from './types.ts'

export interface Relocated {
  readonly base: LoadedTable
  readonly objects: readonly { readonly key: string; readonly body: Buffer }[]
  /** Keys of what the new objects replace. */
  readonly obsolete: readonly string[]
}

/**
 * Publishes a moved folder anew: table metadata holds full URIs, so every manifest and manifest list that a kept
 * snapshot names is written again with the new ones. Snapshot ids, sequence numbers and dates stay. The metadata log
 * starts afresh, since older metadata files name places that are gone.
 */
export async function relocate(input: {
  readonly base: LoadedTable
  readonly cache: TableCache
  readonly location: string
  readonly publication: number
  readonly uuid: string
  readonly uri: (key: string) => string
}): Promise<Relocated> {
  const { base, cache, location, uri } = input
  const from = base.metadata.location
  const to = uri(location)
  const stem = publicationStem(input.publication, input.uuid)
  const sync = Buffer.from(input.uuid.replaceAll('-', ''), 'hex')
  const moved = (path: string): string => (path.startsWith(`${from}/`) ? to + path.slice(from.length) : path)
  const objects: { key: string; body: Buffer }[] = []
  const lineOf = new Map<string, ManifestListEntry>()
  const rewrite = async (line: ManifestListEntry): Promise<ManifestListEntry> => {
    const done = lineOf.get(line.path)
    if (done !== undefined) return done
    const entries = await cache.entries(base.metadata, location, line)
    const key = layout.manifest(location, `moved-${stem}`, lineOf.size)
    // Entries keep what they had; ADDED ones still inherit, because the line keeps its sequence number and snapshot.
    const body = await encodeManifest(
      entries.map((entry) => withPath(entry, moved(entry.file.path))),
      base.metadata,
      line.specId,
      sync,
    )
    objects.push({ key, body })
    const next = { ...line, path: uri(key), lengthBytes: body.length }
    lineOf.set(line.path, next)
    return next
  }
  const snapshots: Snapshot[] = []
  const keyOf = (path: string): string => cache.keyIn(base.metadata, location, path)
  const obsolete = [base.metadataKey, ...base.metadata['metadata-log'].map((entry) => keyOf(entry['metadata-file']))]
  let lines: ManifestListEntry[] = []
  for (const [number, snapshot] of base.metadata.snapshots.entries()) {
    const rewritten: ManifestListEntry[] = []
    for (const line of await cache.lines(base.metadata, location, snapshot)) rewritten.push(await rewrite(line))
    const key = layout.manifestList(location, `moved-${stem}-${number}`)
    const body = await encodeManifestList(
      rewritten,
      {
        id: snapshot['snapshot-id'],
        parentId: snapshot['parent-snapshot-id'] ?? null,
        sequenceNumber: snapshot['sequence-number'],
        formatVersion: snapshot['first-row-id'] === undefined ? 2 : 3,
        firstRowId: snapshot['first-row-id'] ?? null,
      },
      sync,
    )
    objects.push({ key, body })
    obsolete.push(keyOf(snapshot['manifest-list']))
    const summary = Object.fromEntries(Object.entries(snapshot.summary).map(([name, value]) => [name, moved(value)]))
    snapshots.push({ ...snapshot, 'manifest-list': uri(key), summary })
    if (snapshot['snapshot-id'] === base.metadata['current-snapshot-id']) lines = rewritten
  }
  const properties = Object.fromEntries(
    Object.entries(base.metadata.properties).map(([name, value]) => [name, value === from ? to : moved(value)]),
  )
  const metadata: TableMetadata = { ...base.metadata, location: to, snapshots, properties, 'metadata-log': [] }
  for (const path of lineOf.keys()) obsolete.push(keyOf(path))
  return { base: { ...base, metadata, text: printMetadata(metadata), lines }, objects, obsolete }
}

function withPath(entry: ManifestEntry, path: string): ManifestEntry {
  return { ...entry, file: { ...entry.file, path } }
}
