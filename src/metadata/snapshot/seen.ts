/** Marks are this much of the retention apart, at least. */
const MARKS = 16

/**
 * Since when this process has seen entries (L4): an entry of a shared log may be deleted only when that is longer ago than
 * the log's retention. Whoever has looked at the end within half of it then cannot take a number that was truncated for one
 * that is free. What was there at the start counts from the start on.
 */
export class SeenEntries {
  readonly #retentionMs: number
  /** Every entry up to `entry` was seen at `atMs`; rising. */
  readonly #marks: { readonly entry: number; readonly atMs: number }[] = []

  constructor(retentionMs: number) {
    this.#retentionMs = retentionMs
  }

  /** Takes note of an entry; `nowMs` is monotonic. */
  note(entry: number, nowMs: number): void {
    const last = this.#marks.at(-1)
    if (last === undefined || nowMs - last.atMs >= this.#retentionMs / MARKS) this.#marks.push({ entry, atMs: nowMs })
    // of those that are old enough only the last says anything
    while (this.#marks.length > 1 && nowMs - this.#marks[1].atMs >= this.#retentionMs) this.#marks.shift()
  }

  /** The highest floor that the log may be given now. */
  floorMax(nowMs: number): number {
    if (this.#retentionMs === 0) return Infinity
    let floor = 1
    for (const { entry, atMs } of this.#marks) if (nowMs - atMs >= this.#retentionMs) floor = entry + 1
    return floor
  }
}
