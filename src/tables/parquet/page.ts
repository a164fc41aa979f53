import zlib from 'node:zlib'
import { Encoding, PageType } from './footer.ts'
import { bitWidthOf, encodeRle, rleRoom } from './rle.ts'
import { ThriftWriter } from './thriftWrite.ts'

/** A page that is compressed keeps its compression only when it is at least this much smaller. */
const WORTH = 15 / 16
/** Below this a zstd frame costs more than it saves. */
const COMPRESS_FROM_BYTES = 128

/** Limits that all leaves of a file share. */
export interface PageLimits {
  /** A page is closed before the row that follows this many bytes of values. */
  readonly pageBytes: number
  readonly pageRows: number
  readonly zstdLevel: number
}

/** What the leaves of one file writer share: limits and scratch memory. */
export class PageContext {
  readonly limits: PageLimits
  readonly thrift = new ThriftWriter()
  #scratch = Buffer.allocUnsafeSlow(64 * 1024)
  readonly #zstd: zlib.ZstdOptions

  constructor(limits: PageLimits) {
    this.limits = limits
    this.#zstd = { params: { [zlib.constants.ZSTD_c_compressionLevel]: limits.zstdLevel } }
  }

  /** Scratch memory of at least this size, valid until the next call. */
  scratch(bytes: number): Buffer {
    if (this.#scratch.length < bytes) this.#scratch = Buffer.allocUnsafeSlow(Math.max(bytes, this.#scratch.length * 2))
    return this.#scratch
  }

  compress(bytes: Uint8Array): Buffer {
    return zlib.zstdCompressSync(bytes, this.#zstd)
  }
}

/** A page as it will stand in the file. */
export interface StoredPage {
  readonly head: Buffer
  readonly body: Buffer
  readonly rawBytes: number
  readonly firstRow: number
}

/** Levels of a page; `definition` null when the column cannot be null, `repetition` null when it is not nested. */
export interface PageLevels {
  readonly count: number
  readonly rows: number
  readonly nulls: number
  readonly definition: Uint8Array | null
  readonly maxDefinition: number
  readonly repetition: Uint8Array | null
  readonly maxRepetition: number
}

/**
 * A data page v2: levels are never compressed, and values only where it pays (`is_compressed`), so that incompressible
 * values cost neither writer nor reader anything.
 */
export function dataPage(context: PageContext, levels: PageLevels, values: Buffer, encoding: number, firstRow: number): StoredPage {
  const { count, definition, repetition, maxDefinition, maxRepetition } = levels
  const bits = bitWidthOf(maxDefinition)
  const repetitionBits = bitWidthOf(maxRepetition)
  const levelBytes = Buffer.allocUnsafe(
    (definition === null ? 0 : rleRoom(count, bits)) + (repetition === null ? 0 : rleRoom(count, repetitionBits)),
  )
  const repetitionEnd = repetition === null ? 0 : encodeRle(repetition, count, repetitionBits, levelBytes, 0)
  const levelsEnd = definition === null ? repetitionEnd : encodeRle(definition, count, bits, levelBytes, repetitionEnd)

  let body: Buffer | null = null
  if (values.length >= COMPRESS_FROM_BYTES) {
    const compressed = context.compress(values)
    if (compressed.length < values.length * WORTH) body = compressed
  }
  const isCompressed = body !== null
  body ??= Buffer.from(values)

  const thrift = context.thrift
  thrift.begin()
  thrift.i32(1, PageType.dataV2)
  thrift.i32(2, levelsEnd + values.length)
  thrift.i32(3, levelsEnd + body.length)
  thrift.struct(8)
  thrift.i32(1, count)
  thrift.i32(2, levels.nulls)
  thrift.i32(3, levels.rows)
  thrift.i32(4, encoding)
  thrift.i32(5, levelsEnd - repetitionEnd)
  thrift.i32(6, repetitionEnd)
  thrift.bool(7, isCompressed)
  thrift.end()
  thrift.end()
  const header = thrift.take()
  const head = levelsEnd === 0 ? header : Buffer.concat([header, levelBytes.subarray(0, levelsEnd)])
  return { head, body, rawBytes: head.length + values.length, firstRow }
}

/** A dictionary page of int32 values; it has no `is_compressed`, so it always is. */
export function dictionaryPage(context: PageContext, values: readonly number[]): StoredPage {
  const plain = Buffer.from(Int32Array.from(values).buffer)
  const body = context.compress(plain)
  const thrift = context.thrift
  thrift.begin()
  thrift.i32(1, PageType.dictionary)
  thrift.i32(2, plain.length)
  thrift.i32(3, body.length)
  thrift.struct(7)
  thrift.i32(1, values.length)
  thrift.i32(2, Encoding.plain)
  thrift.end()
  thrift.end()
  const head = thrift.take()
  return { head, body, rawBytes: head.length + plain.length, firstRow: 0 }
}
