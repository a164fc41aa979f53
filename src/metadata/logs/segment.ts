import { FrazilError } from '../../base/errors.ts'
import { readInto, type Files } from '../../storage/files.ts'
import { HEADER_BYTES, SECTOR_BYTES } from './frame.ts'

/** Where the parts of an entry lie in its segment. */
export interface Place {
  readonly position: number
  readonly entryBytes: number
  readonly attachmentBytes: number
}

const FIRST_CAPACITY = 64

/** `<20 digits>` of a file name. */
export function digits(number: number): string {
  return String(number).padStart(20, '0')
}

/** An open file that closes when its last user is done. */
class Handle {
  readonly fd: number
  readonly #files: Files
  #users = 1

  constructor(files: Files, fd: number) {
    this.#files = files
    this.fd = fd
  }

  use(): void {
    this.#users++
  }

  async release(): Promise<void> {
    if (--this.#users === 0) await this.#files.close(this.fd)
  }
}

/**
 * One file of the log and the places of its entries: three 32-bit numbers an entry. The file stays open until it is
 * retired and its last reader is done, so that a truncation never takes bytes from under a read.
 */
export class Segment {
  readonly path: string
  readonly firstEntry: number
  /** For the headers of this file (frame.ts). */
  readonly seed: number
  readonly #files: Files
  #handle: Handle
  #table = new Uint32Array(FIRST_CAPACITY * 3)
  #count = 0
  /** Where the next record would begin. */
  usedBytes = SECTOR_BYTES
  /** Up to where the file is full of zeros. */
  spaceBytes = 0

  constructor(files: Files, options: { readonly path: string; readonly firstEntry: number; readonly seed: number; readonly fd: number }) {
    this.#files = files
    this.path = options.path
    this.firstEntry = options.firstEntry
    this.seed = options.seed
    this.#handle = new Handle(files, options.fd)
  }

  get count(): number {
    return this.#count
  }

  get lastEntry(): number {
    return this.firstEntry + this.#count - 1
  }

  get fd(): number {
    return this.#handle.fd
  }

  add(place: Place): void {
    if (this.#count * 3 === this.#table.length) {
      const grown = new Uint32Array(this.#table.length * 2)
      grown.set(this.#table)
      this.#table = grown
    }
    this.#table.set([place.position, place.entryBytes, place.attachmentBytes], this.#count * 3)
    this.#count++
  }

  place(number: number): Place {
    const at = (number - this.firstEntry) * 3
    return { position: this.#table[at], entryBytes: this.#table[at + 1], attachmentBytes: this.#table[at + 2] }
  }

  /** Puts another descriptor in the place of one that must not be written any more. */
  async replaceFd(fd: number): Promise<void> {
    const old = this.#handle
    this.#handle = new Handle(this.#files, fd)
    await old.release()
  }

  /** Reads [start, end) of the file, which stays open meanwhile. Errors: LOG_CORRUPT when the file is shorter. */
  async read(start: number, end: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(end - start)
    const handle = this.#handle
    handle.use()
    try {
      const n = await readInto(this.#files, handle.fd, bytes, start)
      if (n < bytes.length) throw new FrazilError('LOG_CORRUPT', `the log file ${this.path} ends before the entries it held`)
      return bytes
    } finally {
      await handle.release()
    }
  }

  /** Cuts the file to what its entries use. */
  async trim(): Promise<void> {
    const handle = this.#handle
    handle.use()
    try {
      await this.#files.truncate(handle.fd, this.usedBytes)
    } finally {
      await handle.release()
    }
  }

  /** Closes the file once nobody reads it any more. */
  retire(): Promise<void> {
    return this.#handle.release()
  }
}

/** Bytes [start, end) of an attachment, as positions in the file. */
export function attachmentRange(place: Place, start: number, end: number): { readonly start: number; readonly end: number } {
  const base = place.position + HEADER_BYTES + place.entryBytes
  return { start: base + start, end: base + end }
}
