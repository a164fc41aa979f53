/** Thrown, without a stack, when bytes are not what their schema says. */
export class Undecodable extends Error {
  constructor(message: string) {
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = limit
  }
}

const BAD = new Undecodable('the bytes end too early or are no value of this type')

/** Items without bytes in one value: more of them are no value that anybody wrote, and would take memory that nobody sent. */
export const WEIGHTLESS_MAX = 100_000

/** Ends decoding of the value at hand. */
export function undecodable(): never {
  throw BAD
}

/**
 * A value being decoded. `exact` starts true and ends false when the columns would not give back these very bytes (T3).
 * The last variable-length integer stands in `high` and `low`, zigzag undone by the reader's choice.
 */
export class Input {
  buf: Uint8Array = new Uint8Array(0)
  view: DataView = new DataView(new ArrayBuffer(0))
  at = 0
  end = 0
  exact = true
  high = 0
  low = 0
  /** Free for decoders: nesting of what has no column of its own. */
  depth = 0
  #weightless = 0

  reset(buf: Uint8Array, start: number, end: number): void {
    if (this.buf !== buf) {
      this.buf = buf
      this.view = new DataView(buf.buffer, buf.byteOffset, buf.length)
    }
    this.at = start
    this.end = end
    this.exact = true
    this.depth = 0
    this.#weightless = 0
  }

  /** After `count` items of a block that began at `start`: those for which there is no byte must not be too many. */
  passed(count: number, start: number): void {
    const weightless = count - (this.at - start)
    if (weightless > 0 && (this.#weightless += weightless) > WEIGHTLESS_MAX) undecodable()
  }

  /** Reads an unsigned varint of up to 64 bits into `high` and `low`; a longer form than needed is not exact. */
  varint(): void {
    const { buf, end } = this
    let at = this.at
    if (at >= end) undecodable()
    let byte = buf[at++]
    if (byte < 128) {
      this.at = at
      this.low = byte
      this.high = 0
      return
    }
    let low = byte & 127
    let high = 0
    for (let shift = 7; ; shift += 7) {
      if (at >= end || shift > 63) undecodable()
      byte = buf[at++]
      const bits = byte & 127
      if (shift < 28) low |= bits << shift
      else if (shift === 28) {
        low |= bits << 28
        high |= bits >> 4
      } else {
        if (shift === 63 && bits > 1) undecodable()
        high |= bits << (shift - 32)
      }
      if (byte < 128) {
        if (byte === 0) this.exact = false
        break
      }
    }
    this.at = at
    this.low = low | 0
    this.high = high | 0
  }

  /** Reads a zigzag varint into `high` and `low`. */
  zigzag(): void {
    this.varint()
    const { high, low } = this
    const sign = -(low & 1)
    this.low = ((low >>> 1) | (high << 31)) ^ sign
    this.high = (high >>> 1) ^ sign
  }

  /** A zigzag varint that must be a length: 0 to 2^31 - 1. */
  length(): number {
    this.zigzag()
    if (this.high !== 0 || this.low < 0) undecodable()
    return this.low
  }

  /** Passes `bytes` over; where they begin. */
  skip(bytes: number): number {
    const at = this.at
    if (bytes > this.end - at) undecodable()
    this.at = at + bytes
    return at
  }
}
