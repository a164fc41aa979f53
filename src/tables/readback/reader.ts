import type { LoadingRows, TableReader, TableRows } from '../../log/port.ts'
import type { TableFile } from '../../metadata/view.ts'
import type { FileIndex } from '../parquet/fileIndex.ts'
import { DecodedGroup } from './cache.ts'
import { chainsOf, type Chain, type Segment } from './chain.ts'
import { Groups, type GroupsOptions } from './groups.ts'
import { Merge, Run, firstByTime } from './select.ts'

type ReadRequest = Parameters<TableReader['read']>[0]
type NowRequest = Parameters<TableReader['readNow']>[0]
type TimeRequest = Parameters<TableReader['findByTime']>[0]

interface Opened {
  readonly group: DecodedGroup
  /** null: it has nothing of the partition from the offset on. */
  readonly run: Run | null
}

interface Selected extends TableRows {
  readonly opened: readonly Opened[]
  /** Where the last batches came from. */
  readonly last: Chain | null
  /** The row group that would be next, and is not in memory. */
  readonly missing: Segment | null
}

const NOTHING = new DecodedGroup({
  partitions: new Int32Array(0),
  firstOffsets: new Float64Array(0),
  lastOffsets: new Float64Array(0),
  maxTimestampsMs: new Float64Array(0),
  batches: [],
})

/** The TableReader over Parquet files (src/log/port.ts). */
export class FileTableReader implements TableReader {
  readonly #groups: Groups

  constructor(options: GroupsOptions) {
    this.#groups = new Groups(options)
  }

  /** Gets ready for the first read, which is slow otherwise. */
  warm(): void {
    this.#groups.warm()
  }

  async read(request: ReadRequest): Promise<TableRows> {
    const files = relevant(request)
    const indexes = await Promise.all(files.map((file) => this.#groups.index(file)))
    // What was loaded for this read is there when it begins anew, whatever else goes on.
    const loaded = new Map<Segment, DecodedGroup>()
    const chains = chainsOf(files, indexes, request.partition, request.fromOffset, request.lastOffset)
    for (;;) {
      const found = this.#select(
        request,
        chains.map((chain) => chain.again()),
        true,
        (segment) => loaded.get(segment) ?? this.#known(segment),
      )
      const { missing } = found
      if (missing === null || found.batches.length > 0) return this.#finish(request, found)
      const group = await this.#groups.group(missing.file, missing.index, missing.group)
      loaded.set(missing, Run.open(group.list, request.partition, request.fromOffset) === null ? NOTHING : group)
    }
  }

  readNow(request: NowRequest): TableRows | LoadingRows | null {
    const { partition, fromOffset, lastOffset, minOne } = request
    const files = relevant(request)
    const indexes: FileIndex[] = []
    for (const file of files) {
      const index = this.#groups.knownIndex(file)
      if (index === null) return this.#groups.askIndex(file)
      indexes.push(index)
    }
    const chains = chainsOf(files, indexes, partition, fromOffset, lastOffset)
    const found = this.#select(request, chains, minOne, (segment) => this.#known(segment))
    const { missing } = found
    if (missing === null || found.batches.length > 0) return this.#finish(request, found)
    for (const { group, run } of found.opened) if (run === null) this.#groups.served(group, partition, 0, 0, true)
    return this.#groups.ask(missing.file, missing.index, missing.group, partition)
  }

  async findByTime(request: TimeRequest): Promise<{ readonly offset: number; readonly timestampMs: number } | null> {
    const { partition, fromOffset, timestampMs } = request
    const files = relevant({ ...request, lastOffset: Infinity })
    const indexes = await Promise.all(files.map((file) => this.#groups.index(file)))
    const chains = chainsOf(files, indexes, partition, fromOffset, Infinity)
    let best: { offset: number; timestampMs: number } | null = null
    for (;;) {
      const chain = lowest(chains)
      if (chain === null || (best !== null && chain.lower > best.offset)) return best
      const { file, index, group } = chain.next!
      if (index.groups[group].maxTimestampMs < timestampMs) {
        chain.open(null)
        continue
      }
      const { list } = await this.#groups.group(file, index, group)
      chain.open(null)
      for (let i = 0; i < list.batches.length; i++) {
        if (list.partitions[i] !== partition || list.lastOffsets[i] < fromOffset || list.maxTimestampsMs[i] < timestampMs) continue
        const found = firstByTime(list.batches[i], list.firstOffsets[i], fromOffset, timestampMs)
        if (found === null) continue
        if (best === null || found.offset < best.offset) best = found
        break
      }
    }
  }

  close(): Promise<void> {
    return this.#groups.close()
  }

  #known({ file, group }: Segment): DecodedGroup | null {
    return this.#groups.known(file, group)
  }

  /** Batches from the row groups that `find` has; it ends at the first that is missing. */
  #select(
    { partition, fromOffset, lastOffset, maxBytes }: ReadRequest,
    chains: readonly Chain[],
    minOne: boolean,
    find: (segment: Segment) => DecodedGroup | null,
  ): Selected {
    const batches: Uint8Array[] = []
    const opened: Opened[] = []
    const merge = new Merge(batches)
    let wholeBytes = 0
    let served = fromOffset - 1
    let last: Chain | null = null
    let missing: Segment | null = null
    for (;;) {
      const sizeBytes = wholeBytes + merge.sizeBytes
      if (sizeBytes > 0 && sizeBytes >= maxBytes) break
      const closed = lowest(chains)
      const limit = Math.min(lastOffset + 1, closed?.lower ?? Infinity)
      const chain = leastHead(chains)
      const run = chain?.run ?? null
      if (run === null || run.head >= limit) {
        if (closed === null || closed.lower > lastOffset) {
          served = lastOffset
          break
        }
        const segment = closed.next!
        const group = find(segment)
        if (group === null) {
          // Everything below the row group that is not loaded yet was served, or is a hole.
          served = Math.max(served, closed.lower - 1)
          missing = segment
          break
        }
        const next = Run.open(group.list, partition, fromOffset)
        opened.push({ group, run: next })
        closed.open(next)
        continue
      }
      last = chain
      const others = chains.reduce((least, other) => (other !== chain && other.isActive ? Math.min(least, other.run!.head) : least), limit)
      if (!run.isWhole || run.lastOffset >= others) {
        run.take(merge, fromOffset, others, Math.max(1, maxBytes - wholeBytes))
        served = Math.max(served, merge.lastOffset)
      } else if (merge.isOpen) merge.finish()
      else {
        if ((sizeBytes > 0 || !minOne) && sizeBytes + run.batch.length > maxBytes) break
        batches.push(run.batch)
        wholeBytes += run.batch.length
        served = run.lastOffset
        run.nextBatch()
      }
    }
    merge.finish()
    return { batches, nextOffset: Math.max(served + 1, fromOffset), opened, last, missing }
  }

  /** Notes what was served, and asks for the next row group while the consumer has the last part of this one to read. */
  #finish({ partition }: ReadRequest, { batches, nextOffset, opened, last, missing }: Selected): TableRows {
    for (const { group, run } of opened) {
      if (run === null) this.#groups.served(group, partition, 0, 0, true)
      else this.#groups.served(group, partition, run.from, run.at, run.isDone)
    }
    const run = last?.run ?? null
    const ahead = missing ?? (run !== null && run.left * 2 <= run.size ? last!.next : null)
    if (ahead !== null && this.#known(ahead) === null) this.#groups.ask(ahead.file, ahead.index, ahead.group, partition)
    return { batches, nextOffset }
  }
}

function relevant({ files, partition, fromOffset, lastOffset }: Omit<ReadRequest, 'maxBytes'>): TableFile[] {
  return files.filter((file) =>
    file.ranges.some((range) => range.partition === partition && range.firstOffset <= lastOffset && range.lastOffset >= fromOffset),
  )
}

/** The chain whose next row group has the lowest bound, or null when none is left to open. */
function lowest(chains: readonly Chain[]): Chain | null {
  let best: Chain | null = null
  for (const chain of chains) if (chain.lower < (best?.lower ?? Infinity)) best = chain
  return best
}

/** The chain whose open row group has the next record. */
function leastHead(chains: readonly Chain[]): Chain | null {
  let best: Chain | null = null
  for (const chain of chains) if (chain.isActive && (best === null || chain.run!.head < best.run!.head)) best = chain
  return best
}
