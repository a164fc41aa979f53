import { FrazilError } from '../../base/errors.ts'
import { T } from './thriftWrite.ts'

/** Reads the Thrift compact protocol of one struct tree. Everything that does not fit the bytes is CORRUPT. */
export class ThriftReader {
  readonly #buf: Uint8Array
  readonly #end: number
  #at: number
  #depth = 0

  constructor(buf: Uint8Array, at = 0, end = buf.length) {
    this.#buf = buf
    this.#at = at
    this.#end = end
  }

  get at(): number {
    return this.#at
  }

  /** Calls `visit(field, type)` for each field; it returns false for a field it did not read, which is then skipped. */
  struct(visit: (field: number, type: number) => boolean): void {
    if (++this.#depth > 32) throw corrupt('a Thrift struct is nested too deeply')
    let field = 0
    for (;;) {
      const byte = this.#byte()
      const type = byte & 15
      if (type === T.stop) break
      field = byte >> 4 === 0 ? this.int() : field + (byte >> 4)
      if (!visit(field, type)) this.skip(type)
    }
    this.#depth--
  }

  /** Calls `visit` once an element; it must read the element. Counts are checked against the bytes that are left. */
  list(visit: (index: number, type: number) => void): void {
    const byte = this.#byte()
    const type = byte & 15
    const count = byte >> 4 === 15 ? this.#varint() : byte >> 4
    if (count > this.#end - this.#at) throw corrupt('a Thrift list is longer than its bytes')
    for (let i = 0; i < count; i++) visit(i, type)
  }

  /** i16, i32 or i64; exact within ±2^53. */
  int(): number {
    const raw = this.#varint()
    return raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2
  }

  binary(): Uint8Array {
    const sizeBytes = this.#varint()
    if (sizeBytes > this.#end - this.#at) throw corrupt('a Thrift string is longer than its bytes')
    const bytes = this.#buf.subarray(this.#at, this.#at + sizeBytes)
    this.#at += sizeBytes
    return bytes
  }

  string(): string {
    const bytes = this.binary()
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
  }

  elementBool(): boolean {
    return this.#byte() === T.true
  }

  skip(type: number): void {
    if (type === T.true || type === T.false) return
    if (type === T.byte) this.#byte()
    else if (type === T.i16 || type === T.i32 || type === T.i64) this.#varint()
    else if (type === T.double) this.#at += 8
    else if (type === T.binary) this.binary()
    else if (type === T.struct) this.struct(() => false)
    else if (type === T.list || type === T.set) {
      this.list((_, element) => (element === T.true || element === T.false ? void this.#byte() : this.skip(element)))
    } else if (type === T.map) this.#skipMap()
    else throw corrupt(`Thrift type ${type} is unknown`)
  }

  #skipMap(): void {
    const count = this.#varint()
    if (count > this.#end - this.#at) throw corrupt('a Thrift map is longer than its bytes')
    const types = count === 0 ? 0 : this.#byte()
    for (let i = 0; i < count; i++) {
      this.skip(types >> 4)
      this.skip(types & 15)
    }
  }

  #varint(): number {
    let low = 0
    let scale = 1
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte()
      low += (byte & 127) * scale
      if (byte < 128) return low
      scale *= 128
    }
    throw corrupt('a Thrift varint is too long')
  }

  #byte(): number {
    if (this.#at >= this.#end) throw corrupt('Thrift bytes end too early')
    return this.#buf[this.#at++]
  }
}

export function corrupt(message: string, cause?: unknown): FrazilError {
  return new FrazilError('CORRUPT', message, cause)
}
