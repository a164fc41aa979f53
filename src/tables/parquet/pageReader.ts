import zlib from 'node:zlib'
import { Codec, PageType, chunkStart, type ChunkMeta } from './footer.ts'
import { bitWidthOf, decodeRle } from './rle.ts'
import type { Leaf } from './schema.ts'
import { ThriftReader, corrupt } from './thriftRead.ts'

/** No page that we write comes near; bounds what a damaged header could claim. */
const PAGE_MAX_BYTES = 0x7fffffff
const PAGE_MAX_VALUES = 1 << 25
/** Memory taken for a page before any of it was decompressed, whatever its header says. */
const INFLATE_CHUNK_MAX_BYTES = 16 * 1024 * 1024

/** What finding the pages of a chunk needs of its metadata. */
export type ChunkPlace = Pick<ChunkMeta, 'codec' | 'dataOffset' | 'dictionaryOffset' | 'storedBytes'>

/** A data page, levels decoded; a level array is null when all its levels are the same. */
export interface DecodedPage {
  readonly count: number
  readonly rows: number
  readonly nulls: number
  readonly definition: Uint8Array | null
  readonly repetition: Uint8Array | null
  readonly encoding: number
  readonly values: Uint8Array
}

/**
 * The pages of one column chunk as our writer makes them: data pages v2, zstd or stored. `bytes` begins at `bytesStart`
 * of the file. Errors: CORRUPT.
 */
export class ChunkPages {
  readonly #leaf: Leaf
  readonly #bytes: Uint8Array
  readonly #codec: number
  readonly #end: number
  #at: number
  /** Memory of the last page, when it has its own. */
  #inflated: Uint8Array | null = null
  /** The int32 dictionary, once its page was met. */
  dictionary: Int32Array | null = null

  constructor(leaf: Leaf, chunk: ChunkPlace, bytes: Uint8Array, bytesStart: number) {
    this.#leaf = leaf
    this.#bytes = bytes
    this.#codec = chunk.codec
    this.#at = chunkStart(chunk) - bytesStart
    this.#end = this.#at + chunk.storedBytes
    if (this.#at < 0 || this.#end > bytes.length) throw corrupt(`column ${leaf.path.join('.')} lies outside its row group`)
  }

  /** The next data page, or null at the end of the chunk. The values of the one before are gone then. */
  next(): DecodedPage | null {
    this.close()
    while (this.#at < this.#end) {
      const header = readHeader(this.#bytes, this.#at, this.#end)
      const body = this.#bytes.subarray(header.bodyAt, header.bodyAt + header.storedBytes)
      this.#at = header.bodyAt + header.storedBytes
      if (header.type === PageType.dictionary) {
        const plain = this.#inflate(body, header.rawBytes)
        if (plain.length !== header.count * 4) throw corrupt('a dictionary page has a wrong length')
        this.dictionary = int32s(plain, header.count)
      } else if (header.type === PageType.dataV2) return this.#dataPage(header, body)
      else throw corrupt(`a page of type ${header.type} is not one of ours`)
    }
    return null
  }

  /** Gives back the memory of the last page, rather than leave it to the garbage collector: that runs for each few of them. */
  close(): void {
    if (this.#inflated !== null) freeBytes(this.#inflated)
    this.#inflated = null
  }

  #dataPage(header: PageHeader, body: Uint8Array): DecodedPage {
    const { count, rows, nulls, definitionBytes, repetitionBytes } = header
    const levelBytes = definitionBytes + repetitionBytes
    if (levelBytes > body.length || nulls > count || rows > count) throw corrupt('a page header does not fit its page')
    const { maxDefinition, maxRepetition } = this.#leaf
    if (maxDefinition === 0 && nulls > 0) throw corrupt(`column ${this.#leaf.path.join('.')} has nulls`)
    let repetition: Uint8Array | null = null
    if (maxRepetition > 0 && rows !== count) {
      repetition = new Uint8Array(count)
      decodeRle(body, 0, repetitionBytes, bitWidthOf(maxRepetition), repetition, count)
    }
    let definition: Uint8Array | null = null
    if (maxDefinition > 1 || (maxDefinition === 1 && nulls !== 0 && nulls !== count)) {
      definition = new Uint8Array(count)
      decodeRle(body, repetitionBytes, levelBytes, bitWidthOf(maxDefinition), definition, count)
    }
    const stored = body.subarray(levelBytes)
    const values = header.isCompressed ? this.#inflate(stored, header.rawBytes - levelBytes) : stored
    if (values !== stored) this.#inflated = values
    return { count, rows, nulls, definition, repetition, encoding: header.encoding, values }
  }

  #inflate(stored: Uint8Array, rawBytes: number): Uint8Array {
    if (this.#codec === Codec.uncompressed) return stored
    if (this.#codec !== Codec.zstd) throw corrupt(`codec ${this.#codec} is not one of ours`)
    try {
      const raw = zlib.zstdDecompressSync(stored, {
        maxOutputLength: Math.max(1, rawBytes),
        chunkSize: Math.max(64, Math.min(rawBytes, INFLATE_CHUNK_MAX_BYTES)),
      })
      if (raw.length === rawBytes) return raw
    } catch (error) {
      throw corrupt('a page of a table file does not decompress', error)
    }
    throw corrupt('a page of a table file has a wrong length')
  }
}

/** Less than this is not worth a call. */
const FREE_MIN_BYTES = 16 * 1024

/** Ends `bytes` and all other views of its memory, if it fills it. */
export function freeBytes(bytes: Uint8Array): void {
  const { buffer } = bytes
  if (buffer instanceof ArrayBuffer && bytes.length >= FREE_MIN_BYTES && bytes.length === buffer.byteLength) buffer.transfer(0)
}

interface PageHeader {
  type: number
  rawBytes: number
  storedBytes: number
  count: number
  nulls: number
  rows: number
  encoding: number
  definitionBytes: number
  repetitionBytes: number
  isCompressed: boolean
  bodyAt: number
}

function readHeader(bytes: Uint8Array, at: number, end: number): PageHeader {
  const header: PageHeader = {
    type: -1,
    rawBytes: -1,
    storedBytes: -1,
    count: 0,
    nulls: 0,
    rows: 0,
    encoding: -1,
    definitionBytes: 0,
    repetitionBytes: 0,
    isCompressed: true,
    bodyAt: 0,
  }
  const reader = new ThriftReader(bytes, at, end)
  reader.struct((field) => {
    if (field === 1) header.type = reader.int()
    else if (field === 2) header.rawBytes = reader.int()
    else if (field === 3) header.storedBytes = reader.int()
    else if (field === 7) {
      reader.struct((inner) => {
        if (inner !== 1) return false
        header.count = reader.int()
        return true
      })
    } else if (field === 8) {
      reader.struct((inner, type) => {
        if (inner === 1) header.count = reader.int()
        else if (inner === 2) header.nulls = reader.int()
        else if (inner === 3) header.rows = reader.int()
        else if (inner === 4) header.encoding = reader.int()
        else if (inner === 5) header.definitionBytes = reader.int()
        else if (inner === 6) header.repetitionBytes = reader.int()
        else if (inner === 7) header.isCompressed = type === 1
        else return false
        return true
      })
    } else return false
    return true
  })
  header.bodyAt = reader.at
  const { rawBytes, storedBytes, count, nulls, rows, definitionBytes, repetitionBytes } = header
  const numbers = [rawBytes, storedBytes, count, nulls, rows, definitionBytes, repetitionBytes]
  if (numbers.some((n) => n < 0 || n > PAGE_MAX_BYTES) || count > PAGE_MAX_VALUES || storedBytes > end - reader.at)
    throw corrupt('a page header claims what cannot be')
  return header
}

/** `count` little-endian int32 of PLAIN bytes, in memory of their own. */
export function int32s(plain: Uint8Array, count: number): Int32Array {
  if (plain.length < count * 4) throw corrupt('a page of integers ends too early')
  const values = new Int32Array(count)
  new Uint8Array(values.buffer).set(plain.subarray(0, count * 4))
  return values
}
