import type { LongId, Snapshot, TableMetadata } from './types.ts'

const MINUTE_MS = 60_000
/** The newest snapshots always stay, so that a reader a few publications behind finds its own. */
const NEWEST = 32
/** Snapshots leased by a load stay on top of the thinned ones, up to this many (T12: hundreds, not thousands). */
const LEASED_MAX = 256
/** Age up to which one snapshot per step stays. */
const STEPS = [
  { ageMs: 60 * MINUTE_MS, stepMs: MINUTE_MS },
  { ageMs: Number.POSITIVE_INFINITY, stepMs: 15 * MINUTE_MS },
] as const
const OLD_MAX = 128
/** A publication drops at most this many, so that one after a long silence stays small. */
const DROPPED_MAX = 64

export const COMMITTED_KEY = 'frazil.committed-ms'

/** When a snapshot was written (wall time), which is not its date (T9). */
export function committedMs(snapshot: Snapshot): number {
  return Number(snapshot.summary[COMMITTED_KEY] ?? snapshot['timestamp-ms'])
}

/**
 * Chooses the snapshots to drop, oldest first (T12). Those that a ref names, the current one and, up to a bound, those
 * handed out by a load stay. Of the others a snapshot stays while it was replaced less than `graceMs` ago, since then its
 * files are deleted; and of those only so many by age.
 */
export function snapshotsToDrop(
  metadata: Pick<TableMetadata, 'snapshots' | 'refs' | 'current-snapshot-id'>,
  options: { readonly nowMs: number; readonly graceMs: number; readonly leased: ReadonlySet<LongId> },
): Snapshot[] {
  const { snapshots } = metadata
  const pinned = new Set<LongId>([metadata['current-snapshot-id'], ...Object.values(metadata.refs).map((ref) => ref['snapshot-id'])])
  const dropped: Snapshot[] = []
  let leased = 0
  let old = 0
  let lastKeptMs = Number.POSITIVE_INFINITY
  for (let at = snapshots.length - 1; at >= 0; at--) {
    const snapshot = snapshots[at]!
    const id = snapshot['snapshot-id']
    const bornMs = committedMs(snapshot)
    const replacedMs = at + 1 < snapshots.length ? committedMs(snapshots[at + 1]!) : Number.POSITIVE_INFINITY
    if (pinned.has(id)) continue
    const expired = replacedMs + options.graceMs <= options.nowMs
    if (!expired && options.leased.has(id) && leased < LEASED_MAX) {
      leased++
      continue
    }
    const ageMs = options.nowMs - bornMs
    const step = STEPS.find((one) => ageMs <= one.ageMs) ?? STEPS[1]
    const recent = snapshots.length - at <= NEWEST
    const spaced = lastKeptMs - bornMs >= step.stepMs && (step === STEPS[0] || old < OLD_MAX)
    if (!expired && (recent || spaced)) {
      if (!recent && step !== STEPS[0]) old++
      lastKeptMs = bornMs
      continue
    }
    dropped.push(snapshot)
  }
  return dropped.toReversed().slice(0, DROPPED_MAX)
}

/**
 * When the next snapshot of a quiet table expires: wall ms, or Infinity when nothing but pinned snapshots is left.
 */
export function nextExpiryMs(metadata: Pick<TableMetadata, 'snapshots' | 'refs' | 'current-snapshot-id'>, graceMs: number): number {
  const pinned = new Set<LongId>([metadata['current-snapshot-id'], ...Object.values(metadata.refs).map((ref) => ref['snapshot-id'])])
  const at = metadata.snapshots.findIndex((snapshot) => !pinned.has(snapshot['snapshot-id']))
  if (at < 0 || at + 1 >= metadata.snapshots.length) return Number.POSITIVE_INFINITY
  return committedMs(metadata.snapshots[at + 1]!) + graceMs
}
