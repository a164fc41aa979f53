/** Bytes that may be read from the store at a time; more waits in order of arrival. */
export class ByteBudget {
  readonly #totalBytes: number
  #freeBytes: number
  readonly #waiting: { readonly bytes: number; readonly go: () => void }[] = []

  constructor(totalBytes: number) {
    this.#totalBytes = Math.max(1, totalBytes)
    this.#freeBytes = this.#totalBytes
  }

  /** Takes `bytes` (all of the budget at most); the answer gives them back, once. */
  async acquire(bytes: number): Promise<() => void> {
    const taken = Math.max(0, Math.min(bytes, this.#totalBytes))
    if (this.#waiting.length > 0 || this.#freeBytes < taken) await new Promise<void>((go) => this.#waiting.push({ bytes: taken, go }))
    else this.#freeBytes -= taken
    return () => {
      this.#freeBytes += taken
      for (let first = this.#waiting[0]; first !== undefined && this.#freeBytes >= first.bytes; first = this.#waiting[0]) {
        this.#waiting.shift()
        this.#freeBytes -= first.bytes
        first.go()
      }
    }
  }
}
