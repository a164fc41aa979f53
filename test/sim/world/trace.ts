import { crc32c } from '@node-rs/crc32'

/** The most lines that are kept. */
const KEPT_LINES = 200_000

/** Everything that happened, as lines, of which only a hash is kept unless somebody will read them. */
export class Trace {
  readonly lines: string[] = []
  readonly #keep: boolean
  #hash = 0
  #count = 0

  constructor(keep: boolean) {
    this.#keep = keep
  }

  note(nowMs: number, line: string): void {
    const text = `${nowMs.toFixed(3)} ${line}`
    this.#hash = crc32c(text, this.#hash)
    this.#count++
    if (this.#keep && this.lines.length < KEPT_LINES) this.lines.push(text)
  }

  get count(): number {
    return this.#count
  }

  /** Of all lines, in order. */
  get digest(): string {
    return `${this.#count}-${this.#hash.toString(16).padStart(8, '0')}`
  }
}
