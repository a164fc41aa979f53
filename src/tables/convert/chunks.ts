import type { Clock, Timer } from '../../base/clock.ts'

/** Size of a pooled chunk. */
export const CHUNK_BYTES = 4 * 1024 * 1024
/** Chunks that nobody took for this long are given up. */
const IDLE_MS = 60_000

/**
 * Memory that extents are gathered in for a worker, used again once the worker has sent it back: new pages cost the event
 * loop more than the copy into them, and freed ones in between other allocations leave holes that malloc seldom closes.
 */
export class ChunkPool {
  readonly #clock: Clock
  readonly #max: number
  readonly #free: ArrayBuffer[] = []
  #timer: Timer | null = null

  /** Keeps at most `maxBytes`. */
  constructor(clock: Clock, maxBytes: number) {
    this.#clock = clock
    this.#max = Math.floor(maxBytes / CHUNK_BYTES)
  }

  /** At least `leastBytes`, and not much more than `wantedBytes` unless it is there anyway. What it holds is undefined. */
  take(leastBytes: number, wantedBytes: number): ArrayBuffer {
    if (leastBytes <= CHUNK_BYTES) {
      const free = this.#free.pop()
      if (free !== undefined) return free
    }
    return new ArrayBuffer(Math.max(leastBytes, Math.min(CHUNK_BYTES, wantedBytes)))
  }

  give(chunks: readonly ArrayBuffer[]): void {
    for (const chunk of chunks) {
      if (chunk.byteLength === CHUNK_BYTES && this.#free.length < this.#max) this.#free.push(chunk)
    }
    this.#timer?.cancel()
    this.#timer = this.#free.length === 0 ? null : this.#clock.timer(IDLE_MS, () => this.#free.splice(0))
  }
}
