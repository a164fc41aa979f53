import type { Clock } from '../../base/clock.ts'
import type { LongId } from './types.ts'

/** A load that handed out a snapshot keeps it for this long (T12). */
const LEASE_MS = 3_600_000

/**
 * Snapshots that loads handed out, per table, in this process's memory: a lost lease costs a reader its snapshot early,
 * never a wrong answer, since replaced files stay for the file grace anyway.
 */
export class Leases {
  readonly #clock: Clock
  readonly #untilMs = new Map<string, Map<LongId, number>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  take(tableUuid: string, snapshotId: LongId): void {
    let table = this.#untilMs.get(tableUuid)
    if (table === undefined) this.#untilMs.set(tableUuid, (table = new Map()))
    // Taken out first, so that the map stays in order of time and `of` can stop early.
    table.delete(snapshotId)
    table.set(snapshotId, this.#clock.monotonicMs() + LEASE_MS)
  }

  of(tableUuid: string): ReadonlySet<LongId> {
    const table = this.#untilMs.get(tableUuid)
    if (table === undefined) return new Set()
    const nowMs = this.#clock.monotonicMs()
    for (const [id, untilMs] of table) {
      if (untilMs > nowMs) break
      table.delete(id)
    }
    if (table.size === 0) this.#untilMs.delete(tableUuid)
    return new Set(table.keys())
  }
}
