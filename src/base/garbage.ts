/** How much passes between two looks at the memory in use. */
const LOOK_BYTES = 16 * 1024 * 1024

export interface GarbageBoundOptions {
  /** What may be in use beside what the last collection left. */
  readonly limitBytes: number
  /** Bytes of buffers in use, collected or not. */
  readonly used: () => number
  /** Collects now; undefined where V8 was not started with --expose-gc: nothing is bounded then. */
  readonly collect: (() => void) | undefined
}

/**
 * A bound on buffers that nobody holds any more. They lie outside V8's heap, and V8 lets them grow to several times what was alive when
 * it last collected: with hundreds of MiB in caches and requests that is more than a container may have. This collects at a fixed
 * distance instead. V8 mostly comes first by itself, and then nothing is done here.
 */
export class GarbageBound {
  readonly #options: GarbageBoundOptions
  #unseenBytes = 0
  /** The least that was seen in use since the last collection of ours. */
  #floorBytes = Infinity

  constructor(options: GarbageBoundOptions) {
    this.#options = options
  }

  /** `sizeBytes` came in or went out. */
  moved(sizeBytes: number): void {
    this.#unseenBytes += sizeBytes
    if (this.#unseenBytes < LOOK_BYTES || this.#options.collect === undefined) return
    this.#unseenBytes = 0
    const usedBytes = this.#options.used()
    this.#floorBytes = Math.min(this.#floorBytes, usedBytes)
    if (usedBytes - this.#floorBytes <= this.#options.limitBytes) return
    this.#options.collect()
    this.#floorBytes = this.#options.used()
  }
}
