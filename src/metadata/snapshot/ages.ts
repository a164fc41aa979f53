import type { Clock } from '../../base/clock.ts'

const STEPS = 16

/**
 * For how long this process has had entries, on its own clock: one that it has seen for the retention is at least that old, whoever wrote
 * it, and may be truncated (L4, L6).
 */
export class EntryAges {
  readonly #clock: Clock
  readonly #retentionMs: number
  readonly #seen: { readonly entry: number; readonly ms: number }[] = []

  constructor(clock: Clock, retentionMs: number) {
    this.#clock = clock
    this.#retentionMs = retentionMs
  }

  note(entry: number): void {
    const ms = this.#clock.monotonicMs()
    const last = this.#seen.at(-1)
    if (last === undefined || ms - last.ms >= this.#retentionMs / STEPS) this.#seen.push({ entry, ms })
  }

  /** The last entry that is old enough; 0 for none, Infinity where nothing has to age. */
  oldEnough(): number {
    if (this.#retentionMs === 0) return Infinity
    const untilMs = this.#clock.monotonicMs() - this.#retentionMs
    while (this.#seen.length > 1 && this.#seen[1].ms <= untilMs) this.#seen.shift()
    return this.#seen.length > 0 && this.#seen[0].ms <= untilMs ? this.#seen[0].entry : 0
  }
}
