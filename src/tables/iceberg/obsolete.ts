import { layout, stemOf } from './layout.ts'
import type { StageInput } from './stage.ts'
import { OFFSETS_OBJECT_KEY } from './summary.ts'
import type { PinnedFile } from './table.ts'
import type { LongId, ManifestEntry, TableMetadata } from './types.ts'

/** A metadata file that left the log: whoever reads by path has long read it. */
const OLD_METADATA_MS = 600_000

/** Sequence numbers of the snapshots that refs other than main name. */
function pinnedSequences(metadata: TableMetadata): number[] {
  const ids = new Set<LongId>()
  for (const [name, ref] of Object.entries(metadata.refs)) if (name !== 'main') ids.add(ref['snapshot-id'])
  return metadata.snapshots.filter((snapshot) => ids.has(snapshot['snapshot-id'])).map((snapshot) => snapshot['sequence-number'])
}

/**
 * Manifests that only dropped snapshots name. A manifest is in a row of consecutive snapshots, so one that neither the
 * kept snapshot before a dropped run nor the kept one after it names is in none that is kept.
 */
function orphanedManifests(input: StageInput): string[] {
  const dropped = new Set<LongId>(input.drop.map((snapshot) => snapshot['snapshot-id']))
  const snapshots = input.base?.metadata.snapshots ?? []
  const orphans = new Set<string>()
  const kept = new Set<string>()
  for (const [at, snapshot] of snapshots.entries()) {
    const id = snapshot['snapshot-id']
    const borders = dropped.has(snapshots[at - 1]?.['snapshot-id'] ?? -1) || dropped.has(snapshots[at + 1]?.['snapshot-id'] ?? -1)
    if (dropped.has(id)) for (const path of input.manifestsOf.get(id) ?? []) orphans.add(path)
    else if (borders) for (const path of input.manifestsOf.get(id) ?? []) kept.add(path)
  }
  return [...orphans].filter((path) => !kept.has(path))
}

/** The snapshots whose manifest lists `stage` needs: those to drop and their kept neighbours. */
export function listsNeeded(metadata: TableMetadata, drop: ReadonlySet<LongId>): LongId[] {
  return metadata.snapshots
    .map((snapshot) => snapshot['snapshot-id'])
    .filter((id, at, ids) => drop.has(id) || drop.has(ids[at - 1] ?? -1) || drop.has(ids[at + 1] ?? -1))
}

/**
 * What nobody refers to once the publication is current, with how long it stays; and the replaced files that a tag or
 * branch still shows, which stay until it goes.
 */
export function obsoleteOf(
  input: StageInput,
  metadata: TableMetadata,
  deleted: readonly ManifestEntry[],
): { readonly obsolete: { key: string; graceMs: number }[]; readonly pinned: PinnedFile[] } {
  const { base, graces, identity, keyOf } = input
  const obsolete: { key: string; graceMs: number }[] = []
  const discard = (uri: string, graceMs: number): void => {
    const key = keyOf(uri)
    if (key !== null) obsolete.push({ key, graceMs })
  }
  const sequences = pinnedSequences(metadata)
  const shown = (file: PinnedFile): boolean =>
    sequences.some((sequence) => file.addedSequence <= sequence && sequence < file.removedSequence)
  const pinned: PinnedFile[] = []
  for (const file of base?.pinned ?? []) {
    if (shown(file)) pinned.push(file)
    else obsolete.push({ key: file.key, graceMs: graces.fileMs })
  }
  for (const entry of deleted) {
    const key = keyOf(entry.file.path)
    if (key === null) continue
    const file = { key, addedSequence: entry.fileSequenceNumber, removedSequence: metadata['last-sequence-number'] }
    if (shown(file)) pinned.push(file)
    else obsolete.push({ key, graceMs: graces.fileMs })
  }
  for (const snapshot of input.drop) {
    discard(snapshot['manifest-list'], graces.metadataMs)
    const offsets = snapshot.summary[OFFSETS_OBJECT_KEY]
    if (offsets !== undefined) discard(offsets, graces.metadataMs)
  }
  for (const path of orphanedManifests(input)) discard(path, graces.metadataMs)
  if (base !== null) {
    const logged = new Set(metadata['metadata-log'].map((entry) => entry['metadata-file']))
    for (const entry of base.metadata['metadata-log']) {
      if (!logged.has(entry['metadata-file'])) discard(entry['metadata-file'], Math.min(OLD_METADATA_MS, graces.metadataMs))
    }
    const beforeBase = base.metadata['metadata-log'].at(-1)
    const key = beforeBase === undefined ? null : keyOf(beforeBase['metadata-file'])
    if (key !== null) obsolete.push({ key: layout.topic(identity.table.location, stemOf(key)), graceMs: 0 })
  }
  return { obsolete, pinned }
}
