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

  text(text: string): void {
    const size = Buffer.byteLength(text)
    this.room(size)
    this.buf.write(text, this.at)
    this.at += size
  }
}
