import { crc32c } from '@node-rs/crc32'
import { FrazilError } from '../../base/errors.ts'
import type { RawEntry } from '../entryLog.ts'
import { decodeHeader, HEADER_BYTES } from './frame.ts'
import type { Segment } from './segment.ts'

const RUN_BYTES = 256 * 1024
const GAP_BYTES = 64 * 1024 // an attachment up to this size is read over, a bigger one skipped
const RUNS_AHEAD = 4

interface Run {
  readonly segment: Segment
  readonly first: number
  readonly last: number
  readonly start: number
  readonly bytes: Promise<Buffer>
}

/** Entries from `from` until `end()`, in order, with several reads under way. Errors: STORE_NOT_FOUND, LOG_CORRUPT. */
export async function* readEntries(log: {
  readonly from: number
  readonly end: () => number
  readonly find: (number: number) => Segment
}): AsyncGenerator<RawEntry> {
  const runs: Run[] = []
  let next = log.from
  for (;;) {
    while (runs.length < RUNS_AHEAD && next <= log.end()) {
      const run = begin(log.find(next), next)
      // Its error is thrown when its turn comes; until then, or when the reader stops early, it must not end the process.
      run.bytes.catch(() => undefined)
      runs.push(run)
      next = run.last + 1
    }
    const run = runs.shift()
    if (run === undefined) return
    const bytes = await run.bytes
    for (let number = run.first; number <= run.last; number++) yield entry(run, bytes, number)
  }
}

/** As many entries of one segment as one read should take. */
function begin(segment: Segment, first: number): Run {
  const start = segment.place(first).position
  let last = first
  let end = entryEnd(segment, first)
  while (last < segment.lastEntry) {
    const nextEnd = entryEnd(segment, last + 1)
    if (nextEnd - start > RUN_BYTES || segment.place(last + 1).position - end > GAP_BYTES) break
    last++
    end = nextEnd
  }
  return { segment, first, last, start, bytes: segment.read(start, end) }
}

function entryEnd(segment: Segment, number: number): number {
  const { position, entryBytes } = segment.place(number)
  return position + HEADER_BYTES + entryBytes
}

function entry(run: Run, bytes: Buffer, number: number): RawEntry {
  const { position, entryBytes, attachmentBytes } = run.segment.place(number)
  const at = position - run.start
  const header = decodeHeader(bytes, at, position, run.segment.seed)
  const content = bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + entryBytes)
  if (header === null || header.number !== number || header.entryCrc !== crc32c(content)) {
    throw new FrazilError('LOG_CORRUPT', `the metadata log is damaged: entry ${number} in ${run.segment.path} has a bad checksum`)
  }
  return { number, bytes: content, attachmentBytes }
}
