import type { LeafSource } from '../../schemas/columns/ports.ts'
import { decodeDelta } from './deltaDecode.ts'
import { Encoding } from './footer.ts'
import { LeafReader, byteStrings, smallInts } from './leafReaders.ts'
import { int32s, type ChunkPages, type DecodedPage } from './pageReader.ts'
import { Physical, type Leaf } from './schema.ts'
import { corrupt } from './thriftRead.ts'

/** A user's leaf column whose rows can be gone to. */
export interface Column extends LeafSource {
  readonly leaf: Leaf
  /** Moves `entry` to the first one of row i of the block. */
  seek(i: number): void
}

const NO_INTS = new Int32Array(0)
const NO_BYTES = new Uint8Array(0)
/** What zeros are read from: repetition levels of columns that are in no list. */
let zeros = new Uint8Array(32 * 1024)
/** Starts of values of one width, by width. */
const stepsByWidth = new Map<number, Int32Array>()

/** Reads a user's leaf column, page by page, whatever its type. Row i of the block begins at the entry that `seek(i)` sets. */
export class ColumnReader extends LeafReader implements Column {
  entry = 0
  count = 0
  definition: Uint8Array = NO_BYTES
  repetition: Uint8Array = NO_BYTES
  valueAt: Int32Array = NO_INTS
  ints: Int32Array = NO_INTS
  data: Uint8Array = NO_BYTES
  starts: Int32Array = NO_INTS
  readonly leaf: Leaf
  /** First entry of each row of the page; null when each row has one. */
  #firsts: Int32Array | null = null

  constructor(leaf: Leaf, pages: ChunkPages) {
    super(pages)
    this.leaf = leaf
  }

  /** Moves `entry` to the first one of row i of the block. */
  seek(i: number): void {
    this.entry = this.#firsts === null ? this.at + i : this.#firsts[this.at + i]
  }

  protected load(page: DecodedPage, dictionary: Int32Array | null): void {
    const { count, nulls, rows } = page
    const { maxDefinition, maxRepetition } = this.leaf
    this.entry = 0
    this.count = count
    this.definition = page.definition ?? new Uint8Array(count).fill(nulls === 0 ? maxDefinition : 0)
    const valueAt = new Int32Array(count)
    let values = 0
    for (let i = 0; i < count; i++) valueAt[i] = this.definition[i] === maxDefinition ? values++ : -1
    if (values !== count - nulls) throw corrupt('a page has another number of nulls than it says')
    this.valueAt = valueAt
    this.#firsts = null
    if (page.repetition === null) {
      if (zeros.length < count) zeros = new Uint8Array(count * 2)
      this.repetition = zeros
      if (rows !== count) throw corrupt('a page has another number of rows than it says')
    } else {
      const firsts = new Int32Array(rows)
      let row = 0
      for (let i = 0; i < count; i++) {
        if (page.repetition[i] > maxRepetition) throw corrupt('a repetition level is too high')
        if (page.repetition[i] === 0) {
          if (row === rows) throw corrupt('a page has more rows than it says')
          firsts[row++] = i
        }
      }
      if (row !== rows || firsts[0] !== 0) throw corrupt('a page has fewer rows than it says')
      this.repetition = page.repetition
      this.#firsts = firsts
    }
    if (values > 0) this.#values(page, values, dictionary)
  }

  #values(page: DecodedPage, count: number, dictionary: Int32Array | null): void {
    switch (this.leaf.physical) {
      case Physical.boolean:
        this.ints = booleans(page, count)
        return
      case Physical.int32:
        this.ints = smallInts(page, count, dictionary)
        return
      case Physical.int64:
        this.ints = longs(page, count)
        return
      case Physical.bytes: {
        const lengths = new Int32Array(count)
        let at = byteStrings(page, count, lengths)
        const starts = new Int32Array(count + 1)
        for (let i = 0; i < count; i++) {
          starts[i] = at
          at += lengths[i]
        }
        starts[count] = at
        this.starts = starts
        this.data = page.values
        return
      }
      default: {
        const { physical, typeLength } = this.leaf
        const width = physical === Physical.float ? 4 : physical === Physical.double ? 8 : (typeLength ?? 0)
        if (page.encoding !== Encoding.plain || page.values.length !== count * width) throw corrupt('a page of values has a wrong length')
        this.starts = steps(width, count + 1)
        this.data = page.values
      }
    }
  }
}

function steps(width: number, count: number): Int32Array {
  let known = stepsByWidth.get(width)
  if (known === undefined || known.length < count) {
    known = new Int32Array(Math.max(count, 20_001))
    for (let i = 0; i < known.length; i++) known[i] = i * width
    stepsByWidth.set(width, known)
  }
  return known
}

function booleans({ encoding, values }: DecodedPage, count: number): Int32Array {
  if (encoding !== Encoding.plain || values.length !== (count + 7) >> 3) throw corrupt('a page of booleans has a wrong length')
  const out = new Int32Array(count)
  for (let i = 0; i < count; i++) out[i] = (values[i >> 3] >> (i & 7)) & 1
  return out
}

/** int64 values as pairs of halves, low first. */
function longs({ encoding, values }: DecodedPage, count: number): Int32Array {
  if (encoding === Encoding.plain) return int32s(values, count * 2)
  if (encoding !== Encoding.deltaBinaryPacked) throw corrupt(`encoding ${encoding} of longs is not one of ours`)
  const doubles = new Float64Array(count)
  decodeDelta(values, { at: 0 }, values.length, doubles, count, 1)
  const out = new Int32Array(count * 2)
  for (let i = 0; i < count; i++) {
    const value = doubles[i]
    const high = Math.floor(value / 4294967296)
    out[2 * i] = value - high * 4294967296
    out[2 * i + 1] = high
  }
  return out
}
