import type { IcebergType } from '../../schemas/columns/types.ts'

/** A bound as a value: decimals are their unscaled digits, dates days, times and timestamps microseconds since 1970. */
export type BoundValue = number | bigint | string | boolean | Buffer

/** An Iceberg decimal type's precision and scale, or null. */
export function decimalOf(type: IcebergType): { readonly precision: number; readonly scale: number } | null {
  const match = typeof type === 'string' ? /^decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)$/.exec(type) : null
  return match === null ? null : { precision: Number(match[1]), scale: Number(match[2]) }
}

/** Big-endian two's complement of any length (Iceberg spec, Appendix D: decimal). */
function signed(bytes: Buffer): bigint {
  return bytes.length === 0 ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`))
}

/**
 * Reads a bound (Iceberg spec, Appendix D). A value that was written before its column was promoted is shorter: its length
 * says so. Null for a type without bounds, or bytes that are none of its.
 */
export function readBound(type: IcebergType, raw: Uint8Array): BoundValue | null {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  if (decimalOf(type) !== null) return signed(bytes)
  switch (type) {
    case 'boolean':
      return bytes.length === 1 ? bytes[0] !== 0 : null
    case 'int':
    case 'date':
      return bytes.length === 4 ? bytes.readInt32LE() : null
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return bytes.length === 8 ? bytes.readBigInt64LE() : bytes.length === 4 ? BigInt(bytes.readInt32LE()) : null
    case 'float':
      return bytes.length === 4 ? bytes.readFloatLE() : null
    case 'double':
      return bytes.length === 8 ? bytes.readDoubleLE() : bytes.length === 4 ? bytes.readFloatLE() : null
    case 'string':
      return bytes.toString('utf8')
    case 'binary':
      return bytes
    default:
      return null
  }
}
