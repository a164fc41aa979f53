/** The wire forms of Confluent's serializers: which schema a key or value was written with. */

/** Magic byte and schema id. */
export const PREFIX_BYTES = 5
/** The record headers of the newer form: magic byte 1 and a GUID; Protobuf's message indexes follow it. */
export const HEADER_NAMES = { key: '__key_schema_id', value: '__value_schema_id' } as const
const GUID_BYTES = 17
/** More message indexes than this nobody nests. */
const INDEXES_MAX = 64

/** The schema id of a value that begins with magic byte 0; -1 when it does not. */
export function schemaIdOf(buf: Uint8Array, start: number, end: number): number {
  if (end - start < PREFIX_BYTES || buf[start] !== 0) return -1
  const id = (buf[start + 1] << 24) | (buf[start + 2] << 16) | (buf[start + 3] << 8) | buf[start + 4]
  return id >= 0 ? id : -1
}

/** The GUID, as canonical text, of a header of the newer form; null when it is none. */
export function guidOf(header: Uint8Array): string | null {
  if (header.length < GUID_BYTES || header[0] !== 1) return null
  const hex = Buffer.from(header.subarray(1, GUID_BYTES)).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export function headerIndexes(header: Uint8Array): { indexes: readonly number[]; end: number } | null {
  return readIndexes(header, GUID_BYTES, header.length)
}

/**
 * Protobuf's message indexes at `at`: a count and as many numbers, zigzag varints; the one byte 0 stands for [0].
 * null when they are none.
 */
export function readIndexes(buf: Uint8Array, at: number, end: number): { indexes: readonly number[]; end: number } | null {
  let next = at
  const varint = (): number => {
    let raw = 0
    for (let shift = 0; shift < 35; shift += 7) {
      if (next >= end) return -1
      const byte = buf[next++]
      raw |= (byte & 127) << shift
      if (byte < 128) return (raw >>> 1) ^ -(raw & 1)
    }
    return -1
  }
  const count = varint()
  if (count < 0 || count > INDEXES_MAX) return null
  if (count === 0) return { indexes: [0], end: next }
  const indexes: number[] = []
  for (let i = 0; i < count; i++) {
    const index = varint()
    if (index < 0) return null
    indexes.push(index)
  }
  return { indexes, end: next }
}
