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
