import { crc32c } from '@node-rs/crc32'

/** Size of a segment's head, and the unit that a disk writes whole or not at all. */
export const SECTOR_BYTES = 512
export const HEADER_BYTES = 64
const ALIGN_BYTES = 64 // so that a header never lies across two sectors
const SEGMENT_MAGIC = Buffer.from('FRAZLOG1', 'latin1')
const RECORD_MAGIC = 0x465a4531 // "FZE1"
const ZEROS = Buffer.alloc(SECTOR_BYTES)

/** Header of one record (docs/FORMATS.md, "Folder log"). */
export interface RecordHeader {
  readonly number: number
  readonly entryBytes: number
  readonly attachmentBytes: number
  readonly entryCrc: number
  readonly attachmentCrc: number
  /** How many of the record's sectors hold nothing but zeros when it is whole. */
  readonly zeroSectors: number
}

/** Where the record after one that ends at `position` begins. */
export function align(position: number): number {
  return Math.ceil(position / ALIGN_BYTES) * ALIGN_BYTES
}

/** The first sector of a segment. `id` (16 bytes) is random: headers are checked with it, so that none can be forged by data. */
export function encodeSegmentHead(id: Uint8Array): Buffer {
  const head = Buffer.alloc(SECTOR_BYTES)
  SEGMENT_MAGIC.copy(head)
  head.set(id, 16)
  head.writeUInt32BE(crc32c(head.subarray(16)), 8)
  return head
}

/** The seed for this segment's record headers, or null when the head is damaged. */
export function decodeSegmentHead(head: Buffer): number | null {
  if (head.length < SECTOR_BYTES || !head.subarray(0, 8).equals(SEGMENT_MAGIC)) return null
  if (crc32c(head.subarray(16, SECTOR_BYTES)) !== head.readUInt32BE(8)) return null
  return crc32c(head.subarray(16, 32))
}

/** True for the head of a whole file in a format that this code does not know. */
export function isOtherVersion(head: Buffer): boolean {
  const known = SEGMENT_MAGIC.length - 1
  return head.subarray(0, known).equals(SEGMENT_MAGIC.subarray(0, known)) && head[known] > SEGMENT_MAGIC[known] && head[known] <= 0x39
}

/** `position` is where the record begins in its segment. */
export function encodeHeader(header: RecordHeader, position: number, seed: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES)
  bytes.writeUInt32BE(RECORD_MAGIC, 0)
  bytes.writeBigUInt64BE(BigInt(header.number), 8)
  bytes.writeUInt32BE(header.entryBytes, 16)
  bytes.writeUInt32BE(header.attachmentBytes, 20)
  bytes.writeUInt32BE(header.entryCrc, 24)
  bytes.writeUInt32BE(header.attachmentCrc, 28)
  bytes.writeUInt32BE(header.zeroSectors, 32)
  bytes.writeUInt32BE(position, 36)
  bytes.writeUInt32BE(crc32c(bytes.subarray(8), seed), 4)
  return bytes
}

/** The header at `at` of `bytes`, which lies at `position` of its segment, or null when it is none. */
export function decodeHeader(bytes: Buffer, at: number, position: number, seed: number): RecordHeader | null {
  if (bytes.readUInt32BE(at) !== RECORD_MAGIC || bytes.readUInt32BE(at + 36) !== position) return null
  if (crc32c(bytes.subarray(at + 8, at + HEADER_BYTES), seed) !== bytes.readUInt32BE(at + 4)) return null
  return {
    number: Number(bytes.readBigUInt64BE(at + 8)),
    entryBytes: bytes.readUInt32BE(at + 16),
    attachmentBytes: bytes.readUInt32BE(at + 20),
    entryCrc: bytes.readUInt32BE(at + 24),
    attachmentCrc: bytes.readUInt32BE(at + 28),
    zeroSectors: bytes.readUInt32BE(at + 32),
  }
}

/** CRC-32C over several buffers. */
export function crcOf(buffers: readonly Uint8Array[]): number {
  let crc = 0
  for (const buffer of buffers) crc = crc32c(buffer, crc)
  return crc
}

export function isZero(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += SECTOR_BYTES) {
    const stop = Math.min(end, at + SECTOR_BYTES)
    if (bytes[at] !== 0 || ZEROS.compare(bytes, at, stop, 0, stop - at) !== 0) return false
  }
  return true
}

/**
 * Counts sectors without any bit set, of a record whose payload begins at `position` of its segment and is these buffers.
 * The sector that holds the header is left out: it is never zero.
 */
export function countZeroSectors(buffers: readonly Uint8Array[], position: number): number {
  let count = 0
  let zero = position % SECTOR_BYTES === 0 // all bytes of the current sector so far
  let left = SECTOR_BYTES - (position % SECTOR_BYTES) // of the current sector
  for (const buffer of buffers) {
    let at = 0
    while (at < buffer.length) {
      const stop = Math.min(buffer.length, at + left)
      // One look tells for nearly all sectors; only one that begins with a zero is compared whole.
      if (zero && (buffer[at] !== 0 || ZEROS.compare(buffer, at, stop, 0, stop - at) !== 0)) zero = false
      left -= stop - at
      at = stop
      if (left === 0) {
        if (zero) count++
        zero = true
        left = SECTOR_BYTES
      }
    }
  }
  return zero && left < SECTOR_BYTES ? count + 1 : count
}
