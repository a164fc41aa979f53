const TENS = Array.from({ length: 18 }, (_, power) => 10 ** power)

/** Bytes of a value that is put together from columns; grows, and is used again for the next one. */
export class Output {
  buf = Buffer.allocUnsafeSlow(4096)
  at = 0

  /** Makes room for so many more bytes. */
  room(bytes: number): void {
    if (this.at + bytes <= this.buf.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.at + bytes, this.buf.length * 2))
    this.buf.copy(larger, 0, 0, this.at)
    this.buf = larger
  }

  byte(value: number): void {
    this.room(1)
    this.buf[this.at++] = value
  }

  bytes(from: Uint8Array, start: number, end: number): void {
    const size = end - start
    this.room(size)
    const { buf } = this
    let at = this.at
    if (size <= 32) for (let i = start; i < end; i++) buf[at++] = from[i]
    else buf.set(from.subarray(start, end), at)
    this.at += size
  }

  /** An unsigned varint of 64 bits in halves. */
  varint(high: number, low: number): void {
    this.room(10)
    const { buf } = this
    let at = this.at
    let rest = low >>> 0
    let top = high >>> 0
    while (top > 0) {
      buf[at++] = (rest & 127) | 128
      rest = ((rest >>> 7) | (top << 25)) >>> 0
      top >>>= 7
    }
    while (rest > 127) {
      buf[at++] = (rest & 127) | 128
      rest >>>= 7
    }
    buf[at++] = rest
    this.at = at
  }

  zigzag(high: number, low: number): void {
    const sign = high >> 31
    this.varint(((high << 1) | (low >>> 31)) ^ sign, (low << 1) ^ sign)
  }

  /** A whole number that doubles hold, in decimal, its last `places` digits (up to 15) as a fraction. */
  decimal(value: number, places: number): void {
    this.room(40)
    const { buf } = this
    let at = this.at
    if (value < 0) buf[at++] = 45
    let rest = value < 0 ? -value : value
    let digits = places + 1
    while (digits < 17 && rest >= TENS[digits]) digits++
    const next = at + digits + (places > 0 ? 1 : 0)
    let to = next
    let left = places
    while (rest >= 1e9) {
      const above = Math.floor(rest / 10)
      buf[--to] = 48 + (rest - above * 10)
      rest = above
      if (--left === 0) buf[--to] = 46
    }
    let small = rest | 0
    while (to > at) {
      const above = (small / 10) | 0
      buf[--to] = 48 + (small - above * 10)
      small = above
      if (--left === 0) buf[--to] = 46
    }
    this.at = next
  }

  text(text: string): void {
    const size = Buffer.byteLength(text)
    this.room(size)
    this.buf.write(text, this.at)
    this.at += size
  }
}
