import { createHash, type Hash } from 'node:crypto'
import type { Rooms } from '../state/state.ts'
import type { StateData } from './data.ts'
import { dumpRooms } from './dump.ts'

const BUFFER_BYTES = 64 * 1024

/** SHA-256 of the state (L5), over its own fixed serialization: see `StateHasher`. Frozen. */
export function hashRooms(rooms: Rooms): Buffer {
  return hashState(dumpRooms(rooms))
}

export function hashState(state: StateData): Buffer {
  const hasher = new StateHasher()
  hasher.value(state)
  return hasher.digest()
}

/**
 * Every value is a type byte and its content, little-endian: 0 null; 1 number as float64; 2 text as uint32 length and
 * UTF-8; 3 bytes as uint32 length and bytes; 4 list as uint32 length and values (columns are lists of numbers); 5 record
 * as uint32 field count, then names and values sorted by name (fields
 * that are undefined do not count); 6 true; 7 false.
 */
class StateHasher {
  readonly #hash: Hash = createHash('sha256')
  readonly #buffer = Buffer.alloc(BUFFER_BYTES)
  #at = 0

  value(value: unknown): void {
    if (value === null) this.#type(0)
    else if (typeof value === 'number') {
      this.#type(1)
      this.#at = this.#buffer.writeDoubleLE(value, this.#at)
    } else if (typeof value === 'string') this.#bytes(2, Buffer.from(value, 'utf8'))
    else if (typeof value === 'boolean') this.#type(value ? 6 : 7)
    else if (value instanceof Uint8Array) this.#bytes(3, value)
    else if (Array.isArray(value) || value instanceof Float64Array) {
      this.#type(4)
      this.#length(value.length)
      for (let i = 0; i < value.length; i++) this.value(value[i])
    } else {
      const names = Object.keys(value as object)
        .filter((name) => (value as Record<string, unknown>)[name] !== undefined)
        .sort()
      this.#type(5)
      this.#length(names.length)
      for (const name of names) {
        this.value(name)
        this.value((value as Record<string, unknown>)[name])
      }
    }
  }

  digest(): Buffer {
    this.#flush()
    return this.#hash.digest()
  }

  /** Room for what follows a type byte is made here. */
  #type(type: number): void {
    if (this.#at > BUFFER_BYTES - 16) this.#flush()
    this.#buffer[this.#at++] = type
  }

  #length(length: number): void {
    this.#at = this.#buffer.writeUInt32LE(length, this.#at)
  }

  #bytes(type: number, bytes: Uint8Array): void {
    this.#type(type)
    this.#length(bytes.length)
    this.#flush()
    this.#hash.update(bytes)
  }

  #flush(): void {
    this.#hash.update(this.#buffer.subarray(0, this.#at))
    this.#at = 0
  }
}
