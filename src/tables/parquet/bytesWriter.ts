import { PREFIX_BYTES, icebergBounds, parquetBounds, widen, type BytesRange } from './bounds.ts'
import { deltaRoom, encodeDelta } from './deltaEncode.ts'
import { Encoding, type ColumnStatistics } from './footer.ts'
import { LeafWriter, type ColumnBounds } from './leafWriter.ts'
import type { PageContext } from './page.ts'
import type { Leaf } from './schema.ts'

/** Up to here a loop beats a view and a call. */
const COPY_BYTES = 80
/** A value of this size may fill a page by itself. */
const LARGE_BYTES = 4096

/** Byte strings as DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes, which makes a page one copy in and out. */
export class BytesWriter extends LeafWriter {
  #bytes = Buffer.allocUnsafeSlow(4096)
  #end = 0
  #lengths = new Int32Array(1024)
  #count = 0
  readonly #text: boolean
  /** Where the page's smallest and largest value stand; -1 when it has none. */
  #minAt = -1
  #minEnd = 0
  #maxAt = -1
  #maxEnd = 0
  #chunk: BytesRange | null = null
  #file: BytesRange | null = null

  constructor(leaf: Leaf, context: PageContext) {
    super(leaf, context)
    this.#text = leaf.logical === 'string'
  }

  /** The bytes [start, end) of `buf`, copied. */
  put(buf: Uint8Array, start: number, end: number, repetition = 0): void {
    this.levels.begin(this.leaf.maxDefinition, repetition)
    const sizeBytes = end - start
    if (sizeBytes >= LARGE_BYTES) this.checkPage()
    const at = this.#end
    if (at + sizeBytes > this.#bytes.length) this.#grow(at + sizeBytes)
    const bytes = this.#bytes
    if (sizeBytes <= COPY_BYTES) for (let i = 0; i < sizeBytes; i++) bytes[at + i] = buf[start + i]
    else bytes.set(buf.subarray(start, end), at)
    this.#end = at + sizeBytes
    if (this.#count === this.#lengths.length) {
      const larger = new Int32Array(this.#count * 2)
      larger.set(this.#lengths)
      this.#lengths = larger
    }
    this.#lengths[this.#count++] = sizeBytes
    this.#bound(at, at + sizeBytes)
  }

  fileBounds(): ColumnBounds | null {
    return this.#file === null ? null : icebergBounds(this.#file, this.#text)
  }

  absorb({ min, max, minExact }: ColumnStatistics): void {
    if (min === undefined || max === undefined) return
    // A maximum that was cut has been raised already: it is a bound as it stands.
    this.#file = widen(this.#file, { min: Buffer.from(min), minCut: !minExact, max: Buffer.from(max), maxCut: false })
  }

  protected saveValues(marks: number[], at: number): number {
    marks[at] = this.#end
    marks[at + 1] = this.#count
    marks[at + 2] = this.#minAt
    marks[at + 3] = this.#minEnd
    marks[at + 4] = this.#maxAt
    marks[at + 5] = this.#maxEnd
    return at + 6
  }

  protected restoreValues(marks: readonly number[], at: number): number {
    this.#end = marks[at]
    this.#count = marks[at + 1]
    this.#minAt = marks[at + 2]
    this.#minEnd = marks[at + 3]
    this.#maxAt = marks[at + 4]
    this.#maxEnd = marks[at + 5]
    return at + 6
  }

  protected pendingBytes(): number {
    return this.#end + this.#count
  }

  protected encodePage(): { values: Buffer; encoding: number } {
    const room = deltaRoom(this.#count)
    const out = this.context.scratch(room + this.#end)
    const at = encodeDelta(this.#lengths, this.#count, 1, out, 0)
    this.#bytes.copy(out, at, 0, this.#end)
    return { values: out.subarray(0, at + this.#end), encoding: Encoding.deltaLengthByteArray }
  }

  protected takePageBounds(): { min: Uint8Array | null; max: Uint8Array | null } {
    if (this.#minAt < 0) return { min: null, max: null }
    const cut = (at: number, end: number): Buffer => Buffer.from(this.#bytes.subarray(at, Math.min(end, at + PREFIX_BYTES)))
    const page: BytesRange = {
      min: cut(this.#minAt, this.#minEnd),
      minCut: this.#minEnd - this.#minAt > PREFIX_BYTES,
      max: cut(this.#maxAt, this.#maxEnd),
      maxCut: this.#maxEnd - this.#maxAt > PREFIX_BYTES,
    }
    this.#chunk = widen(this.#chunk, page)
    this.#end = this.#count = 0
    this.#minAt = this.#maxAt = -1
    const bounds = parquetBounds(page, this.#text)
    return { min: bounds.min, max: bounds.max ?? null }
  }

  protected takeChunkBounds(): Omit<ColumnStatistics, 'nullCount'> {
    const chunk = this.#chunk
    this.#chunk = null
    if (chunk === null) return { minExact: false, maxExact: false }
    this.#file = widen(this.#file, chunk)
    return parquetBounds(chunk, this.#text)
  }

  #bound(at: number, end: number): void {
    if (this.#minAt < 0) {
      this.#minAt = this.#maxAt = at
      this.#minEnd = this.#maxEnd = end
    } else if (this.#order(at, end, this.#minAt, this.#minEnd) < 0) {
      this.#minAt = at
      this.#minEnd = end
    } else if (this.#order(at, end, this.#maxAt, this.#maxEnd) > 0) {
      this.#maxAt = at
      this.#maxEnd = end
    }
  }

  /** Unsigned byte order of two values of the page; most differ in their first bytes, so no call is worth its price. */
  #order(a: number, aEnd: number, b: number, bEnd: number): number {
    const bytes = this.#bytes
    const shorter = Math.min(aEnd - a, bEnd - b, 256)
    for (let i = 0; i < shorter; i++) {
      const difference = bytes[a + i] - bytes[b + i]
      if (difference !== 0) return difference
    }
    return bytes.compare(bytes, b, bEnd, a, aEnd)
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#end)
    this.#bytes = larger
  }
}
