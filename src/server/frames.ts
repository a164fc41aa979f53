import { FrazilError } from '../base/errors.ts'

const SIZE_BYTES = 4
/** A frame gets its buffer when it is this small … */
const EAGER_BYTES = 64 * 1024
/** … or when this part of it has arrived: who announces 100 MiB and sends nothing costs nothing. */
const ARRIVED_SHARE = 1 / 8
/** Smaller parts of a frame that has no buffer yet are joined. */
const PART_BYTES = 16 * 1024
/** A frame of a fourth of its chunk or more is left in there; so a frame keeps at most four times its size alive. */
const IN_PLACE_SHARE = 4

/**
 * Cuts a byte stream into frames (int32 size, then that many bytes). The size is checked before memory is taken. A frame
 * ends in one buffer of its own size; one that fills much of the chunk it came in stays there, uncopied.
 *
 * `feed` a chunk, then ask `nextSizeBytes` and `take` until both have nothing; only then feed again.
 */
export class FrameReader {
  readonly #maxBytes: number
  #chunk: Buffer = EMPTY
  #at = 0
  #sizeArrived = 0
  #size = 0
  /** Bytes of the open frame: in `#parts` until the frame has a buffer, then in there. */
  #parts: Buffer[] = []
  #frame: Buffer | null = null
  #filled = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Memory that the reader keeps: the open frame and what is left of the chunk. */
  get heldBytes(): number {
    return this.#filled + this.#chunk.length - this.#at
  }

  feed(chunk: Buffer): void {
    this.#chunk = chunk
    this.#at = 0
  }

  /** Size of the frame that comes next, or -1 when its four bytes have not all arrived. Errors: LIMIT, CORRUPT. */
  nextSizeBytes(): number {
    while (this.#sizeArrived < SIZE_BYTES) {
      if (this.#at === this.#chunk.length) return -1
      this.#size = (this.#size << 8) | this.#chunk[this.#at++]
      this.#sizeArrived++
    }
    if (this.#size < 0) throw new FrazilError('CORRUPT', `a request announces ${this.#size} bytes`)
    if (this.#size > this.#maxBytes) {
      throw new FrazilError('LIMIT', `a request announces ${this.#size} bytes, over socket.request.max.bytes of ${this.#maxBytes}`)
    }
    return this.#size
  }

  /** The next frame without its size, or null when more must arrive. */
  take(): Buffer | null {
    const size = this.nextSizeBytes()
    if (size < 0) return null
    const arrived = Math.min(this.#chunk.length - this.#at, size - this.#filled)
    const piece = this.#chunk.subarray(this.#at, this.#at + arrived)
    this.#at += arrived
    let frame: Buffer | null
    if (this.#filled === 0 && arrived === size) frame = size * IN_PLACE_SHARE >= this.#chunk.length ? piece : Buffer.from(piece)
    else {
      this.#keep(piece, size)
      frame = this.#filled === size ? this.#frame : null
    }
    if (this.#at === this.#chunk.length) this.feed(EMPTY) // lets go of the chunk
    if (frame === null) return null
    this.#frame = null
    this.#filled = 0
    this.#size = 0
    this.#sizeArrived = 0
    return frame
  }

  /** Joins what drips in, equal with equal, so that few objects hold it: each of them takes some hundred bytes beside its own. */
  #push(piece: Buffer): void {
    let last = piece
    for (let before = this.#parts.at(-1); before !== undefined && last.length < PART_BYTES && before.length <= last.length;) {
      this.#parts.pop()
      last = Buffer.concat([before, last])
      before = this.#parts.at(-1)
    }
    this.#parts.push(last)
  }

  #keep(piece: Buffer, size: number): void {
    if (this.#frame === null) {
      if (size > EAGER_BYTES && this.#filled + piece.length < size * ARRIVED_SHARE) {
        if (piece.length > 0) this.#push(piece)
        this.#filled += piece.length
        return
      }
      this.#frame = Buffer.allocUnsafeSlow(size)
      let at = 0
      for (const part of this.#parts) {
        part.copy(this.#frame, at)
        at += part.length
      }
      this.#parts = []
    }
    piece.copy(this.#frame, this.#filled)
    this.#filled += piece.length
  }
}

const EMPTY = Buffer.alloc(0)
