/** A value of a BinaryRow: INT, DATE as int; BIGINT, compact DECIMAL as long; STRING; TIMESTAMP(6) as microseconds. */
export type Cell =
  | null
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'int'; readonly value: number }
  | { readonly kind: 'long'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'double'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'micros'; readonly value: bigint }

/** Byte strings up to this length lie in their slot. */
const INLINE_BYTES = 7

/**
 * A row as Paimon serializes it (SerializationUtils, BinaryRow): arity as int32 BE, the bits of null fields behind the byte
 * of the row kind, one 8-byte little-endian slot a field, then what did not fit, each piece at a multiple of 8.
 */
export function binaryRow(cells: readonly Cell[]): Buffer {
  const nullBytes = Math.floor((cells.length + 63 + 8) / 64) * 8
  const fixed = Buffer.alloc(nullBytes + cells.length * 8)
  const parts: Buffer[] = []
  let end = fixed.length
  const append = (bytes: Buffer): number => {
    const at = end
    const padded = Buffer.alloc(Math.ceil(bytes.length / 8) * 8)
    bytes.copy(padded)
    parts.push(padded)
    end += padded.length
    return at
  }
  cells.forEach((cell, i) => {
    const slot = nullBytes + i * 8
    if (cell === null) {
      fixed[(i + 8) >> 3]! |= 1 << ((i + 8) & 7)
      return
    }
    switch (cell.kind) {
      case 'boolean':
        fixed[slot] = cell.value ? 1 : 0
        break
      case 'int':
        fixed.writeInt32LE(cell.value, slot)
        break
      case 'long':
        fixed.writeBigInt64LE(cell.value, slot)
        break
      case 'float':
        fixed.writeFloatLE(cell.value, slot)
        break
      case 'double':
        fixed.writeDoubleLE(cell.value, slot)
        break
      case 'string': {
        const bytes = Buffer.from(cell.value)
        if (bytes.length <= INLINE_BYTES) {
          bytes.copy(fixed, slot)
          fixed[slot + 7] = 0x80 | bytes.length
        } else fixed.writeBigUInt64LE((BigInt(append(bytes)) << 32n) | BigInt(bytes.length), slot)
        break
      }
      case 'micros': {
        const rest = ((cell.value % 1000n) + 1000n) % 1000n
        const millis = Buffer.alloc(8)
        millis.writeBigInt64LE((cell.value - rest) / 1000n)
        fixed.writeBigUInt64LE((BigInt(append(millis)) << 32n) | (rest * 1000n), slot)
      }
    }
  })
  const arity = Buffer.alloc(4)
  arity.writeInt32BE(cells.length)
  return Buffer.concat([arity, fixed, ...parts])
}

/** The row without fields: partitions of a table that has none, keys of one without a key. */
export const EMPTY_ROW = binaryRow([])
