import { FrazilError } from '../../base/errors.ts'

/** Every part of an S3 upload but the last has at least this. */
export const PART_MIN_BYTES = 5 << 20
/** The most that one server-side copy takes is 5 GiB; smaller ones run side by side. */
const COPY_MAX_BYTES = 512 << 20
const EARLY_MAX_BYTES = 256 << 20

export interface BytesPiece {
  readonly kind: 'bytes'
  readonly buffers: readonly Uint8Array[]
}

/** A range of a stored object, of at least PART_MIN_BYTES. */
export interface CopyPiece {
  readonly kind: 'copy'
  readonly key: string
  readonly etag: string
  readonly start: number
  readonly end: number
}

export type Piece = BytesPiece | CopyPiece

/** What is sent as one S3 part: bytes, a copy, or bytes followed by a range that is read first to reach the least size. */
export interface Job {
  readonly number: number
  /** The caller's part that it ends in. */
  readonly part: number
  readonly buffers: readonly Uint8Array[]
  readonly range: CopyPiece | null
}

export const sizeOf = (piece: Piece): number =>
  piece.kind === 'copy' ? piece.end - piece.start : piece.buffers.reduce((sum, buffer) => sum + buffer.length, 0)

/**
 * Turns the caller's parts, of any size and in any order, into S3 parts: in order, joined until they have the least size.
 * Parts that come before their turn are kept, and so are small ones, which is why those are copied. No IO.
 */
export class Assembler {
  #next = 1
  #count = 0
  readonly #early = new Map<number, Piece>()
  #earlyBytes = 0
  /** In order, together below the least size. */
  #tail: { readonly part: number; readonly bytes: Uint8Array }[] = []
  /** S3 numbers of parts that were sent alone, and may so be sent again. */
  readonly #alone = new Map<number, number>()

  /** What can be sent now that this part is here. Errors: REFUSED, LIMIT. */
  add(part: number, piece: Piece): readonly Job[] {
    if (part < this.#next) return this.#again(part, piece)
    if (part > this.#next) {
      const earlier = this.#early.get(part)
      const kept = piece.kind === 'bytes' ? sizeOf(piece) : 0
      this.#earlyBytes += kept - (earlier?.kind === 'bytes' ? sizeOf(earlier) : 0)
      if (this.#earlyBytes > EARLY_MAX_BYTES)
        throw new FrazilError('LIMIT', `part ${part} is far ahead of part ${this.#next}, which is not there`)
      this.#early.set(part, piece.kind === 'bytes' ? owned(piece) : piece)
      return []
    }
    const jobs = this.#take(part, piece)
    this.#next++
    for (let early = this.#early.get(this.#next); early !== undefined; early = this.#early.get(this.#next)) {
      this.#early.delete(this.#next)
      jobs.push(...this.#take(this.#next++, early))
    }
    return jobs
  }

  /** What is left, the last S3 part in `last`; gaps between part numbers mean nothing. */
  finish(): { readonly jobs: readonly Job[]; readonly last: Job | null } {
    const jobs = [...this.#early].sort(([a], [b]) => a - b).flatMap(([part, piece]) => this.#take(part, piece))
    this.#early.clear()
    const last = this.#tail.length === 0 ? null : this.#job(this.#tail.at(-1)!.part, this.#tailBuffers(), null)
    return { jobs, last }
  }

  #again(part: number, piece: Piece): readonly Job[] {
    const at = this.#tail.findIndex((one) => one.part === part)
    if (at >= 0 && piece.kind === 'bytes') {
      this.#tail[at] = { part, bytes: owned(piece).buffers[0] }
      // it may have grown, and what follows it cannot be taken back
      return this.#tailSize() < PART_MIN_BYTES ? [] : [this.#job(this.#tail.at(-1)!.part, this.#tailBuffers(), null)]
    }
    const number = this.#alone.get(part)
    if (number === undefined || sizeOf(piece) < PART_MIN_BYTES || (piece.kind === 'copy' && sizeOf(piece) > COPY_MAX_BYTES)) {
      throw new FrazilError('REFUSED', `part ${part} was sent before, and joined with others`)
    }
    return [{ number, part, buffers: piece.kind === 'bytes' ? piece.buffers : [], range: piece.kind === 'copy' ? piece : null }]
  }

  #take(part: number, piece: Piece): Job[] {
    if (piece.kind === 'bytes') {
      if (this.#tailSize() + sizeOf(piece) < PART_MIN_BYTES) {
        this.#tail.push({ part, bytes: owned(piece).buffers[0] })
        return []
      }
      const alone = this.#tail.length === 0
      const job = this.#job(part, [...this.#tailBuffers(), ...piece.buffers], null)
      if (alone) this.#alone.set(part, job.number)
      return [job]
    }
    const jobs: Job[] = []
    let { start } = piece
    if (this.#tail.length > 0) {
      let end = start + PART_MIN_BYTES - this.#tailSize()
      if (piece.end - end < PART_MIN_BYTES) end = piece.end
      jobs.push(this.#job(part, this.#tailBuffers(), { ...piece, start, end }))
      start = end
    }
    while (start < piece.end) {
      const rest = piece.end - start
      // never a rest below the least size
      const end = rest <= COPY_MAX_BYTES ? piece.end : start + (rest - COPY_MAX_BYTES < PART_MIN_BYTES ? rest / 2 : COPY_MAX_BYTES)
      jobs.push(this.#job(part, [], { ...piece, start, end: Math.floor(end) }))
      start = Math.floor(end)
    }
    if (jobs.length === 1 && jobs[0].buffers.length === 0) this.#alone.set(part, jobs[0].number)
    return jobs
  }

  #job(part: number, buffers: readonly Uint8Array[], range: CopyPiece | null): Job {
    return { number: ++this.#count, part, buffers, range }
  }

  #tailSize(): number {
    return this.#tail.reduce((sum, one) => sum + one.bytes.length, 0)
  }

  #tailBuffers(): Uint8Array[] {
    const buffers = this.#tail.map((one) => one.bytes)
    this.#tail = []
    return buffers
  }
}

function owned(piece: BytesPiece): BytesPiece {
  return { kind: 'bytes', buffers: [Buffer.concat(piece.buffers)] }
}
