import type { ObjectStore } from '../../storage/store.ts'
import { paimonLayout } from './layout.ts'
import { manifestsOf, readSnapshot, snapshotIds } from './log.ts'
import type { PaimonSnapshot } from './state.ts'

/** The newest snapshots stay, however old. */
const NEWEST = 10
/** One pass drops at most this many. */
const PASS_MAX = 50

/**
 * Snapshots that were replaced longer ago than `graceMs`, so that their files go: the hint to the earliest is moved up,
 * then the keys that only they name are returned, to be deleted. A manifest is in a row of consecutive snapshots, so one
 * that the first kept snapshot does not name is in none that stays.
 */
export async function expireSnapshots(store: ObjectStore, location: string, nowMs: number, graceMs: number): Promise<string[]> {
  const ids = await snapshotIds(store, location)
  const expired: PaimonSnapshot[] = []
  let first: PaimonSnapshot | null = null
  for (const id of ids.slice(0, Math.max(0, ids.length - NEWEST + 1)).slice(0, PASS_MAX + 1)) {
    const snapshot = await readSnapshot(store, location, id)
    if (first !== null) {
      if (snapshot.timeMillis + graceMs > nowMs) break
      expired.push(first)
    }
    first = snapshot
  }
  if (first === null || expired.length === 0) return []
  await store.put(paimonLayout.earliest(location), Buffer.from(String(first.id)), { reason: 'maintain' })
  const kept = new Set((await manifestsOf(store, location, first)).map((manifest) => manifest.name))
  kept.add(first.baseManifestList).add(first.deltaManifestList)
  const names = new Set<string>()
  for (const snapshot of expired) {
    for (const { name } of await manifestsOf(store, location, snapshot)) names.add(name)
    names.add(snapshot.baseManifestList).add(snapshot.deltaManifestList)
  }
  return [
    ...expired.map((snapshot) => paimonLayout.snapshot(location, snapshot.id)),
    ...[...names].filter((name) => !kept.has(name)).map((name) => paimonLayout.manifest(location, name)),
  ]
}
