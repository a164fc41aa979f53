/** Largest double below 2^63: int64 values saturate there. */
const INT64_MAX = 9223372036854774784

/** Bytes of a varint; `value` is a non-negative whole number, exact beyond 2^32 as doubles are. */
export function varintSize(value: number): number {
  if (value < 0x80) return 1
  if (value < 0x4000) return 2
  if (value < 0x200000) return 3
  let sizeBytes = 3
  for (value = Math.floor(value / 0x200000); value >= 1; value = Math.floor(value / 128)) sizeBytes++
  return sizeBytes
}

/** Writes a varint and returns the position behind it. */
export function writeVarint(buffer: Uint8Array, at: number, value: number): number {
  while (value >= 0x80000000) {
    buffer[at++] = (value % 128) | 128
    value = Math.floor(value / 128)
  }
  while (value >= 128) {
    buffer[at++] = (value & 127) | 128
    value >>>= 7
  }
  buffer[at++] = value
  return at
}

/** Bytes of a signed value in Protobuf's zigzag form; see writeSigned. */
export function signedSize(value: number): number {
  if (value >= 0) return varintSize(Math.min(value, INT64_MAX) * 2)
  const rest = Math.min(-value, INT64_MAX) - 1
  return rest < 64 ? 1 : 1 + varintSize(Math.floor(rest / 64))
}

/**
 * Writes a signed value in zigzag form: 2v, or 2(-v - 1) + 1 below zero. The lowest bit is the sign and is written apart:
 * beyond 2^52 a double cannot hold it together with the rest.
 */
export function writeSigned(buffer: Uint8Array, at: number, value: number): number {
  if (value >= 0) return writeVarint(buffer, at, Math.min(value, INT64_MAX) * 2)
  const rest = Math.min(-value, INT64_MAX) - 1
  const low = ((rest % 64) << 1) | 1
  if (rest < 64) {
    buffer[at++] = low
    return at
  }
  buffer[at++] = low | 128
  return writeVarint(buffer, at, Math.floor(rest / 64))
}

/** Reads Protobuf fields one after the other. Errors: RangeError beyond the end, or for a varint of more than ten bytes. */
export class ProtoReader {
  readonly bytes: Uint8Array
  at: number
  end: number

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.at = 0
    this.end = bytes.length
  }

  varint(): number {
    const { bytes } = this
    let byte = bytes[this.at++]
    if (byte < 128) return byte
    let value = byte & 127
    let shift = 7
    for (; shift < 28; shift += 7) {
      byte = bytes[this.at++]
      value |= (byte & 127) << shift
      if (byte < 128) return value
    }
    for (let scale = 2 ** 28; shift < 70; shift += 7, scale *= 128) {
      byte = bytes[this.at++]
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
    throw new RangeError('a varint does not end')
  }

  signed(): number {
    const first = this.bytes[this.at++]
    const rest = first < 128 ? first >>> 1 : ((first & 127) >>> 1) + this.varint() * 64
    return (first & 1) === 1 ? -rest - 1 : rest
  }

  /** The end of a length-delimited field that begins here. */
  delimited(): number {
    const end = this.varint() + this.at
    if (!(end <= this.end)) throw new RangeError('a field reaches beyond its message')
    return end
  }

  /** Bytes of a length-delimited field, not copied. */
  slice(): Uint8Array {
    const end = this.delimited()
    const bytes = this.bytes.subarray(this.at, end)
    this.at = end
    return bytes
  }
}
