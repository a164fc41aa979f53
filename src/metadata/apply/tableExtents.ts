import type { FileRange } from '../commands.ts'
import type { TableRow } from '../state/tables.ts'
import type { TopicRow } from '../state/topics.ts'
import type { Context } from './context.ts'
import { freeExtent } from './extents.ts'

export interface RangeOfFile {
  readonly file: number
  readonly range: FileRange
}

/** What a CommitTable does to one partition. */
export interface PartitionChange {
  readonly partition: number
  /** -1 when there is no such partition. */
  readonly slot: number
  readonly converted: { readonly firstOffset: number; readonly lastOffset: number }[]
  readonly added: RangeOfFile[]
  readonly removed: RangeOfFile[]
  /** All files that the command removes. */
  readonly removedFiles: ReadonlySet<number>
}

interface NewExtent {
  firstOffset: number
  lastOffset: number
  maxTimestampMs: number
  originalBytes: number
  commitTimeMs: number
  files: number[]
}

/** Extents at positions [from, to) give way to new ones; `converted` is how many then are in the table. */
export interface PartitionPlan {
  readonly slot: number
  readonly from: number
  readonly to: number
  readonly extents: readonly NewExtent[]
  readonly converted: number
}

/** Checks one partition's part of a CommitTable without changing anything; a string says why it is refused. */
export function planPartition(context: Context, table: TableRow, change: PartitionChange): PartitionPlan | string {
  const { slot, partition } = change
  if (slot < 0) return `there is no partition ${partition}`
  const { parts } = context.rooms
  const start = parts.logStartOffset.get(slot)
  const converted = parts.converted.get(slot)
  const walTo = endOfConversion(context, change)
  if (typeof walTo === 'string') return walTo
  const wrong = checkRanges(change, start)
  if (wrong !== null) return wrong

  const live = change.added.filter(({ range }) => range.lastOffset >= start)
  // Of removed files also ranges below the log start: an extent of several files may still name them.
  const touched = [...live, ...change.removed].map(({ range }) => range)
  let from = walTo > converted ? converted : Infinity
  let to = walTo > converted ? walTo : -1
  if (touched.length > 0) {
    const low = touched.reduce((least, range) => Math.min(least, range.firstOffset), Infinity)
    const high = touched.reduce((most, range) => Math.max(most, range.lastOffset), -1)
    const after = parts.find(slot, high)
    const reaches = after < parts.extentCount(slot) && parts.extents.firstOffset.get(parts.index(slot)!.at(after)) <= high
    from = Math.min(from, parts.find(slot, low))
    to = Math.max(to, reaches ? after + 1 : after, from)
  }
  if (to < 0) return { slot, from: 0, to: 0, extents: [], converted }
  if (to > Math.max(walTo, converted)) return `a range of partition ${partition} reaches into what is not converted`
  return {
    slot,
    from,
    to,
    extents: newExtents(context, table, change, live, from, to),
    converted: Math.max(walTo, converted) - (to - from),
  }
}

/**
 * The position after the last WAL extent that is converted (the first unconverted one when nothing is). Conversion goes
 * on where the last one ended and ends where an extent ends; offsets below the log start may be gone on either side.
 */
function endOfConversion(context: Context, { slot, partition, converted: ranges }: PartitionChange): number | string {
  const { parts } = context.rooms
  const converted = parts.converted.get(slot)
  if (ranges.length === 0) return converted
  for (let i = 0; i < ranges.length; i++) {
    const follows = i === 0 || ranges[i].firstOffset === ranges[i - 1].lastOffset + 1
    if (!follows || ranges[i].firstOffset > ranges[i].lastOffset)
      return `the converted ranges of partition ${partition} are not one after the other`
  }
  const start = parts.logStartOffset.get(slot)
  const first = ranges[0].firstOffset
  const last = ranges[ranges.length - 1].lastOffset
  if (last >= parts.endOffset.get(slot)) return `partition ${partition} has no offset ${last}`
  if (last < start) return converted
  const open = context.rooms.transactions.open.first(slot)
  if (open >= 0 && last >= open) return `partition ${partition} has an open transaction from offset ${open} on`
  const index = parts.index(slot)
  if (index === null || converted === index.length) return `partition ${partition} is converted already`
  const walFirst = parts.extents.firstOffset.get(index.at(converted))
  const begins = first === walFirst || (first < walFirst ? walFirst <= start : first <= start)
  if (!begins) return `partition ${partition} is to be converted from ${walFirst} on, not from ${first}`
  const position = parts.find(slot, last)
  if (position < converted || parts.extents.lastOffset.get(index.at(position)) !== last)
    return `no WAL extent of partition ${partition} ends at ${last}`
  return position + 1
}

/** Added ranges lie where rows are converted or replaced; what is removed and still readable is replaced. */
function checkRanges({ partition, converted, added, removed }: PartitionChange, start: number): string | null {
  const sources = [...converted, ...removed.map(({ range }) => range)]
  const low = sources.reduce((least, range) => Math.min(least, range.firstOffset), Infinity)
  const high = sources.reduce((most, range) => Math.max(most, range.lastOffset), -1)
  for (const { range } of added) {
    if (range.firstOffset > range.lastOffset) return `a range of partition ${partition} ends before it begins`
    if (range.firstOffset < low || range.lastOffset > high)
      return `added rows of partition ${partition} come from nowhere: ${range.firstOffset}-${range.lastOffset}`
  }
  const cover = added.map(({ range }) => range).sort((a, b) => a.firstOffset - b.firstOffset)
  for (const { file, range } of removed) {
    let next = Math.max(range.firstOffset, start)
    for (const { firstOffset, lastOffset } of cover) if (firstOffset <= next) next = Math.max(next, lastOffset + 1)
    if (next <= range.lastOffset) return `file ${file} still serves offset ${next} of partition ${partition}`
  }
  return null
}

/** Ranges of all files that then hold rows of [from, to), overlapping ones joined (T10). */
function newExtents(
  context: Context,
  table: TableRow,
  change: PartitionChange,
  live: readonly RangeOfFile[],
  from: number,
  to: number,
): NewExtent[] {
  const { parts } = context.rooms
  const { extents } = parts
  const index = parts.index(change.slot)
  const start = parts.logStartOffset.get(change.slot)
  const ranges = [...live]
  const kept = new Set<number>()
  for (let i = from; i < to; i++) {
    const extent = index!.at(i)
    if (!extents.isTable(extent)) continue
    for (const file of extents.files(extent)) if (!change.removedFiles.has(file)) kept.add(file)
  }
  if (kept.size > 0) {
    const low = extents.firstOffset.get(index!.at(from))
    const high = extents.lastOffset.get(index!.at(to - 1))
    for (const file of kept) {
      for (const range of table.fileRows.get(file)!.ranges) {
        const within = range.partition === change.partition && range.lastOffset >= low && range.firstOffset <= high
        if (within && range.lastOffset >= start) ranges.push({ file, range })
      }
    }
  }
  ranges.sort((a, b) => a.range.firstOffset - b.range.firstOffset || a.file - b.file)
  const joined: NewExtent[] = []
  for (const { file, range } of ranges) {
    const last = joined[joined.length - 1]
    if (last !== undefined && range.firstOffset <= last.lastOffset) {
      last.lastOffset = Math.max(last.lastOffset, range.lastOffset)
      last.maxTimestampMs = Math.max(last.maxTimestampMs, range.maxTimestampMs)
      last.originalBytes += range.originalBytes
      if (!last.files.includes(file)) last.files.push(file)
      continue
    }
    const { firstOffset, lastOffset, maxTimestampMs, originalBytes } = range
    joined.push({ firstOffset, lastOffset, maxTimestampMs, originalBytes, commitTimeMs: -1, files: [file] })
  }
  for (const extent of joined) {
    extent.files.sort((a, b) => a - b)
    extent.commitTimeMs = newestCommit(context, change.slot, extent, from, to)
  }
  return joined
}

/** Commit time of the youngest records that the old extents hold in this range. */
function newestCommit(context: Context, slot: number, { firstOffset, lastOffset }: NewExtent, from: number, to: number): number {
  const { parts } = context.rooms
  const { extents } = parts
  const index = parts.index(slot)
  let newest = -1
  for (let i = Math.max(from, parts.find(slot, firstOffset)); i < to && extents.firstOffset.get(index!.at(i)) <= lastOffset; i++) {
    newest = Math.max(newest, extents.commitTimeMs.get(index!.at(i)))
  }
  return newest < 0 ? context.timeMs : newest
}

export function carryOutPlan(context: Context, topic: TopicRow, { slot, from, to, extents: added, converted }: PartitionPlan): void {
  if (from === to && added.length === 0) return
  const { parts } = context.rooms
  const index = parts.indexForWrite(slot)
  for (let i = from; i < to; i++) freeExtent(context, topic, slot, index.at(i))
  const slots = added.map((extent) => {
    parts.bytes.add(slot, extent.originalBytes)
    return parts.extents.addTable(
      extent.firstOffset,
      extent.lastOffset,
      extent.maxTimestampMs,
      extent.originalBytes,
      extent.commitTimeMs,
      extent.files,
    )
  })
  index.replace(from, to, slots)
  parts.converted.set(slot, converted + slots.length)
  context.rooms.transactions.aborted.dropBelow(slot, parts.firstUnconverted(slot))
}
