import { crc32c } from '@node-rs/crc32'
import { FrazilError } from '../base/errors.ts'

/**
 * WAL objects on disk (docs/FORMATS.md, "WAL objects"). All integers big-endian.
 *
 *   header  'FRZW' | version u16 | 0 u16 | incarnation u64 | walSequence u64
 *   body    per part (ascending by topic number, partition) its batches, contiguous, as the producers sent them
 *   index   partCount u32, then per part: topicId 16 | topic u32 | partition u32 | byteOffset u64 | batchCount u32,
 *           then per batch: sizeBytes u32 | offsetCount u32
 *   tail    indexStart u64 | indexBytes u32 | CRC-32C of the index u32 | 'FRZI'
 *
 * Offsets are not in it: an object is uploaded before it is sequenced. Bytes that ride inside an entry (L10) have
 * neither header nor index.
 */
export const HEADER_BYTES = 24
export const TAIL_BYTES = 20
export const FORMAT_VERSION = 1
const MAGIC = 0x46525a57
const TAIL_MAGIC = 0x46525a49
const PART_BYTES = 36
const BATCH_BYTES = 8

/** The batches of one partition: where they start and how long each is. */
export interface IndexPart {
  readonly topicId: string
  readonly topic: number
  readonly partition: number
  readonly byteOffset: number
  readonly sizesBytes: readonly number[]
  readonly offsetCounts: readonly number[]
}

/** Store key of a WAL object; ascending order of keys is ascending (incarnation, sequence) (L13). */
export function walKey(timeline: number, incarnation: number, walSequence: number): string {
  return `${walPrefix(timeline)}${String(incarnation).padStart(10, '0')}/${String(walSequence).padStart(12, '0')}.wal`
}

/** Prefix of all WAL objects of a timeline. */
export function walPrefix(timeline: number): string {
  return `wal/${timeline}/`
}

/** Incarnation and sequence that a key names, or null when it is no key of a WAL object. */
export function parseWalKey(key: string): { readonly timeline: number; readonly incarnation: number; readonly walSequence: number } | null {
  const match = /^wal\/(\d+)\/(\d{10,})\/(\d{12,})\.wal$/.exec(key)
  return match && { timeline: Number(match[1]), incarnation: Number(match[2]), walSequence: Number(match[3]) }
}

export function encodeHeader(incarnation: number, walSequence: number): Buffer {
  const out = Buffer.alloc(HEADER_BYTES)
  out.writeUInt32BE(MAGIC, 0)
  out.writeUInt16BE(FORMAT_VERSION, 4)
  out.writeBigUInt64BE(BigInt(incarnation), 8)
  out.writeBigUInt64BE(BigInt(walSequence), 16)
  return out
}

/** Errors: CORRUPT (another magic), LEVEL_UNKNOWN (a newer version). */
export function decodeHeader(bytes: Buffer): { readonly incarnation: number; readonly walSequence: number } {
  if (bytes.length < HEADER_BYTES || bytes.readUInt32BE(0) !== MAGIC) throw new FrazilError('CORRUPT', 'this is no WAL object')
  const version = bytes.readUInt16BE(4)
  if (version !== FORMAT_VERSION)
    throw new FrazilError('LEVEL_UNKNOWN', `a WAL object has format version ${version}; this build reads ${FORMAT_VERSION}`)
  return { incarnation: Number(bytes.readBigUInt64BE(8)), walSequence: Number(bytes.readBigUInt64BE(16)) }
}

/** Index and tail of an object whose index begins at `indexStart`. */
export function encodeFooter(indexStart: number, parts: readonly IndexPart[]): Buffer {
  let indexBytes = 4
  for (const part of parts) indexBytes += PART_BYTES + BATCH_BYTES * part.sizesBytes.length
  const out = Buffer.alloc(indexBytes + TAIL_BYTES)
  out.writeUInt32BE(parts.length, 0)
  let at = 4
  for (const part of parts) {
    out.write(part.topicId.replaceAll('-', ''), at, 16, 'hex')
    out.writeUInt32BE(part.topic, at + 16)
    out.writeUInt32BE(part.partition, at + 20)
    out.writeBigUInt64BE(BigInt(part.byteOffset), at + 24)
    out.writeUInt32BE(part.sizesBytes.length, at + 32)
    at += PART_BYTES
    for (let i = 0; i < part.sizesBytes.length; i++) {
      out.writeUInt32BE(part.sizesBytes[i], at)
      out.writeUInt32BE(part.offsetCounts[i], at + 4)
      at += BATCH_BYTES
    }
  }
  out.writeBigUInt64BE(BigInt(indexStart), at)
  out.writeUInt32BE(indexBytes, at + 8)
  out.writeUInt32BE(crc32c(out.subarray(0, indexBytes)), at + 12)
  out.writeUInt32BE(TAIL_MAGIC, at + 16)
  return out
}

/** Where the index lies, from the last TAIL_BYTES of the object. Errors: CORRUPT. */
export function decodeTail(
  tail: Buffer,
  objectBytes: number,
): { readonly indexStart: number; readonly indexBytes: number; readonly crc: number } {
  const at = tail.length - TAIL_BYTES
  if (at < 0 || tail.readUInt32BE(at + 16) !== TAIL_MAGIC) throw new FrazilError('CORRUPT', 'a WAL object has no index at its end')
  const indexStart = Number(tail.readBigUInt64BE(at))
  const indexBytes = tail.readUInt32BE(at + 8)
  if (indexStart < HEADER_BYTES || indexStart + indexBytes + TAIL_BYTES !== objectBytes) {
    throw new FrazilError('CORRUPT', 'the index of a WAL object does not lie where its tail says')
  }
  return { indexStart, indexBytes, crc: tail.readUInt32BE(at + 12) }
}

/** Errors: CORRUPT (CRC, or counts that do not fit). */
export function decodeIndex(index: Buffer, crc: number): IndexPart[] {
  if (crc32c(index) !== crc) throw new FrazilError('CORRUPT', 'the index of a WAL object fails its checksum')
  const count = index.readUInt32BE(0)
  if (count * PART_BYTES > index.length) throw new FrazilError('CORRUPT', 'the index of a WAL object names more parts than it holds')
  const parts: IndexPart[] = []
  let at = 4
  for (let p = 0; p < count; p++) {
    if (at + PART_BYTES > index.length) throw new FrazilError('CORRUPT', 'the index of a WAL object is cut')
    const hex = index.toString('hex', at, at + 16)
    const batches = index.readUInt32BE(at + 32)
    if (at + PART_BYTES + batches * BATCH_BYTES > index.length) throw new FrazilError('CORRUPT', 'the index of a WAL object is cut')
    const sizesBytes: number[] = []
    const offsetCounts: number[] = []
    for (let i = 0, b = at + PART_BYTES; i < batches; i++, b += BATCH_BYTES) {
      sizesBytes.push(index.readUInt32BE(b))
      offsetCounts.push(index.readUInt32BE(b + 4))
    }
    parts.push({
      topicId: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`,
      topic: index.readUInt32BE(at + 16),
      partition: index.readUInt32BE(at + 20),
      byteOffset: Number(index.readBigUInt64BE(at + 24)),
      sizesBytes,
      offsetCounts,
    })
    at += PART_BYTES + batches * BATCH_BYTES
  }
  return parts
}
