import { describe, expect, it } from 'vitest'
import { nextExpiryMs, snapshotsToDrop } from '../../../../src/tables/iceberg/retain.ts'
import type { Snapshot } from '../../../../src/tables/iceberg/types.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

function snapshot(id: number, committedMs: number): Snapshot {
  return {
    'snapshot-id': id,
    'sequence-number': id,
    'timestamp-ms': committedMs,
    'manifest-list': `l${id}`,
    summary: { operation: 'append', 'frazil.committed-ms': String(committedMs) },
  }
}

const metadata = (snapshots: Snapshot[], refs: Record<string, number> = {}) => ({
  snapshots,
  'current-snapshot-id': snapshots.at(-1)!['snapshot-id'],
  refs: Object.fromEntries(Object.entries(refs).map(([name, id]) => [name, { 'snapshot-id': id, type: 'tag' as const }])),
})

describe('thinning snapshots', () => {
  it('keeps hundreds of a table that is flushed every two seconds for two days', () => {
    let snapshots: Snapshot[] = []
    let most = 0
    for (let n = 0; n < (2 * DAY_MS) / 2000; n += 8) {
      for (let i = 0; i < 8; i++) snapshots.push(snapshot(n + i, (n + i) * 2000))
      const nowMs = (n + 7) * 2000
      const leased = new Set(snapshots.filter((one) => one['timestamp-ms'] > nowMs - HOUR_MS).map((one) => one['snapshot-id']))
      const dropped = new Set(snapshotsToDrop(metadata(snapshots), { nowMs, graceMs: DAY_MS, leased }))
      snapshots = snapshots.filter((one) => !dropped.has(one))
      most = Math.max(most, snapshots.length)
    }
    expect(most).toBeLessThan(600)
    expect(snapshots[0]!['timestamp-ms']).toBeGreaterThanOrEqual(2 * DAY_MS - DAY_MS - HOUR_MS)
    expect(snapshots.length).toBeGreaterThan(100)
  })

  it('drops what was replaced longer than the grace ago, but never what a ref names', () => {
    const snapshots = [snapshot(1, 0), snapshot(2, 1000), snapshot(3, 2000), snapshot(4, 50_000)]
    const options = { nowMs: 60_000, graceMs: 20_000, leased: new Set<number>() }
    expect(snapshotsToDrop(metadata(snapshots), options).map((one) => one['snapshot-id'])).toEqual([1, 2])
    expect(snapshotsToDrop(metadata(snapshots, { v1: 1 }), options).map((one) => one['snapshot-id'])).toEqual([2])
    expect(snapshotsToDrop(metadata([snapshot(9, 0)]), { ...options, nowMs: DAY_MS })).toEqual([])
  })

  it('says when the next one is due', () => {
    const snapshots = [snapshot(1, 0), snapshot(2, 1000), snapshot(3, 5000)]
    expect(nextExpiryMs(metadata(snapshots), 100)).toBe(1100)
    expect(nextExpiryMs(metadata(snapshots, { v1: 1 }), 100)).toBe(5100)
    expect(nextExpiryMs(metadata([snapshot(3, 5000)]), 100)).toBe(Number.POSITIVE_INFINITY)
  })
})
