import { int32Bytes, int64Bytes } from './bounds.ts'
import { deltaRoom, encodeDelta } from './deltaEncode.ts'
import { Encoding, type ColumnStatistics } from './footer.ts'
import { LeafWriter, type ColumnBounds } from './leafWriter.ts'
import { dictionaryPage, type PageContext, type StoredPage } from './page.ts'
import { bitWidthOf, encodeRle, rleRoom } from './rle.ts'
import { Physical, type Leaf } from './schema.ts'

/** Distinct values above which an int column gives up its dictionary for the rest of the row group. */
const DICTIONARY_MAX = 4096

/** Shared by int32 and int64 leaves: values, and their bounds by page, chunk and file. */
abstract class NumberWriter<A extends Int32Array | Float64Array> extends LeafWriter {
  protected values: A
  protected count = 0
  readonly #scale: number
  #chunk: Range | null = null
  #file: Range | null = null

  constructor(leaf: Leaf, context: PageContext, values: A, scale: number) {
    super(leaf, context)
    this.values = values
    this.#scale = scale
  }

  fileBounds(): ColumnBounds | null {
    return this.#file === null ? null : { lower: this.#bytes(this.#file.min), upper: this.#bytes(this.#file.max) }
  }

  absorb({ min, max }: ColumnStatistics): void {
    if (min === undefined || max === undefined) return
    const read = (bytes: Uint8Array): number => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
      return bytes.length === 4 ? view.getInt32(0, true) : Number(view.getBigInt64(0, true) / BigInt(this.#scale))
    }
    this.#file = union(this.#file, { min: read(min), max: read(max) })
  }

  protected saveValues(marks: number[], at: number): number {
    marks[at] = this.count
    return at + 1
  }

  protected restoreValues(marks: readonly number[], at: number): number {
    this.count = marks[at]
    return at + 1
  }

  protected pendingBytes(): number {
    return this.count * 2
  }

  protected add(value: number): void {
    if (this.count === this.values.length) this.values = grown(this.values)
    this.values[this.count++] = value
  }

  protected takePageBounds(): { min: Uint8Array | null; max: Uint8Array | null } {
    const page = rangeOf(this.values, this.count)
    this.count = 0
    if (page === null) return { min: null, max: null }
    this.#chunk = union(this.#chunk, page)
    return { min: this.#bytes(page.min), max: this.#bytes(page.max) }
  }

  protected takeChunkBounds(): Omit<ColumnStatistics, 'nullCount'> {
    const chunk = this.#chunk
    this.#chunk = null
    if (chunk === null) return { minExact: false, maxExact: false }
    this.#file = union(this.#file, chunk)
    return { min: this.#bytes(chunk.min), max: this.#bytes(chunk.max), minExact: true, maxExact: true }
  }

  #bytes(value: number): Uint8Array {
    return this.leaf.physical === Physical.int32 ? int32Bytes(value) : int64Bytes(value, this.#scale)
  }
}

/** int64 as DELTA_BINARY_PACKED. Stored is each value times `scale`: 1000 turns milliseconds into microseconds. */
export class LongWriter extends NumberWriter<Float64Array> {
  readonly #scale: number
  constructor(leaf: Leaf, context: PageContext, scale = 1) {
    super(leaf, context, new Float64Array(1024), scale)
    this.#scale = scale
  }

  put(value: number): void {
    this.levels.begin(this.leaf.maxDefinition, 0)
    this.add(value)
  }

  protected encodePage(): { values: Buffer; encoding: number } {
    const out = this.context.scratch(deltaRoom(this.count))
    const end = encodeDelta(this.values, this.count, this.#scale, out, 0)
    return { values: out.subarray(0, end), encoding: Encoding.deltaBinaryPacked }
  }
}

/** int32 whose values do not repeat, as PLAIN. */
export class PlainIntWriter extends NumberWriter<Int32Array> {
  constructor(leaf: Leaf, context: PageContext) {
    super(leaf, context, new Int32Array(1024), 1)
  }

  put(value: number): void {
    this.levels.begin(this.leaf.maxDefinition, 0)
    this.add(value)
  }

  protected override pendingBytes(): number {
    return this.count * 4
  }

  protected encodePage(): { values: Buffer; encoding: number } {
    return { values: Buffer.from(this.values.buffer, 0, this.count * 4), encoding: Encoding.plain }
  }
}

/** int32 whose values repeat: a dictionary for the chunk, DELTA_BINARY_PACKED once it has grown too large. */
export class DictionaryIntWriter extends NumberWriter<Int32Array> {
  #codes = new Map<number, number>()
  #indexes = new Uint16Array(1024)

  constructor(leaf: Leaf, context: PageContext) {
    super(leaf, context, new Int32Array(1024), 1)
  }

  put(value: number, repetition = 0): void {
    this.levels.begin(this.leaf.maxDefinition, repetition)
    this.add(value)
  }

  protected override pendingBytes(): number {
    return this.count / 8
  }

  protected encodePage(): { values: Buffer; encoding: number } {
    if (!this.#index()) {
      const out = this.context.scratch(deltaRoom(this.count))
      return { values: out.subarray(0, encodeDelta(this.values, this.count, 1, out, 0)), encoding: Encoding.deltaBinaryPacked }
    }
    const bitWidth = bitWidthOf(Math.max(1, this.#codes.size - 1))
    const out = this.context.scratch(rleRoom(this.count, bitWidth))
    out[0] = bitWidth
    return { values: out.subarray(0, encodeRle(this.#indexes, this.count, bitWidth, out, 1)), encoding: Encoding.rleDictionary }
  }

  protected override takeDictionary(): StoredPage | null {
    if (this.#codes.size === 0) return null
    const values = [...this.#codes.keys()]
    this.#codes = new Map()
    return dictionaryPage(this.context, values)
  }

  /** Turns the page's values into dictionary indexes; false when the dictionary is full. */
  #index(): boolean {
    if (this.#indexes.length < this.count) this.#indexes = new Uint16Array(this.values.length)
    let last = 0
    let code = -1
    for (let i = 0; i < this.count; i++) {
      const value = this.values[i]
      if (code < 0 || value !== last) {
        last = value
        const known = this.#codes.get(value)
        if (known === undefined) {
          if (this.#codes.size >= DICTIONARY_MAX) return false
          code = this.#codes.size
          this.#codes.set(value, code)
        } else code = known
      }
      this.#indexes[i] = code
    }
    return true
  }
}

interface Range {
  min: number
  max: number
}

function rangeOf(values: Int32Array | Float64Array, count: number): Range | null {
  if (count === 0) return null
  let min = values[0]
  let max = min
  for (let i = 1; i < count; i++) {
    const value = values[i]
    if (value < min) min = value
    else if (value > max) max = value
  }
  return { min, max }
}

function union(a: Range | null, b: Range): Range {
  return a === null ? { ...b } : { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) }
}

function grown<A extends Int32Array | Float64Array>(array: A): A {
  const larger = (array instanceof Int32Array ? new Int32Array(array.length * 2) : new Float64Array(array.length * 2)) as A
  larger.set(array)
  return larger
}
