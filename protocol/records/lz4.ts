import lz4 from 'lz4-napi'
import { Errors } from '../errors.ts'
import { RecordsError } from './errors.ts'

const MAGIC = 0x184d2204
const END_MARK_BYTES = 4
/** Block sizes of the frame descriptor's codes 4 to 7. */
const BLOCK_MAX_BYTES = [0, 0, 0, 0, 65536, 262144, 1048576, 4194304]
/** One byte of a match length stands for at most 255 bytes of output (LZ4 block format). */
const LZ4_MAX_RATIO = 255

const corrupt = (message: string): RecordsError => new RecordsError(Errors.UNKNOWN_SERVER_ERROR, `LZ4 frame: ${message}`)
const uint32le = (buf: Uint8Array, at: number): number => (buf[at] | (buf[at + 1] << 8) | (buf[at + 2] << 16) | (buf[at + 3] << 24)) >>> 0

/**
 * Decodes one LZ4 frame of at most `maxBytes` of content; the size is known before the decoder takes memory, because
 * the decoder itself has no limit. As Kafka's reader (K: Lz4BlockInputStream): version 1, independent blocks, what
 * follows the end mark is ignored.
 */
export function decompressLz4(payload: Uint8Array, maxBytes: number): Buffer {
  const frame = payload.subarray(0, measure(payload, maxBytes))
  try {
    return lz4.decompressFrameSync(Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength))
  } catch (error) {
    throw new RecordsError(Errors.UNKNOWN_SERVER_ERROR, 'LZ4 frame: the blocks do not decode', error)
  }
}

/** Blocks depend on nothing before them, as Kafka's reader demands. */
export function compressLz4(payload: Uint8Array): Buffer {
  return lz4.compressFrameSync(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength))
}

/** Walks the blocks; returns the frame's own length. Throws when the content is, or is declared to be, over the limit. */
function measure(buf: Uint8Array, maxBytes: number): number {
  if (buf.length < 7 || uint32le(buf, 0) !== MAGIC) throw corrupt('no magic number')
  const flags = buf[4]
  if (flags >> 6 !== 1) throw corrupt(`version ${flags >> 6}`)
  if ((flags & 0x20) === 0) throw corrupt('dependent blocks are not supported')
  if ((flags & 0x01) !== 0) throw corrupt('dictionaries are not supported')
  const blockMaxBytes = BLOCK_MAX_BYTES[(buf[5] >> 4) & 7]
  if (blockMaxBytes === 0) throw corrupt('bad block size')
  const checksumBytes = (flags & 0x10) === 0 ? 0 : 4
  const contentChecksumBytes = (flags & 0x04) === 0 ? 0 : 4
  let at = 7
  if ((flags & 0x08) !== 0) {
    if (buf.length < 15) throw corrupt('truncated header')
    if (uint32le(buf, 10) * 4294967296 + uint32le(buf, 6) > maxBytes) throw tooLarge(maxBytes)
    at = 15
  }
  let boundBytes = 0 // what the content cannot exceed, cheap
  const blocks: number[] = [] // start, end of the compressed blocks whose true size may matter
  let storedBytes = 0
  for (;;) {
    if (buf.length - at < END_MARK_BYTES) throw corrupt('truncated')
    const word = uint32le(buf, at)
    at += 4
    if (word === 0) break
    const sizeBytes = word & 0x7fffffff
    if (sizeBytes > blockMaxBytes) throw corrupt('a block over its largest size')
    if (sizeBytes + checksumBytes > buf.length - at) throw corrupt('truncated block')
    if (word >>> 31 === 1) storedBytes += sizeBytes
    else {
      blocks.push(at, at + sizeBytes)
      boundBytes += Math.min(blockMaxBytes, sizeBytes * LZ4_MAX_RATIO)
    }
    at += sizeBytes + checksumBytes
  }
  if (boundBytes + storedBytes > maxBytes) {
    let exactBytes = storedBytes
    for (let i = 0; i < blocks.length && exactBytes <= maxBytes; i += 2) exactBytes += blockContentBytes(buf, blocks[i], blocks[i + 1])
    if (exactBytes > maxBytes) throw tooLarge(maxBytes)
  }
  return Math.min(buf.length, at + contentChecksumBytes)
}

/** The decoded size of one block: its sequences are walked, nothing is copied. */
function blockContentBytes(buf: Uint8Array, start: number, end: number): number {
  let at = start
  let bytes = 0
  while (at < end) {
    const token = buf[at++]
    let literals = token >> 4
    if (literals === 15) {
      let more = 255
      while (more === 255 && at < end) literals += more = buf[at++]
    }
    bytes += literals
    at += literals
    if (at >= end) break
    at += 2
    let match = token & 15
    if (match === 15) {
      let more = 255
      while (more === 255 && at < end) match += more = buf[at++]
    }
    bytes += match + 4
  }
  return bytes
}

function tooLarge(maxBytes: number): RecordsError {
  return new RecordsError(Errors.MESSAGE_TOO_LARGE, `The records inflate to more than ${maxBytes} bytes`)
}
