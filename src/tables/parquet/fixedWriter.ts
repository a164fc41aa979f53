import { Encoding, type ColumnStatistics } from './footer.ts'
import { LeafWriter, type ColumnBounds } from './leafWriter.ts'
import type { PageContext } from './page.ts'
import { Physical, type Leaf } from './schema.ts'

type Compare = (a: Uint8Array, b: Uint8Array) => number

interface Range {
  min: Buffer
  max: Buffer
}

/**
 * Values of one width as PLAIN, which is how they stand in memory too; bounds are found when a page ends. A NaN is no
 * bound, and a zero bound counts as -0 below and +0 above (parquet.thrift, ColumnOrder; hazard I9).
 */
export abstract class FixedWriter extends LeafWriter {
  protected readonly width: number
  protected data = Buffer.alloc(0)
  protected ints = new Int32Array(0)
  protected count = 0
  #chunk: Range | null = null
  #file: Range | null = null

  constructor(leaf: Leaf, context: PageContext, width: number) {
    super(leaf, context)
    this.width = width
    this.#grow(1024 * width)
  }

  /** Values of the file that are no number. */
  nanCount = 0

  get isFloat(): boolean {
    return this.leaf.physical === Physical.float || this.leaf.physical === Physical.double
  }

  fileBounds(): ColumnBounds | null {
    const file = this.#file
    if (file === null) return null
    // Iceberg's decimals are big-endian and as short as can be (Appendix D); here stored is what statistics have.
    return { lower: this.#iceberg(file.min), upper: this.#iceberg(file.max) }
  }

  absorb({ min, max }: ColumnStatistics): void {
    if (min === undefined || max === undefined) return
    this.#file = widen(this.#file, { min: Buffer.from(min), max: Buffer.from(max) }, this.#compare())
  }

  protected saveValues(marks: number[], at: number): number {
    marks[at] = this.count
    return at + 1
  }

  protected restoreValues(marks: readonly number[], at: number): number {
    this.count = marks[at]
    return at + 1
  }

  /** Where the bytes of one more value go. */
  protected take(): number {
    const at = this.count++ * this.width
    if (at + this.width > this.data.length) this.#grow(this.data.length * 2)
    return at
  }

  protected pendingBytes(): number {
    return this.count * this.width
  }

  protected encodePage(): { values: Buffer; encoding: number } {
    return { values: this.data.subarray(0, this.count * this.width), encoding: Encoding.plain }
  }

  protected takePageBounds(): { min: Uint8Array | null; max: Uint8Array | null } {
    const range = this.#pageRange()
    this.count = 0
    if (range === null) return { min: null, max: null }
    this.#chunk = widen(this.#chunk, range, this.#compare())
    return range
  }

  protected takeChunkBounds(): Omit<ColumnStatistics, 'nullCount'> {
    const chunk = this.#chunk
    this.#chunk = null
    if (chunk === null) return { minExact: false, maxExact: false }
    this.#file = widen(this.#file, chunk, this.#compare())
    return { min: chunk.min, max: chunk.max, minExact: true, maxExact: true }
  }

  #grow(bytes: number): void {
    // Eight-byte aligned memory of its own, so that numbers can be read where they stand.
    const memory = new ArrayBuffer(Math.ceil(Math.max(bytes, 1024) / 8) * 8)
    const larger = Buffer.from(memory)
    this.data.copy(larger)
    this.data = larger
    this.ints = new Int32Array(memory)
  }

  #iceberg(value: Buffer): Uint8Array {
    return this.leaf.logical === 'decimal' ? shortDecimal(value, this.leaf.physical !== Physical.fixed) : value
  }

  #pageRange(): Range | null {
    const { count, data, width, leaf } = this
    if (count === 0) return null
    if (leaf.physical === Physical.int64) return this.#longRange()
    if (leaf.physical === Physical.float || leaf.physical === Physical.double) return this.#floatRange()
    const compare = this.#compare()
    let min = 0
    let max = 0
    for (let i = 1; i < count; i++) {
      const value = data.subarray(i * width, (i + 1) * width)
      if (compare(value, data.subarray(min * width, (min + 1) * width)) < 0) min = i
      else if (compare(value, data.subarray(max * width, (max + 1) * width)) > 0) max = i
    }
    return this.#copied(min, max)
  }

  #longRange(): Range {
    const { ints, count } = this
    let min = 0
    let max = 0
    for (let i = 1; i < count; i++) {
      const high = ints[2 * i + 1]
      const low = ints[2 * i] >>> 0
      if (high < ints[2 * min + 1] || (high === ints[2 * min + 1] && low < ints[2 * min] >>> 0)) min = i
      else if (high > ints[2 * max + 1] || (high === ints[2 * max + 1] && low > ints[2 * max] >>> 0)) max = i
    }
    return this.#copied(min, max)
  }

  #floatRange(): Range | null {
    const { data, count, width } = this
    const values = width === 4 ? new Float32Array(data.buffer, 0, count) : new Float64Array(data.buffer, 0, count)
    let min = NaN
    let max = NaN
    for (let i = 0; i < count; i++) {
      const value = values[i]
      if (Number.isNaN(value)) this.nanCount++
      else {
        if (!(value >= min)) min = value
        if (!(value <= max)) max = value
      }
    }
    if (Number.isNaN(min)) return null
    const bytes = (value: number): Buffer => {
      const out = Buffer.alloc(width)
      if (width === 4) out.writeFloatLE(value)
      else out.writeDoubleLE(value)
      return out
    }
    return { min: bytes(min === 0 ? -0 : min), max: bytes(max === 0 ? 0 : max) }
  }

  #copied(min: number, max: number): Range {
    const { data, width } = this
    const one = (i: number): Buffer => Buffer.from(data.subarray(i * width, (i + 1) * width))
    return { min: one(min), max: one(max) }
  }

  #compare(): Compare {
    const { physical, logical } = this.leaf
    if (physical === Physical.int64) return compareLongs
    if (physical === Physical.float) return (a, b) => floatOf(a) - floatOf(b)
    if (physical === Physical.double) return (a, b) => doubleOf(a) - doubleOf(b)
    return physical === Physical.fixed && logical === 'decimal' ? compareSigned : Buffer.compare
  }
}

function widen(into: Range | null, other: Range, compare: Compare): Range {
  if (into === null) return { ...other }
  return {
    min: compare(other.min, into.min) < 0 ? other.min : into.min,
    max: compare(other.max, into.max) > 0 ? other.max : into.max,
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

function compareLongs(a: Uint8Array, b: Uint8Array): number {
  const left = viewOf(a).getBigInt64(0, true)
  const right = viewOf(b).getBigInt64(0, true)
  return left < right ? -1 : left > right ? 1 : 0
}

function floatOf(bytes: Uint8Array): number {
  return viewOf(bytes).getFloat32(0, true)
}

function doubleOf(bytes: Uint8Array): number {
  return viewOf(bytes).getFloat64(0, true)
}

/** Big-endian two's complement of one length. */
function compareSigned(a: Uint8Array, b: Uint8Array): number {
  return (a[0] ^ 128) - (b[0] ^ 128) || Buffer.compare(a, b)
}

/** A decimal as Iceberg's bounds have it: big-endian two's complement, as short as can be (spec, Appendix D). */
export function shortDecimal(value: Uint8Array, isLittleEndian: boolean): Uint8Array {
  const bytes = isLittleEndian ? value.toReversed() : value
  let from = 0
  while (from < bytes.length - 1 && ((bytes[from] === 0 && bytes[from + 1] < 128) || (bytes[from] === 255 && bytes[from + 1] >= 128)))
    from++
  return bytes.subarray(from)
}
