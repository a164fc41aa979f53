import { decodeDelta } from './deltaDecode.ts'
import { Encoding } from './footer.ts'
import { ChunkPages, int32s, type DecodedPage } from './pageReader.ts'
import { decodeRle } from './rle.ts'
import { corrupt } from './thriftRead.ts'

/**
 * Readers of one leaf each, page by page. After `load` the arrays are aligned with the page's rows: row i of the block
 * stands at index `at + i`. Nothing is allocated per row. Errors: CORRUPT.
 */
export abstract class LeafReader {
  /** Index of the block's first row in the arrays. */
  at = 0
  /** Rows in the arrays. */
  rows = 0
  readonly #pages: ChunkPages

  constructor(pages: ChunkPages) {
    this.#pages = pages
  }

  /** Moves on by `rows` rows and loads the next page when this one is used up; rows left, 0 at the end. */
  advance(rows: number): number {
    this.at += rows
    while (this.at >= this.rows) {
      const page = this.#pages.next()
      if (page === null) return 0
      this.at = 0
      this.rows = page.rows
      this.load(page, this.#pages.dictionary)
    }
    return this.rows - this.at
  }

  /** Gives back the memory of the last page. */
  close(): void {
    this.#pages.close()
  }

  protected abstract load(page: DecodedPage, dictionary: Int32Array | null): void
}

/** An int32 column without nulls. */
export class IntReader extends LeafReader {
  values: Int32Array = new Int32Array(0)

  protected load(page: DecodedPage, dictionary: Int32Array | null): void {
    this.values = smallInts(page, page.count, dictionary)
  }
}

/** An int64 column as doubles, divided by `scale`; a null is -1. */
export class LongReader extends LeafReader {
  values = new Float64Array(0)
  readonly #scale: number

  constructor(pages: ChunkPages, scale: number) {
    super(pages)
    this.#scale = scale
  }

  protected load(page: DecodedPage): void {
    const { count, nulls, definition, values, encoding } = page
    if (encoding !== Encoding.deltaBinaryPacked) throw corrupt(`encoding ${encoding} of longs is not one of ours`)
    const present = new Float64Array(count)
    if (nulls < count) decodeDelta(values, { at: 0 }, values.length, present, count - nulls, this.#scale)
    // A fraction would be cut by whoever makes an integer of it: the checksum, and then the batch, each in its own way.
    if (this.#scale > 1) for (const value of present) if (!Number.isInteger(value)) throw corrupt('a time is no whole millisecond')
    if (nulls === 0) this.values = present
    else if (nulls === count) this.values = present.fill(-1)
    else {
      const aligned = new Float64Array(count)
      for (let i = 0, next = 0; i < count; i++) aligned[i] = definition![i] === 0 ? -1 : present[next++]
      this.values = aligned
    }
  }
}

/** Byte strings: element i is [starts[i], starts[i] + lengths[i]) of `bytes`; a null has start and length -1. */
export interface ByteStrings {
  readonly bytes: Uint8Array
  readonly starts: Int32Array
  readonly lengths: Int32Array
}

const NONE = new Uint8Array(0)

/** A nullable column of byte strings. */
export class BytesReader extends LeafReader implements ByteStrings {
  bytes: Uint8Array = NONE
  starts = new Int32Array(0)
  lengths = new Int32Array(0)

  protected load(page: DecodedPage): void {
    const { count, nulls, definition } = page
    if (nulls === count) {
      // The arrays of a column that is null throughout are kept from page to page.
      if (this.starts.length < count || this.bytes !== NONE) this.starts = this.lengths = new Int32Array(count).fill(-1)
      this.bytes = NONE
      return
    }
    const lengths = new Int32Array(count)
    const from = byteStrings(page, count - nulls, lengths)
    this.bytes = page.values
    const starts = new Int32Array(count)
    let at = from
    if (nulls === 0) {
      for (let i = 0; i < count; i++) {
        starts[i] = at
        at += lengths[i]
      }
    } else {
      // Backwards, so that lengths spread over the rows in place.
      let next = count - nulls - 1
      at = page.values.length
      for (let i = count - 1; i >= 0; i--) {
        if (definition![i] === 0) starts[i] = lengths[i] = -1
        else {
          const length = lengths[next--]
          lengths[i] = length
          starts[i] = at -= length
        }
      }
    }
    this.starts = starts
    this.lengths = lengths
  }
}

/** One leaf of kafka_headers: per row a count of elements (-1 for a null list) and the index of the first one. */
export class HeaderReader extends LeafReader implements ByteStrings {
  bytes: Uint8Array = NONE
  starts = new Int32Array(0)
  lengths = new Int32Array(0)
  counts = new Int32Array(0)
  firsts = new Int32Array(0)
  readonly #maxDefinition: number

  constructor(pages: ChunkPages, maxDefinition: number) {
    super(pages)
    this.#maxDefinition = maxDefinition
  }

  protected load(page: DecodedPage): void {
    const { count, rows, nulls, definition, repetition } = page
    const counts = new Int32Array(rows)
    const firsts = new Int32Array(rows)
    const elements = new Int32Array(count)
    const starts = new Int32Array(count)
    let at = nulls < count ? byteStrings(page, count - nulls, elements) : 0
    const lengths = new Int32Array(count)
    let row = -1
    let element = 0
    let present = 0
    for (let i = 0; i < count; i++) {
      if (repetition === null || repetition[i] === 0) {
        if (++row >= rows) throw corrupt('a page has more rows than it says')
        firsts[row] = element
      }
      const level = definition![i]
      if (level === 0) counts[row] = -1
      else if (level >= 2) {
        counts[row]++
        if (level === this.#maxDefinition) {
          starts[element] = at
          at += lengths[element] = elements[present++]
        } else starts[element] = lengths[element] = -1
        element++
      }
    }
    if (row !== rows - 1) throw corrupt('a page has fewer rows than it says')
    this.bytes = page.values
    this.counts = counts
    this.firsts = firsts
    this.starts = starts
    this.lengths = lengths
  }
}

/** Decodes `count` lengths of a DELTA_LENGTH_BYTE_ARRAY page; where its bytes begin. */
export function byteStrings(page: DecodedPage, count: number, lengths: Int32Array): number {
  if (page.encoding !== Encoding.deltaLengthByteArray) throw corrupt(`encoding ${page.encoding} of byte strings is not one of ours`)
  const state = { at: 0 }
  decodeDelta(page.values, state, page.values.length, lengths, count, 1)
  let sum = 0
  for (let i = 0; i < count; i++) {
    if (lengths[i] < 0) throw corrupt('a byte string has a negative length')
    sum += lengths[i]
  }
  if (state.at + sum !== page.values.length) throw corrupt('byte strings do not fill their page')
  return state.at
}

/** int32 values of a page in any encoding of ours. Errors: CORRUPT. */
export function smallInts({ encoding, values }: DecodedPage, count: number, dictionary: Int32Array | null): Int32Array {
  if (encoding === Encoding.plain) return int32s(values, count)
  const out = new Int32Array(count)
  if (encoding === Encoding.deltaBinaryPacked) decodeDelta(values, { at: 0 }, values.length, out, count, 1)
  else if (encoding === Encoding.rleDictionary || encoding === Encoding.plainDictionary) {
    if (dictionary === null || values.length === 0 || values[0] > 24) throw corrupt('a page has no dictionary')
    decodeRle(values, 1, values.length, values[0], out, count)
    for (let i = 0; i < count; i++) {
      const code = out[i]
      if (code >= dictionary.length) throw corrupt('a dictionary index is out of range')
      out[i] = dictionary[code]
    }
  } else throw corrupt(`encoding ${encoding} of integers is not one of ours`)
  return out
}
