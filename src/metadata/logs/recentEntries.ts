/** The latest entries of a log, up to a number of bytes; the lowest numbers go first. */
export class RecentEntries {
  readonly #maxBytes: number
  readonly #entries = new Map<number, Buffer>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get(number: number): Buffer | null {
    return this.#entries.get(number) ?? null
  }

  /** An entry that does not follow the last one begins anew: what is kept has no gap. */
  add(number: number, bytes: Buffer): void {
    if (this.#entries.has(number)) return
    if (this.#entries.size > 0 && !this.#entries.has(number - 1)) {
      // a replay from further back must not push out the end
      if (this.#entries.has(number + 1) || number < this.#first()) return
      this.#clear()
    }
    this.#entries.set(number, bytes)
    this.#bytes += bytes.length
    for (const [oldest, { length }] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break
      this.#entries.delete(oldest)
      this.#bytes -= length
    }
  }

  dropBelow(floor: number): void {
    for (const [oldest, { length }] of this.#entries) {
      if (oldest >= floor) break
      this.#entries.delete(oldest)
      this.#bytes -= length
    }
  }

  #first(): number {
    return this.#entries.keys().next().value ?? 0
  }

  #clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }
}
