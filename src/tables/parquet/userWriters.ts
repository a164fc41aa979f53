import type { LeafSink } from '../../schemas/columns/ports.ts'
import { BytesWriter } from './bytesWriter.ts'
import { deltaRoom, encodeDelta } from './deltaEncode.ts'
import { Encoding } from './footer.ts'
import type { ColumnBounds, LeafWriter } from './leafWriter.ts'
import { DictionaryIntWriter } from './numberWriters.ts'
import type { PageContext } from './page.ts'
import { FixedWriter, shortDecimal } from './fixedWriter.ts'
import { Physical, type Leaf } from './schema.ts'

/** A leaf of a user's column: what decoders of values write into. */
export type UserLeaf = LeafWriter & LeafSink

function wrongKind(): never {
  throw new TypeError('a value of another kind than its column')
}

/** int, date, decimal of up to 9 digits. */
class UserInt extends DictionaryIntWriter implements LeafSink {
  override fileBounds(): ColumnBounds | null {
    const bounds = super.fileBounds()
    if (bounds === null || this.leaf.logical !== 'decimal') return bounds
    return { lower: shortDecimal(bounds.lower, true), upper: shortDecimal(bounds.upper!, true) }
  }
  int(value: number, repetition: number): void {
    this.put(value, repetition)
  }
  long(): never {
    return wrongKind()
  }
  bytes(): never {
    return wrongKind()
  }
}

/** string and binary. */
class UserBytes extends BytesWriter implements LeafSink {
  bytes(buf: Uint8Array, start: number, end: number, repetition: number): void {
    this.put(buf, start, end, repetition)
  }
  int(): never {
    return wrongKind()
  }
  long(): never {
    return wrongKind()
  }
}

/** float, double, uuid, fixed, long decimals: PLAIN. */
class UserFixed extends FixedWriter implements LeafSink {
  bytes(buf: Uint8Array, start: number, _end: number, repetition: number): void {
    this.levels.begin(this.leaf.maxDefinition, repetition)
    let at = this.take()
    // After `take`, which may have moved the values to more memory.
    const { data } = this
    const end = at + this.width
    let from = start
    while (at < end) data[at++] = buf[from++]
  }
  int(): never {
    return wrongKind()
  }
  long(): never {
    return wrongKind()
  }
}

class UserBoolean extends FixedWriter implements LeafSink {
  int(value: number, repetition: number): void {
    this.levels.begin(this.leaf.maxDefinition, repetition)
    const at = this.take()
    this.data[at] = value
  }
  long(): never {
    return wrongKind()
  }
  bytes(): never {
    return wrongKind()
  }
  protected override encodePage(): { values: Buffer; encoding: number } {
    const packed = Buffer.alloc((this.count + 7) >> 3)
    for (let i = 0; i < this.count; i++) packed[i >> 3] |= this.data[i] << (i & 7)
    return { values: packed, encoding: Encoding.plain }
  }
}

/** Values below 2^50, so that differences of them are exact as doubles too. */
const SAFE_HIGH = 2 ** 18

/** long, time, timestamps, decimal of up to 18 digits: DELTA_BINARY_PACKED while doubles hold the values, else PLAIN. */
class UserLong extends FixedWriter implements LeafSink {
  #doubles = new Float64Array(0)

  long(high: number, low: number, repetition: number): void {
    this.levels.begin(this.leaf.maxDefinition, repetition)
    const at = this.take() >> 2
    this.ints[at] = low
    this.ints[at + 1] = high
  }
  int(): never {
    return wrongKind()
  }
  bytes(): never {
    return wrongKind()
  }
  protected override encodePage(): { values: Buffer; encoding: number } {
    const { count, ints } = this
    if (this.#doubles.length < count) this.#doubles = new Float64Array(Math.max(1024, ints.length / 2))
    const doubles = this.#doubles
    for (let i = 0; i < count; i++) {
      const high = ints[2 * i + 1]
      if (high >= SAFE_HIGH || high < -SAFE_HIGH) return super.encodePage()
      doubles[i] = high * 4294967296 + (ints[2 * i] >>> 0)
    }
    const out = this.context.scratch(deltaRoom(count))
    return { values: out.subarray(0, encodeDelta(doubles, count, 1, out, 0)), encoding: Encoding.deltaBinaryPacked }
  }
}

/** The writer of a user's leaf. */
export function userWriter(leaf: Leaf, context: PageContext): UserLeaf {
  switch (leaf.physical) {
    case Physical.boolean:
      return new UserBoolean(leaf, context, 1)
    case Physical.int32:
      return new UserInt(leaf, context)
    case Physical.int64:
      return new UserLong(leaf, context, 8)
    case Physical.float:
      return new UserFixed(leaf, context, 4)
    case Physical.double:
      return new UserFixed(leaf, context, 8)
    case Physical.fixed:
      return new UserFixed(leaf, context, leaf.typeLength ?? 0)
    default:
      return new UserBytes(leaf, context)
  }
}
