/**
 * Bounds of byte strings. Only the first PREFIX_BYTES of a minimum or maximum are kept; what is published is cut and,
 * for an upper bound, raised so that it stays one: never cut inside a code point, never raised into a surrogate.
 */
export const PREFIX_BYTES = 64
/** Iceberg's default metrics mode is truncate(16): code points of a string, bytes of a binary. */
const ICEBERG_LENGTH = 16

export interface BytesRange {
  /** The smallest value, or its first PREFIX_BYTES when `minCut`. */
  min: Buffer
  minCut: boolean
  max: Buffer
  maxCut: boolean
}

/** Unsigned byte order, which for UTF-8 is code point order. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b)
}

/** Widens `into` by another range. */
export function widen(into: BytesRange | null, other: BytesRange): BytesRange {
  if (into === null) return { ...other }
  const min = compareBytes(other.min, into.min)
  if (min < 0) {
    into.min = other.min
    into.minCut = other.minCut
  } else if (min === 0) into.minCut &&= other.minCut
  const max = compareBytes(other.max, into.max)
  if (max > 0) {
    into.max = other.max
    into.maxCut = other.maxCut
  } else if (max === 0) into.maxCut ||= other.maxCut
  return into
}

/** A lower and an upper bound for Parquet statistics; `max` undefined when no upper bound of this length exists. */
export function parquetBounds(
  range: BytesRange,
  text: boolean,
): { min: Buffer; minExact: boolean; max: Buffer | undefined; maxExact: boolean } {
  const min = range.minCut && text ? range.min.subarray(0, wholePoints(range.min, range.min.length)) : range.min
  const max = range.maxCut ? raise(range.max, text) : range.max
  return { min, minExact: !range.minCut, max, maxExact: !range.maxCut }
}

/** Iceberg's lower_bounds and upper_bounds of truncate(16); `upper` undefined when none exists. */
export function icebergBounds(range: BytesRange, text: boolean): { lower: Buffer; upper: Buffer | undefined } {
  const lower = range.min.subarray(0, cutAt(range.min, text))
  const end = cutAt(range.max, text)
  const whole = end === range.max.length && !range.maxCut
  return { lower, upper: whole ? range.max : raise(range.max.subarray(0, end), text) }
}

function cutAt(bytes: Buffer, text: boolean): number {
  if (!text) return Math.min(bytes.length, ICEBERG_LENGTH)
  let points = 0
  let at = 0
  const end = wholePoints(bytes, bytes.length)
  while (at < end && points < ICEBERG_LENGTH) {
    at += pointBytes(bytes[at])
    points++
  }
  return at
}

/** The smallest simple bound above every value that begins with `bytes`: its last unit is raised by one, or dropped. */
function raise(bytes: Buffer, text: boolean): Buffer | undefined {
  if (!text) {
    let end = bytes.length
    while (end > 0 && bytes[end - 1] === 0xff) end--
    if (end === 0) return undefined
    const raised = Buffer.from(bytes.subarray(0, end))
    raised[end - 1]++
    return raised
  }
  let end = wholePoints(bytes, bytes.length)
  while (end > 0) {
    let start = end - 1
    while (start > 0 && (bytes[start] & 0xc0) === 0x80) start--
    const point = bytes.toString('utf8', start, end).codePointAt(0)!
    if (point < 0x10ffff) {
      const next = point + 1 === 0xd800 ? 0xe000 : point + 1
      return Buffer.concat([bytes.subarray(0, start), Buffer.from(String.fromCodePoint(next))])
    }
    end = start
  }
  return undefined
}

/** The end of the last whole code point of valid UTF-8 that was cut at `end`. */
function wholePoints(bytes: Buffer, end: number): number {
  let start = end - 1
  while (start >= 0 && end - start < 4 && (bytes[start] & 0xc0) === 0x80) start--
  return start < 0 ? end : start + pointBytes(bytes[start]) > end ? start : end
}

function pointBytes(lead: number): number {
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
}

/** An int32 as Parquet statistics and Iceberg bounds have it. */
export function int32Bytes(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeInt32LE(value)
  return bytes
}

/** An int64 the same way: `value` times `scale`, exact to the ends of int64. */
export function int64Bytes(value: number, scale: number): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigInt64LE(BigInt.asIntN(64, BigInt(value) * BigInt(scale)))
  return bytes
}
