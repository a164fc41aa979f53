import { FrazilError, hasCode } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { storeFailure } from '../../storage/failures.ts'
import { writeAll, type Files } from '../../storage/files.ts'
import { align, countZeroSectors, crcOf, decodeHeader, encodeHeader, HEADER_BYTES } from './frame.ts'
import type { Segment } from './segment.ts'
import type { SegmentFiles } from './segmentFiles.ts'

/** Bigger records gain less from a file full of zeros than writing the zeros costs. */
const AHEAD_RECORD_BYTES = 32 * 1024

/** Writes records behind the last one, one at a time, and cleans up after a write that failed. */
export class Appender {
  readonly #files: Files
  readonly #segmentFiles: SegmentFiles
  readonly #segments: Segment[]
  readonly #fsync: boolean
  readonly #segmentBytes: number
  readonly #logger: Logger
  /** A running mean of the size of records. */
  #recordBytes = 0
  /** Set while the last file may hold bytes behind the last entry; nothing is appended before they are gone. */
  #dirty = false
  /** Set while a file for the next entry may exist under its name: entries must not go to the one before it any more. */
  #mustBegin = false
  #trimming: Promise<unknown> = Promise.resolve()

  /** `segments` is shared with the log; new ones are pushed to it. */
  constructor(options: {
    readonly files: Files
    readonly segmentFiles: SegmentFiles
    readonly segments: Segment[]
    readonly fsync: boolean
    readonly segmentBytes: number
    readonly logger: Logger
  }) {
    this.#files = options.files
    this.#segmentFiles = options.segmentFiles
    this.#segments = options.segments
    this.#fsync = options.fsync
    this.#segmentBytes = options.segmentBytes
    this.#logger = options.logger
  }

  /**
   * Takes over segments found on disk. What was read may be in the page cache only, left there by a killed process; it is
   * made durable before anyone acts on it. `wipe`: the last file has bytes behind its last entry.
   */
  async adopt(wipe: boolean): Promise<void> {
    if (wipe) await this.#clean()
    else if (this.#fsync && this.#segments.length > 0) await this.#files.fsync(this.#segments.at(-1)!.fd)
  }

  /** Writes one record, durably. Errors: STORE_FULL and LOG_REFUSED (it is not there), LOG_UNAVAILABLE, LOG_CORRUPT. */
  async write(number: number, entry: Uint8Array, attachment: readonly Uint8Array[], attachmentBytes: number): Promise<void> {
    if (this.#dirty) await this.#cleanOrFail()
    const segment = await this.#segmentFor(number, HEADER_BYTES + entry.length + attachmentBytes)
    const position = segment.usedBytes
    const payload = [entry, ...attachment]
    const header = encodeHeader(
      {
        number,
        entryBytes: entry.length,
        attachmentBytes,
        entryCrc: crcOf([entry]),
        attachmentCrc: crcOf(attachment),
        zeroSectors: countZeroSectors(payload, position + HEADER_BYTES),
      },
      position,
      segment.seed,
    )
    try {
      const end = await writeAll(this.#files, segment.fd, [header, ...payload], position)
      if (this.#fsync && !this.#segmentFiles.syncsItself) await this.#files.fdatasync(segment.fd)
      segment.add({ position, entryBytes: entry.length, attachmentBytes })
      segment.usedBytes = align(end)
    } catch (error) {
      this.#dirty = true
      // On a full disk the file made ahead still has room.
      if (this.#segmentFiles.ready) this.#mustBegin = true
      await this.#cleanOrFail(error)
      throw refusal(error, `cannot write entry ${number} of the metadata log`)
    }
  }

  /** The next record goes to a new file when the last one has at least so many bytes. */
  beginSoon(usedBytes: number): void {
    if ((this.#segments.at(-1)?.usedBytes ?? 0) >= usedBytes) this.#mustBegin = true
  }

  /** The file that the next record goes to. */
  async #segmentFor(number: number, recordBytes: number): Promise<Segment> {
    const last = this.#segments.at(-1)
    this.#recordBytes += (recordBytes - this.#recordBytes) / 8
    const small = this.#recordBytes < AHEAD_RECORD_BYTES
    const end = last === undefined ? 0 : last.usedBytes + recordBytes
    // A file without zeros left in it is left early for one that is ready, full of them.
    const limitBytes = small && this.#segmentFiles.ready ? Math.min(last?.spaceBytes ?? 0, this.#segmentBytes) : this.#segmentBytes
    const full = last === undefined || this.#mustBegin || (last.count > 0 && end > limitBytes)
    const segment = full ? await this.#begin(number, last) : last
    if (small && segment.spaceBytes - segment.usedBytes < this.#segmentFiles.readyBytes / 2) this.#segmentFiles.makeReady()
    return segment
  }

  async #begin(firstEntry: number, last: Segment | undefined): Promise<Segment> {
    this.#mustBegin = true
    try {
      const segment = await this.#segmentFiles.create(firstEntry)
      this.#segments.push(segment)
      this.#mustBegin = false
      if (last !== undefined) this.#trim(last)
      return segment
    } catch (error) {
      throw refusal(error, 'cannot begin a new file of the metadata log')
    }
  }

  /** Gives back the zeros behind the last entry of a file that is full. Off the way of appends: it only saves space. */
  #trim(segment: Segment): void {
    this.#trimming = this.#trimming
      .then(() => segment.trim())
      .catch((error: unknown) => this.#logger.warn({ file: segment.path, error: String(error) }, 'cannot trim a log file'))
  }

  async #cleanOrFail(cause?: unknown): Promise<void> {
    try {
      await this.#clean()
    } catch (error) {
      if (hasCode(error, 'LOG_CORRUPT')) throw error
      throw new FrazilError('LOG_UNAVAILABLE', `the metadata log cannot be written: ${String(cause ?? error)}`, cause ?? error)
    }
  }

  /**
   * Removes what a failed write left behind the last entry, through a new descriptor: after a failed sync the old one may
   * call pages clean that never came to disk. Then checks that the last entry is as it was.
   */
  async #clean(): Promise<void> {
    const segment = this.#segments.at(-1)
    if (segment !== undefined) {
      const fd = await this.#segmentFiles.reopen(segment)
      try {
        await this.#files.truncate(fd, segment.usedBytes)
        if (this.#fsync) await this.#files.fsync(fd)
      } catch (error) {
        await this.#files.close(fd)
        throw error
      }
      await segment.replaceFd(fd)
      segment.spaceBytes = segment.usedBytes
      if (segment.count > 0) await verify(segment, segment.lastEntry)
    }
    this.#dirty = false
  }

  /** Resolves when nothing runs in the background. */
  async idle(): Promise<void> {
    await this.#trimming
  }
}

/** Nothing of the record is left in a file. */
function refusal(error: unknown, what: string): FrazilError {
  const failure = storeFailure(error, what, 'write')
  return failure.code === 'STORE_FULL' ? failure : new FrazilError('LOG_REFUSED', failure.message, error)
}

async function verify(segment: Segment, number: number): Promise<void> {
  const { position, entryBytes, attachmentBytes } = segment.place(number)
  const bytes = await segment.read(position, position + HEADER_BYTES + entryBytes + attachmentBytes)
  const header = decodeHeader(bytes, 0, position, segment.seed)
  const entryEnd = HEADER_BYTES + entryBytes
  const good =
    header !== null &&
    crcOf([bytes.subarray(HEADER_BYTES, entryEnd)]) === header.entryCrc &&
    crcOf([bytes.subarray(entryEnd)]) === header.attachmentCrc
  if (!good) throw new FrazilError('LOG_CORRUPT', `entry ${number} of the metadata log does not read back as it was written`)
}
