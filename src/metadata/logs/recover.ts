import { crc32c } from '@node-rs/crc32'
import { FrazilError } from '../../base/errors.ts'
import { readInto, type Files } from '../../storage/files.ts'
import { align, countZeroSectors, decodeHeader, HEADER_BYTES, isZero } from './frame.ts'
import type { Segment } from './segment.ts'
import type { SegmentFiles } from './segmentFiles.ts'

const WINDOW_BYTES = 64 * 1024
const SCANS_AT_ONCE = 4

function corrupt(segment: Segment, number: number, position: number, what: string): FrazilError {
  return new FrazilError(
    'LOG_CORRUPT',
    `the metadata log is damaged: entry ${number} in ${segment.path} at byte ${position} ${what}; it may have been acknowledged, so the log is not cut there`,
  )
}

/**
 * Finds the entries of a segment that has a successor. All up to `lastEntry` must be there, since a file is begun only when
 * all before it is durable, and none behind. Reads headers only; `read` checks an entry's bytes when it gives them out.
 */
export async function scanSealed(files: Files, segment: Segment, lastEntry: number): Promise<void> {
  const window = Buffer.allocUnsafe(WINDOW_BYTES)
  let windowStart = 0
  let windowBytes = 0
  for (let number = segment.firstEntry; number <= lastEntry + 1; number++) {
    const position = segment.usedBytes
    if (position < windowStart || position + HEADER_BYTES > windowStart + windowBytes) {
      windowStart = position
      windowBytes = await readInto(files, segment.fd, window, position)
    }
    const at = position - windowStart
    const header = windowBytes - at >= HEADER_BYTES ? decodeHeader(window, at, position, segment.seed) : null
    if (number > lastEntry) {
      if (header !== null) throw corrupt(segment, number, position, 'is there although the next file begins with that entry')
      return
    }
    if (header === null || header.number !== number) throw corrupt(segment, number, position, 'is missing or has a bad header')
    segment.add({ position, entryBytes: header.entryBytes, attachmentBytes: header.attachmentBytes })
    segment.usedBytes = align(position + HEADER_BYTES + header.entryBytes + header.attachmentBytes)
  }
}

/**
 * Finds the entries of the last segment, whose whole content is `bytes`, and where they end. Returns true when something
 * stands behind that end which was provably never acknowledged and has to be wiped before the next append. The rules, and
 * why they are sound, are in docs/FORMATS.md, "Folder log". Errors: LOG_CORRUPT.
 */
export function scanLast(segment: Segment, bytes: Buffer): boolean {
  for (;;) {
    const position = segment.usedBytes
    const number = segment.firstEntry + segment.count
    if (position + HEADER_BYTES > bytes.length) return position < bytes.length && !isZero(bytes, position, bytes.length)
    const header = decodeHeader(bytes, position, position, segment.seed)
    if (header === null) {
      const rest = position + HEADER_BYTES
      if (!isZero(bytes, position, rest)) throw corrupt(segment, number, position, 'has a bad header')
      if (isZero(bytes, rest, bytes.length)) return false
      // The sector with the header did not come to disk, later ones did. Unless a later record stands there: it was begun,
      // so this one was acknowledged.
      if (findRecord(segment, bytes, rest)) throw corrupt(segment, number, position, 'is gone, and later ones are there')
      return true
    }
    if (header.number !== number) throw corrupt(segment, number, position, `has the number ${header.number}`)
    const entryStart = position + HEADER_BYTES
    const entryEnd = entryStart + header.entryBytes
    const end = entryEnd + header.attachmentBytes
    if (end > bytes.length) return true // short: its write never ended
    const whole =
      crc32c(bytes.subarray(entryStart, entryEnd)) === header.entryCrc && crc32c(bytes.subarray(entryEnd, end)) === header.attachmentCrc
    if (!whole) {
      if (!isZero(bytes, end, bytes.length)) throw corrupt(segment, number, position, 'has a bad checksum, and later ones are there')
      // A sector that should hold something and is blank was never written. With none such, every byte came to disk once.
      if (countZeroSectors([bytes.subarray(entryStart, end)], entryStart) > header.zeroSectors) return true
      throw corrupt(segment, number, position, 'is there in full length and has a bad checksum')
    }
    segment.add({ position, entryBytes: header.entryBytes, attachmentBytes: header.attachmentBytes })
    segment.usedBytes = align(end)
  }
}

/** True when a record of this segment begins anywhere from `from` on. */
function findRecord(segment: Segment, bytes: Buffer, from: number): boolean {
  for (let at = align(from); at + HEADER_BYTES <= bytes.length; at = align(at + 1)) {
    if (decodeHeader(bytes, at, at, segment.seed) !== null) return true
  }
  return false
}

/**
 * Opens the files of the log and finds all entries and the end. `wipe`: something that is no entry stands behind the end.
 * Errors: LOG_CORRUPT; nothing stays open then.
 */
export async function loadSegments(
  files: Files,
  segmentFiles: SegmentFiles,
  floor: number,
): Promise<{ readonly segments: Segment[]; readonly end: number; readonly wipe: boolean }> {
  const firsts = await dropBelow(segmentFiles, await segmentFiles.list(), floor)
  if (firsts.length === 0) return { segments: [], end: 0, wipe: false }
  if (firsts[0] > floor) {
    throw new FrazilError(
      'LOG_CORRUPT',
      `the metadata log begins at entry ${firsts[0]}, but ${floor} to ${firsts[0] - 1} were never truncated`,
    )
  }
  const segments: Segment[] = []
  try {
    let end = firsts.at(-1)! - 1
    let blank = false
    for (const first of firsts) {
      const segment = await segmentFiles.open(first)
      blank = segment === 'blank' && first === end + 1
      // The last file got its name but no entry: it is made anew by the next append.
      if (blank) await segmentFiles.remove(segmentFiles.pathOf(first))
      else if (segment === null || segment === 'blank')
        throw new FrazilError('LOG_CORRUPT', `the log file ${segmentFiles.pathOf(first)} has a bad head`)
      else segments.push(segment)
    }
    const sealed = blank ? segments : segments.slice(0, -1)
    await scanAll(files, sealed, (i) => (i + 1 < segments.length ? segments[i + 1].firstEntry - 1 : end))
    if (blank) return { segments, end, wipe: false }
    const last = segments.at(-1)!
    const size = Number((await files.statOpen(last.fd)).size)
    const wipe = scanLast(last, await last.read(0, size))
    last.spaceBytes = size
    end = last.lastEntry
    return { segments, end, wipe }
  } catch (error) {
    await Promise.all(segments.map((segment) => segment.retire()))
    throw error
  }
}

/** Finishes a truncation that was cut short: files wholly below the floor go. */
async function dropBelow(segmentFiles: SegmentFiles, firsts: readonly number[], floor: number): Promise<readonly number[]> {
  let kept = 0
  while (kept + 1 < firsts.length && firsts[kept + 1] <= floor) await segmentFiles.remove(segmentFiles.pathOf(firsts[kept++]))
  return firsts.slice(kept)
}

async function scanAll(files: Files, segments: readonly Segment[], lastEntry: (i: number) => number): Promise<void> {
  const queue = segments.entries()
  const work = async (): Promise<void> => {
    for (const [i, segment] of queue) await scanSealed(files, segment, lastEntry(i))
  }
  // All of them come to an end before an error is thrown, since the files are closed then.
  const done = await Promise.allSettled(Array.from({ length: SCANS_AT_ONCE }, work))
  for (const result of done) if (result.status === 'rejected') throw result.reason
}
