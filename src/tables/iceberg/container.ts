import { promisify } from 'node:util'
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib'
import type { Type } from 'avsc'
import { FrazilError } from '../../base/errors.ts'

const MAGIC = Buffer.from([0x4f, 0x62, 0x6a, 0x01])
const SYNC_BYTES = 16
/** A block is encoded in one go, so it is kept to a few milliseconds. */
const ROWS_PER_BLOCK = 100
/** A manifest is read whole; beyond this something else is wrong. */
const BLOCK_MAX_BYTES = 256 * 1024 * 1024
/** A block up to this size is packed or unpacked at once: a few dozen µs, less than the way to a thread and back. */
const INLINE_BYTES = 16 * 1024
const deflateInThread = promisify(deflateRaw)
const inflateInThread = promisify(inflateRaw) as unknown as (body: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>
const LEVEL = { level: 1 }

function deflate(block: Buffer): Buffer | Promise<Buffer> {
  return block.length <= INLINE_BYTES ? deflateRawSync(block, LEVEL) : deflateInThread(block, LEVEL)
}

/** A small block may unpack to a large one, which is then left to a thread. */
function inflate(packed: Buffer): Buffer | Promise<Buffer> {
  if (packed.length <= INLINE_BYTES / 2) {
    try {
      return inflateRawSync(packed, { maxOutputLength: INLINE_BYTES * 4 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw error
    }
  }
  return inflateInThread(packed, { maxOutputLength: BLOCK_MAX_BYTES })
}

/** Zig-zag varint of a safe integer (Avro spec, "Binary encoding"). */
function long(value: number): Buffer {
  const bytes: number[] = []
  let rest = value >= 0 ? value * 2 : -value * 2 - 1
  while (rest > 127) {
    bytes.push((rest % 128) | 0x80)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
  return Buffer.from(bytes)
}

function blob(value: Uint8Array | string): Buffer[] {
  const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return [long(bytes.length), bytes]
}

/**
 * Writes an Avro object container file (Avro spec, "Object container files") with codec deflate, which every reader
 * has. `schemaText` stands in the header as it is: avsc's own printer drops `field-id` and `element-id` (hazard I5).
 * Blocks that are not small are deflated off the event loop.
 */
export async function writeContainer<R>(
  type: Type,
  schemaText: string,
  header: Readonly<Record<string, string>>,
  items: readonly R[],
  toRow: (item: R) => unknown,
  sync: Uint8Array,
): Promise<Buffer> {
  const meta = Object.entries({ 'avro.schema': schemaText, 'avro.codec': 'deflate', ...header })
  const parts: Uint8Array[] = [MAGIC, long(meta.length)]
  for (const [key, value] of meta) parts.push(...blob(key), ...blob(value))
  parts.push(long(0), sync)
  for (let at = 0; at < items.length; at += ROWS_PER_BLOCK) {
    const block = items.slice(at, at + ROWS_PER_BLOCK)
    const packed = await deflate(Buffer.concat(block.map((item) => type.toBuffer(toRow(item)))))
    parts.push(long(block.length), ...blob(packed), sync)
  }
  return Buffer.concat(parts)
}

class Cursor {
  readonly bytes: Buffer
  at = 0
  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
  long(): number {
    let result = 0
    for (let factor = 1, n = 0; n < 10; n++, factor *= 128) {
      const byte = this.bytes[this.at++]
      if (byte === undefined) break
      result += (byte & 0x7f) * factor
      if (byte < 128) return result % 2 === 0 ? result / 2 : -(result + 1) / 2
    }
    throw new FrazilError('CORRUPT', 'an Avro file ends inside a number')
  }
  blob(): Buffer {
    const length = this.long()
    if (length < 0 || this.at + length > this.bytes.length) throw new FrazilError('CORRUPT', 'an Avro file ends inside a value')
    return this.bytes.subarray(this.at, (this.at += length))
  }
}

export interface Container<R> {
  readonly header: ReadonlyMap<string, string>
  readonly items: R[]
}

/**
 * Reads an Avro object container file; `typeOf` makes the type from the writer's schema. Codecs null and deflate.
 * Errors: CORRUPT.
 */
export async function readContainer<R>(
  bytes: Buffer,
  typeOf: (schema: unknown) => Type,
  toItem: (row: unknown) => R,
): Promise<Container<R>> {
  try {
    return await read(bytes, typeOf, toItem)
  } catch (error) {
    throw error instanceof FrazilError ? error : new FrazilError('CORRUPT', 'an Avro file does not decode', error)
  }
}

async function read<R>(bytes: Buffer, typeOf: (schema: unknown) => Type, toItem: (row: unknown) => R): Promise<Container<R>> {
  if (!bytes.subarray(0, 4).equals(MAGIC)) throw new FrazilError('CORRUPT', 'not an Avro file')
  const cursor = new Cursor(bytes)
  cursor.at = 4
  const header = new Map<string, string>()
  for (let count = cursor.long(); count !== 0; count = cursor.long()) {
    if (count < 0) cursor.long()
    for (let n = Math.abs(count); n > 0; n--) header.set(cursor.blob().toString(), cursor.blob().toString())
  }
  const codec = header.get('avro.codec') ?? 'null'
  if (codec !== 'null' && codec !== 'deflate') throw new FrazilError('CORRUPT', `Avro codec ${codec} is not known`)
  const sync = bytes.subarray(cursor.at, (cursor.at += SYNC_BYTES))
  const type = typeOf(JSON.parse(header.get('avro.schema') ?? 'null'))
  const items: R[] = []
  while (cursor.at < bytes.length) {
    const count = cursor.long()
    const packed = cursor.blob()
    if (!bytes.subarray(cursor.at, (cursor.at += SYNC_BYTES)).equals(sync))
      throw new FrazilError('CORRUPT', 'an Avro block has a wrong sync marker')
    const block = codec === 'null' ? packed : await inflate(packed)
    for (let at = 0, n = 0; n < count; n++) {
      const { value, offset } = type.decode(block, at)
      if (offset < 0) throw new FrazilError('CORRUPT', 'an Avro block ends inside a row')
      items.push(toItem(value))
      at = offset
    }
  }
  return { header, items }
}
