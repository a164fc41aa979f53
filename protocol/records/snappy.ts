import snappy from 'snappy'
import { Errors } from '../errors.ts'
import { getInt32, setInt32 } from './bytes.ts'
import { RecordsError } from './errors.ts'

/** snappy-java's stream framing, which Java clients and brokers write: magic, version 1, compatible with 1, then blocks
 * of int32 length and raw snappy. librdkafka and others write one raw block. Both are read (hazard A2). */
const XERIAL_HEADER = Uint8Array.of(0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1)
const XERIAL_MAGIC_BYTES = 8
const XERIAL_BLOCK_BYTES = 32768
/** A copy element of 2 bytes gives at most 64 bytes, one of 3 bytes too: no block can grow more. */
const SNAPPY_MAX_RATIO = 64

const corrupt = (message: string, cause?: unknown): RecordsError =>
  new RecordsError(Errors.UNKNOWN_SERVER_ERROR, `snappy: ${message}`, cause)

/** Decodes either framing into at most `maxBytes`. The declared length of each block is checked before memory is taken. */
export function decompressSnappy(payload: Uint8Array, maxBytes: number): Uint8Array {
  if (!hasXerialHeader(payload, 0)) {
    declaredBytes(payload, maxBytes)
    return block(payload)
  }
  const ranges: number[] = []
  let totalBytes = 0
  let at = XERIAL_HEADER.length
  while (at < payload.length) {
    if (hasXerialHeader(payload, at)) {
      at += XERIAL_HEADER.length // streams may be joined end to end (snappy-java)
      continue
    }
    if (payload.length - at < 4) throw corrupt('truncated block length')
    const blockBytes = getInt32(payload, at)
    at += 4
    if (blockBytes < 0 || blockBytes > payload.length - at) throw corrupt('truncated block')
    totalBytes += declaredBytes(payload.subarray(at, at + blockBytes), maxBytes - totalBytes)
    ranges.push(at, at + blockBytes)
    at += blockBytes
  }
  if (ranges.length === 2) return block(payload.subarray(ranges[0], ranges[1]))
  const out = new Uint8Array(totalBytes)
  let filled = 0
  for (let i = 0; i < ranges.length; i += 2) {
    const piece = block(payload.subarray(ranges[i], ranges[i + 1]))
    out.set(piece, filled)
    filled += piece.length
  }
  return out
}

/** Writes Java's framing: every client reads it. */
export function compressSnappy(payload: Uint8Array): Uint8Array {
  const pieces: Uint8Array[] = [XERIAL_HEADER]
  for (let at = 0; at < payload.length; at += XERIAL_BLOCK_BYTES) {
    const piece = snappy.compressSync(payload.subarray(at, Math.min(payload.length, at + XERIAL_BLOCK_BYTES)))
    const length = new Uint8Array(4)
    setInt32(length, 0, piece.length)
    pieces.push(length, piece)
  }
  return Buffer.concat(pieces)
}

function hasXerialHeader(buf: Uint8Array, at: number): boolean {
  if (buf.length - at < XERIAL_HEADER.length) return false
  for (let i = 0; i < XERIAL_MAGIC_BYTES; i++) if (buf[at + i] !== XERIAL_HEADER[i]) return false
  return true
}

/** The length that a raw block declares (a plain varint at its start). */
function declaredBytes(raw: Uint8Array, maxBytes: number): number {
  let bytes = 0
  let factor = 1
  for (let i = 0; ; i++) {
    if (i === 5 || i >= raw.length) throw corrupt('bad length')
    bytes += (raw[i] & 0x7f) * factor
    factor *= 128
    if (raw[i] < 0x80) break
  }
  if (bytes > raw.length * SNAPPY_MAX_RATIO) throw corrupt('a declared length that the block cannot hold')
  if (bytes > maxBytes) throw new RecordsError(Errors.MESSAGE_TOO_LARGE, 'The records inflate to more bytes than the limit')
  return bytes
}

function block(raw: Uint8Array): Uint8Array {
  try {
    return snappy.uncompressSync(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)) as Buffer
  } catch (error) {
    throw corrupt('the block does not decode', error)
  }
}
