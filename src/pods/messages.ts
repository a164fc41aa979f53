import { FrazilError } from '../base/errors.ts'

/** What pods tell each other. Nothing of it is believed: it saves a look at the log or a read of the store (L21). */
export type Message =
  /** First on every link, from both sides. */
  | { readonly type: 'hello'; readonly clusterId: string; readonly pod: string; readonly incarnation: number }
  /** Alive; `lastEntry` is what it has applied. */
  | { readonly type: 'beat'; readonly lastEntry: number }
  /** An entry that is durable in the log. */
  | { readonly type: 'entry'; readonly number: number; readonly attachmentBytes: number; readonly bytes: Uint8Array }
  | {
      readonly type: 'forward'
      readonly id: number
      readonly incarnation: number
      readonly firstSequence: number
      readonly proposals: readonly Uint8Array[]
    }
  /** `entry` 0: unknown. */
  | { readonly type: 'forwarded'; readonly id: number; readonly entry: number }
  /** A range of a WAL object out of the other's cache. */
  | { readonly type: 'read'; readonly id: number; readonly object: number; readonly start: number; readonly end: number }
  | { readonly type: 'bytes'; readonly id: number; readonly bytes: Uint8Array | null }
  /** It leaves: what it did, others take over at once. */
  | { readonly type: 'bye' }

/** The number of a type is its place in this list, from 1 on; its fields travel in this order. */
const FIELDS = {
  hello: ['clusterId', 'pod', 'incarnation'],
  beat: ['lastEntry'],
  entry: ['number', 'attachmentBytes', 'bytes'],
  forward: ['id', 'incarnation', 'firstSequence', 'proposals'],
  forwarded: ['id', 'entry'],
  read: ['id', 'object', 'start', 'end'],
  bytes: ['id', 'bytes'],
  bye: [],
} as const satisfies { readonly [T in Message['type']]: readonly string[] }

const TYPES = Object.keys(FIELDS) as Message['type'][]

/** Largest message; proposals and ranges of the cache stay far below. */
export const MESSAGE_BYTES_MAX = 64 << 20

/**
 * A byte for the type, then its fields: numbers as float64, texts and byte strings as uint32 length and bytes
 * (0xffffffff for null), lists as uint32 count. Pods of one cluster may differ in version: a type that is not known is passed over.
 */
export function encodeMessage(message: Message): Buffer {
  const parts: Uint8Array[] = [Buffer.of(TYPES.indexOf(message.type) + 1)]
  for (const name of FIELDS[message.type]) put(parts, (message as unknown as Record<string, unknown>)[name])
  return Buffer.concat(parts)
}

function put(parts: Uint8Array[], value: unknown): void {
  if (typeof value === 'number') {
    const bytes = Buffer.allocUnsafe(8)
    bytes.writeDoubleBE(value)
    parts.push(bytes)
  } else if (Array.isArray(value)) {
    parts.push(uint32(value.length))
    for (const item of value) put(parts, item)
  } else if (value === null) parts.push(uint32(0xffffffff))
  else {
    const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : (value as Uint8Array)
    parts.push(uint32(bytes.length), bytes)
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** null for a type of a newer program. Byte strings point into `bytes`. Error: CORRUPT. */
export function decodeMessage(bytes: Buffer): Message | null {
  try {
    const reader = new Reader(bytes)
    const type = TYPES[reader.byte() - 1]
    switch (type) {
      case 'hello':
        return { type, clusterId: reader.text(), pod: reader.text(), incarnation: reader.number() }
      case 'beat':
        return { type, lastEntry: reader.number() }
      case 'entry':
        return { type, number: reader.number(), attachmentBytes: reader.number(), bytes: reader.bytes() }
      case 'forward':
        return { type, id: reader.number(), incarnation: reader.number(), firstSequence: reader.number(), proposals: reader.list() }
      case 'forwarded':
        return { type, id: reader.number(), entry: reader.number() }
      case 'read':
        return { type, id: reader.number(), object: reader.number(), start: reader.number(), end: reader.number() }
      case 'bytes':
        return { type, id: reader.number(), bytes: reader.optionalBytes() }
      case 'bye':
        return { type }
      default:
        return null
    }
  } catch (error) {
    throw new FrazilError('CORRUPT', 'a message of another pod cannot be decoded', error)
  }
}

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#at++)
  }

  /** Finite and exact; anything else is no message of ours. */
  number(): number {
    const value = this.#bytes.readDoubleBE(this.#at)
    this.#at += 8
    if (!Number.isSafeInteger(value)) throw new RangeError('no integer')
    return value
  }

  text(): string {
    return this.bytes().toString('utf8')
  }

  bytes(): Buffer {
    const found = this.optionalBytes()
    if (found === null) throw new RangeError('null')
    return found
  }

  optionalBytes(): Buffer | null {
    const length = this.#uint32()
    if (length === 0xffffffff) return null
    if (this.#at + length > this.#bytes.length) throw new RangeError('cut short')
    return this.#bytes.subarray(this.#at, (this.#at += length))
  }

  list(): Buffer[] {
    const count = this.#uint32()
    if (count * 4 > this.#bytes.length) throw new RangeError('cut short')
    return Array.from({ length: count }, () => this.bytes())
  }

  #uint32(): number {
    const value = this.#bytes.readUInt32BE(this.#at)
    this.#at += 4
    return value
  }
}
