import { FrazilError } from '../../base/errors.ts'

/** Types of the Thrift compact protocol that Parquet uses. */
export const T = {
  stop: 0,
  true: 1,
  false: 2,
  byte: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  map: 11,
  struct: 12,
} as const

/** Writes the Thrift compact protocol; integers are JS numbers, exact within ±2^52. */
export class ThriftWriter {
  #buf = Buffer.allocUnsafe(1024)
  #at = 0
  #lastField = 0
  readonly #stack: number[] = []

  i16(field: number, value: number): void {
    this.#field(field, T.i16)
    this.#zigzag(value)
  }

  i32(field: number, value: number): void {
    this.#field(field, T.i32)
    this.#zigzag(value)
  }

  i64(field: number, value: number): void {
    this.#field(field, T.i64)
    this.#zigzag(value)
  }

  bool(field: number, value: boolean): void {
    this.#field(field, value ? T.true : T.false)
  }

  binary(field: number, value: Uint8Array | string): void {
    this.#field(field, T.binary)
    this.element(value)
  }

  /** Begins a struct field; ends with `end`. */
  struct(field: number): void {
    this.#field(field, T.struct)
    this.begin()
  }

  /** Begins a list field; elements follow (`element`, `elementInt`, `elementBool` or `begin` … `end`). */
  list(field: number, type: number, count: number): void {
    this.#field(field, T.list)
    this.#room(8)
    if (count < 15) this.#buf[this.#at++] = (count << 4) | type
    else {
      this.#buf[this.#at++] = 0xf0 | type
      this.#varint(count)
    }
  }

  element(value: Uint8Array | string): void {
    const bytes = typeof value === 'string' ? Buffer.from(value) : value
    this.#room(bytes.length + 8)
    this.#varint(bytes.length)
    this.#buf.set(bytes, this.#at)
    this.#at += bytes.length
  }

  elementInt(value: number): void {
    this.#zigzag(value)
  }

  elementBool(value: boolean): void {
    this.#room(1)
    this.#buf[this.#at++] = value ? T.true : T.false
  }

  /** Begins a struct that is a list element or the root. */
  begin(): void {
    this.#stack.push(this.#lastField)
    this.#lastField = 0
  }

  end(): void {
    this.#room(1)
    this.#buf[this.#at++] = T.stop
    this.#lastField = this.#stack.pop()!
  }

  get sizeBytes(): number {
    return this.#at
  }

  /** A copy of what was written; the writer is empty again. */
  take(): Buffer {
    const bytes = Buffer.from(this.#buf.subarray(0, this.#at))
    this.#at = 0
    return bytes
  }

  #field(field: number, type: number): void {
    this.#room(8)
    const delta = field - this.#lastField
    this.#lastField = field
    if (delta > 0 && delta < 16) this.#buf[this.#at++] = (delta << 4) | type
    else {
      this.#buf[this.#at++] = type
      this.#zigzag(field)
    }
  }

  #zigzag(value: number): void {
    this.#room(10)
    this.#varint(value < 0 ? -value * 2 - 1 : value * 2)
  }

  #varint(value: number): void {
    let rest = value
    while (rest > 127) {
      this.#buf[this.#at++] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    this.#buf[this.#at++] = rest
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#buf.length) return
    const grown = Buffer.allocUnsafe(Math.max(this.#buf.length * 2, this.#at + bytes))
    this.#buf.copy(grown, 0, 0, this.#at)
    this.#buf = grown
  }
}

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
