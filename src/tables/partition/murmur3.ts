/** MurmurHash3 x86 32-bit with seed 0 (Iceberg spec, Appendix B), as a signed 32-bit integer. */
export function murmur3(bytes: Uint8Array): number {
  let hash = 0
  const words = bytes.length >> 2
  for (let i = 0; i < words; i++) {
    const at = i * 4
    hash ^= mix(bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24))
    hash = Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64
  }
  let rest = 0
  for (let at = bytes.length - 1; at >= words * 4; at--) rest = (rest << 8) | bytes[at]!
  if (bytes.length % 4 !== 0) hash ^= mix(rest)
  hash ^= bytes.length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) | 0
}

function mix(word: number): number {
  const one = Math.imul(word, 0xcc9e2d51)
  return Math.imul((one << 15) | (one >>> 17), 0x1b873593)
}

const EIGHT = Buffer.alloc(8)

/** The hash of an integer of any width: of its eight little-endian bytes. */
export function murmur3Long(value: bigint): number {
  EIGHT.writeBigInt64LE(BigInt.asIntN(64, value))
  return murmur3(EIGHT)
}
