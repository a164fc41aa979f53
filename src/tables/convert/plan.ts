import type { TimeSlice } from '../../base/slice.ts'
import type { AbortedTransaction, MarkerExtent, StateView, WalExtent } from '../../metadata/view.ts'

/** What is not converted yet: batches, or the end of a transaction, which gives no row. */
export type SourceExtent = WalExtent | MarkerExtent

/** The next unconverted extents of one partition. Offsets inclusive; `firstOffset` is where its WAL begins now. */
export interface PartitionPlan {
  readonly partition: number
  readonly firstOffset: number
  lastOffset: number
  readonly extents: SourceExtent[]
  /** Aborted transactions that these extents may hold records of, as they were known when the plan was begun (L17). */
  readonly aborted: readonly AbortedTransaction[]
}

export interface ConversionPlan {
  /** Ascending by partition; none when there is nothing to convert. */
  readonly partitions: readonly PartitionPlan[]
  readonly sizeBytes: number
  /** The newest commit time among the extents, -1 when there are none. */
  readonly commitTimeMs: number
  /** False when `maxBytes` ended the plan before the end of the log. */
  readonly complete: boolean
}

interface Source {
  readonly plan: PartitionPlan
  readonly rest: Iterator<SourceExtent>
  next: SourceExtent
}

/** From an offset up to the last stable offset: what lies above it is not decided. */
function* walExtents(state: StateView, topic: number, partition: number, fromOffset: number, end: number): Generator<SourceExtent> {
  for (const extent of state.extents(topic, partition, fromOffset)) {
    if (extent.lastOffset >= end) return
    if (extent.kind !== 'table' && extent.lastOffset >= fromOffset) yield extent
  }
}

/** Markers go along with what stands before them, and first of all where nothing does. */
const ageOf = ({ next }: Source): number => (next.kind === 'wal' ? next.object : 0)
const bytesOf = (extent: SourceExtent): number => (extent.kind === 'wal' ? extent.sizeBytes : 0)

/** Sinks the root of a binary heap by object id: older objects first. */
function sink(heap: Source[]): void {
  for (let at = 0; ;) {
    const left = 2 * at + 1
    if (left >= heap.length) return
    const right = left + 1
    const child = right < heap.length && ageOf(heap[right]!) < ageOf(heap[left]!) ? right : left
    if (ageOf(heap[at]!) <= ageOf(heap[child]!)) return
    const moved = heap[at]!
    heap[at] = heap[child]!
    heap[child] = moved
    at = child
  }
}

/**
 * Chooses what of a topic to convert next: whole extents, oldest WAL object first over all partitions, so that objects
 * become free as early as can be (L14) and each is read once (L15). At least one extent is taken, nothing that reaches the last
 * stable offset. There may be tens of
 * thousands, so the walk goes by slices; what changes meanwhile (a log start, an evacuated object) shows when it is read
 * or committed.
 */
export async function planConversion(
  state: StateView,
  topic: number,
  partitionCount: number,
  maxBytes: number,
  slice: TimeSlice,
): Promise<ConversionPlan> {
  const heap: Source[] = []
  for (let partition = 0; partition < partitionCount; partition++) {
    const firstOffset = state.firstUnconverted(topic, partition)
    const view = state.partition(topic, partition)
    if (view === null || firstOffset >= view.lastStableOffset) continue
    const end = view.lastStableOffset
    const rest = walExtents(state, topic, partition, firstOffset, end)
    const first = rest.next()
    if (first.done === true) continue
    const aborted = state.abortedTransactions(topic, partition, firstOffset, end)
    heap.push({ plan: { partition, firstOffset, lastOffset: firstOffset - 1, extents: [], aborted }, rest, next: first.value })
  }
  heap.sort((a, b) => ageOf(a) - ageOf(b))
  const plans: PartitionPlan[] = []
  let sizeBytes = 0
  let commitTimeMs = -1
  while (heap.length > 0) {
    const source = heap[0]!
    const extent = source.next
    if (sizeBytes > 0 && sizeBytes + bytesOf(extent) > maxBytes) break
    if (source.plan.extents.length === 0) plans.push(source.plan)
    source.plan.extents.push(extent)
    source.plan.lastOffset = extent.lastOffset
    sizeBytes += bytesOf(extent)
    commitTimeMs = Math.max(commitTimeMs, extent.commitTimeMs)
    const pause = slice.step()
    if (pause !== null) await pause
    const following = source.rest.next()
    if (following.done === true) {
      const last = heap.pop()!
      if (heap.length > 0) heap[0] = last
    } else source.next = following.value
    sink(heap)
  }
  plans.sort((a, b) => a.partition - b.partition)
  return { partitions: plans, sizeBytes, commitTimeMs, complete: heap.length === 0 }
}

/** Extents of one partition that follow each other. */
export interface Span {
  readonly partition: number
  /** Rows below it are in the table already. */
  readonly fromOffset: number
  readonly extents: readonly SourceExtent[]
  readonly aborted: readonly AbortedTransaction[]
}

/** One file to write: spans in order of partition and offset. */
export interface FilePlan {
  readonly spans: readonly Span[]
  readonly sizeBytes: number
}

/**
 * Cuts a plan into files of about `fileBytes` of batches, in order of partition and offset. With `apart`, each partition
 * gets files of its own, so that damaged bytes of one do not hold up the others.
 */
export function cutFiles(plan: ConversionPlan, fileBytes: number, apart: boolean): FilePlan[] {
  const files: { spans: Span[]; sizeBytes: number }[] = []
  let open: (typeof files)[number] | null = null
  for (const { partition, firstOffset, extents, aborted } of plan.partitions) {
    if (apart) open = null
    let from = 0
    for (let at = 0; at < extents.length; at++) {
      const sizeBytes = bytesOf(extents[at]!)
      if (open === null || (open.sizeBytes > 0 && open.sizeBytes + sizeBytes > fileBytes)) {
        if (at > from) open!.spans.push(spanOf(partition, firstOffset, extents.slice(from, at), aborted))
        open = { spans: [], sizeBytes: 0 }
        files.push(open)
        from = at
      }
      open.sizeBytes += sizeBytes
    }
    if (extents.length > from) open!.spans.push(spanOf(partition, firstOffset, extents.slice(from), aborted))
  }
  return files
}

function spanOf(partition: number, firstOffset: number, extents: readonly SourceExtent[], aborted: Span['aborted']): Span {
  return { partition, fromOffset: Math.max(firstOffset, extents[0]!.firstOffset), extents, aborted }
}

/** Offsets of each partition that a file covers; inclusive. A file has at most one span of a partition. */
export function coverage(file: FilePlan): { partition: number; firstOffset: number; lastOffset: number }[] {
  return file.spans.map(({ partition, fromOffset, extents }) => ({
    partition,
    firstOffset: fromOffset,
    lastOffset: extents.at(-1)!.lastOffset,
  }))
}

/**
 * Of files of which some failed, those that can be committed: every partition stays contiguous from its first
 * unconverted offset on (hazard J18). Returns their indexes and the joined ranges.
 */
export function committable(
  files: readonly FilePlan[],
  made: readonly boolean[],
): { indexes: number[]; ranges: { partition: number; firstOffset: number; lastOffset: number }[] } {
  const taken = new Map<number, { partition: number; firstOffset: number; lastOffset: number }>()
  const blocked = new Set<number>()
  const indexes: number[] = []
  for (const [index, file] of files.entries()) {
    const ranges = coverage(file)
    if (made[index] !== true || ranges.some((range) => blocked.has(range.partition))) {
      for (const range of ranges) blocked.add(range.partition)
      continue
    }
    indexes.push(index)
    for (const range of ranges) {
      const known = taken.get(range.partition)
      if (known === undefined) taken.set(range.partition, { ...range })
      else known.lastOffset = range.lastOffset
    }
  }
  return { indexes, ranges: [...taken.values()].toSorted((a, b) => a.partition - b.partition) }
}
