import type { Logger } from '../../base/log.ts'
import type { TableReader } from '../../log/port.ts'
import type { TableFile } from '../../metadata/view.ts'
import { chainsOf, type Chain } from './chain.ts'
import { Groups, type GroupsOptions } from './groups.ts'
import { Merge, Run, firstByTime } from './select.ts'

/** Row groups that one read may get from the store, so that a fetch stays short (at most 2 gets warm, 4 cold). */
const LOADS_PER_READ = 2

export interface FileTableReaderOptions extends GroupsOptions {
  readonly logger: Logger
}

type ReadRequest = Parameters<TableReader['read']>[0]
type TimeRequest = Parameters<TableReader['findByTime']>[0]

/** The TableReader over Parquet files (src/log/port.ts). */
export class FileTableReader implements TableReader {
  readonly #groups: Groups
  readonly #logger: Logger

  constructor(options: FileTableReaderOptions) {
    this.#groups = new Groups(options)
    this.#logger = options.logger
  }

  async read(request: ReadRequest): Promise<{ readonly batches: readonly Uint8Array[]; readonly nextOffset: number }> {
    const { partition, fromOffset, lastOffset, maxBytes } = request
    const chains = await this.#chains(request.files, partition, fromOffset, lastOffset)
    const batches: Uint8Array[] = []
    const merge = new Merge(batches)
    let wholeBytes = 0
    let served = fromOffset - 1
    let loads = 0
    let last: Chain | null = null
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
        const { file, index, group } = closed.next!
        if (!this.#groups.has(file, group) && ++loads > LOADS_PER_READ && sizeBytes > 0) {
          // Everything below the row group that is not loaded yet was served, or is a hole.
          served = Math.max(served, closed.lower - 1)
          break
        }
        closed.open(Run.open(await this.#groups.batches(file, index, group), partition, fromOffset))
        continue
      }
      last = chain
      const others = chains.reduce((least, other) => (other !== chain && other.isActive ? Math.min(least, other.run!.head) : least), limit)
      if (!run.isWhole || run.lastOffset >= others) {
        run.take(merge, fromOffset, others, Math.max(1, maxBytes - wholeBytes))
        served = Math.max(served, merge.lastOffset)
      } else if (merge.isOpen) merge.finish()
      else {
        if (sizeBytes > 0 && sizeBytes + run.batch.length > maxBytes) break
        batches.push(run.batch)
        wholeBytes += run.batch.length
        served = run.lastOffset
        run.nextBatch()
      }
    }
    merge.finish()
    if (last !== null && loads < LOADS_PER_READ) this.#readAhead(last)
    return { batches, nextOffset: Math.max(served + 1, fromOffset) }
  }

  async findByTime(request: TimeRequest): Promise<{ readonly offset: number; readonly timestampMs: number } | null> {
    const { partition, fromOffset, timestampMs } = request
    const chains = await this.#chains(request.files, partition, fromOffset, Infinity)
    let best: { offset: number; timestampMs: number } | null = null
    for (;;) {
      const chain = lowest(chains)
      if (chain === null || (best !== null && chain.lower > best.offset)) return best
      const { file, index, group } = chain.next!
      if (index.groups[group].maxTimestampMs < timestampMs) {
        chain.open(null)
        continue
      }
      const list = await this.#groups.batches(file, index, group)
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

  async #chains(files: readonly TableFile[], partition: number, fromOffset: number, lastOffset: number): Promise<Chain[]> {
    const relevant = files.filter((file) =>
      file.ranges.some((range) => range.partition === partition && range.firstOffset <= lastOffset && range.lastOffset >= fromOffset),
    )
    const indexes = await Promise.all(relevant.map((file) => this.#groups.index(file)))
    return chainsOf(relevant, indexes, partition, fromOffset, lastOffset)
  }

  /** Loads the next row group while the consumer still has the last part of this one to read. */
  #readAhead(chain: Chain): void {
    const { run, next } = chain
    if (run === null || next === null || run.left * 2 > run.size || this.#groups.has(next.file, next.group)) return
    this.#groups.batches(next.file, next.index, next.group).catch((error: unknown) => {
      // The read that needs the row group will meet the error itself.
      this.#logger.debug({ key: next.file.key, group: next.group, error: String(error) }, 'reading ahead failed')
    })
  }
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
