import type { Clock } from '../base/clock.ts'
import { hasCode } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import { Errors } from '../../protocol/errors.ts'
import type { Metadata } from '../metadata/port.ts'
import { availableBytes, availableBytesMost } from './available.ts'
import type { ByteBudget } from './budget.ts'
import type { ReadBatches, PartitionReader } from './partitionReader.ts'
import type { FetchedPartition, FetchPartition, LoadingRows, Log } from './port.ts'
import type { Waiters } from './waiters.ts'

export interface FetchOptions {
  readonly metadata: Metadata
  readonly clock: Clock
  readonly logger: Logger
  readonly reader: PartitionReader
  readonly waiters: Waiters
  /** Memory of reads that run at a time, over all fetches. */
  readonly budget: ByteBudget
  /** Upper bound of one answer (`fetch.max.bytes`). */
  readonly maxBytes: number
  /** How much one answer may hold now; looked at when it is read, as a fetch may have waited long. */
  readonly roomBytes: () => number
  readonly failed: (reason: string) => void
}

type Request = Parameters<Log['fetch']>[0]

type Found = ReadBatches | number | null

/** How long a fetch waits for its turn when all that it asks for stands in line: what its client has may be what holds it up. */
const LINE_MS = 20
/** Rows that were loaded and turned out to be holes this many times are read in one go, whatever memory that takes. */
const LOAD_ROUNDS = 4

const NONE: FetchedPartition['abortedTransactions'] = []
const EMPTY: readonly Uint8Array[] = []

/** Fetch by the rules of KIP-74, and the wait for `minBytes` (K: ReplicaManager.readFromLog, DelayedFetch). */
export class Fetcher {
  readonly #options: FetchOptions

  constructor(options: FetchOptions) {
    this.#options = options
  }

  /** See Log.fetch. */
  async fetch(request: Request): Promise<readonly FetchedPartition[]> {
    const { partitions, signal } = request
    const { clock, metadata } = this.#options
    const maxBytes = Math.max(0, Math.min(request.maxBytes, this.#options.maxBytes))
    const minBytes = Math.min(request.minBytes, maxBytes)
    const deadlineMs = clock.monotonicMs() + request.maxWaitMs
    // Another pod may have appended or trimmed: out of range is said only after a look at the log's end (L8).
    if (partitions.some((wanted) => this.#errorOf(wanted) === Errors.OFFSET_OUT_OF_RANGE)) await metadata.barrier()
    if (partitions.length === 0 || partitions.some((wanted) => this.#errorOf(wanted) !== Errors.NONE))
      return (await this.#read(partitions, maxBytes, signal)).fetched
    for (let hole = false; ;) {
      if (signal.aborted) return this.#assemble(partitions, maxBytes, [])
      const over = minBytes <= 0 || clock.monotonicMs() >= deadlineMs
      if (over || (!hole && this.#available(partitions, minBytes) >= minBytes)) {
        const ends = this.#ends(partitions)
        const { fetched, isInLine } = await this.#read(partitions, maxBytes, signal)
        // Nothing yet, although there is something: the client asks again, perhaps for what is in memory.
        if (over || isInLine || fetched.some((one) => one.sizeBytes > 0 || one.error !== Errors.NONE)) return fetched
        // Only a hole is left up to the end: what can come is an append.
        hole = this.#ends(partitions) === ends
        if (!hole) continue
      }
      await this.#wait(partitions, minBytes, deadlineMs - clock.monotonicMs(), signal)
      hole = false
    }
  }

  #ends(partitions: readonly FetchPartition[]): number {
    return partitions.reduce(
      (sum, { topic, partition }) => sum + (this.#options.metadata.state.partition(topic, partition)?.endOffset ?? 0),
      0,
    )
  }

  #errorOf({ topic, partition, fetchOffset }: FetchPartition): number {
    const view = this.#options.metadata.state.partition(topic, partition)
    if (view === null) return Errors.UNKNOWN_TOPIC_OR_PARTITION
    return fetchOffset < view.logStartOffset || fetchOffset > view.endOffset ? Errors.OFFSET_OUT_OF_RANGE : Errors.NONE
  }

  #available(partitions: readonly FetchPartition[], enough: number): number {
    let sum = 0
    for (const wanted of partitions) {
      sum += availableBytes(this.#options.metadata.state, wanted)
      if (sum >= enough) break
    }
    return sum
  }

  /** Resolves when appends have made up `minBytes`, when the time is over, or when the client is gone. */
  #wait(partitions: readonly FetchPartition[], minBytes: number, waitMs: number, signal: AbortSignal): Promise<void> {
    const { state } = this.#options.metadata
    return new Promise((resolve) => {
      const bytes = partitions.map((wanted) => availableBytes(state, wanted))
      let sum = bytes.reduce((a, b) => a + b, 0)
      const done = (): void => {
        unpark()
        timer.cancel()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const unpark = this.#options.waiters.park({
        partitions,
        woken: (positions) => {
          for (const position of positions) {
            sum -= bytes[position]
            sum += bytes[position] = availableBytes(state, partitions[position])
          }
          if (sum >= minBytes) done()
        },
      })
      const timer = this.#options.clock.timer(Math.max(0, waitMs), done)
      signal.addEventListener('abort', done)
      if (signal.aborted) done()
    })
  }

  /**
   * One pass in the order of the request: what memory has is taken at once, the rest is read side by side, each within the
   * share that was left when its turn came. The first partition with data gives a batch whatever its size. Rows of table
   * files that are still being loaded are waited for only when there is nothing else to answer with.
   */
  async #read(
    partitions: readonly FetchPartition[],
    askedBytes: number,
    signal: AbortSignal,
  ): Promise<{ readonly fetched: readonly FetchedPartition[]; readonly isInLine: boolean }> {
    for (let round = 1; ; round++) {
      const maxBytes = Math.min(askedBytes, this.#options.roomBytes())
      const found = Array.from<Found>({ length: partitions.length }).fill(null)
      const loading: LoadingRows[] = []
      let isEmpty = true
      for (let from = 0; from < partitions.length && isEmpty;) {
        const pass = this.#pass(partitions, from, maxBytes, found, round > LOAD_ROUNDS ? null : loading)
        if (pass.reads.length > 0) await Promise.all(pass.reads)
        from = pass.next
        isEmpty = !found.some((one) => one !== null && (typeof one === 'number' || one.sizeBytes > 0))
      }
      if (!isEmpty || loading.length === 0) return { fetched: this.#assemble(partitions, maxBytes, found), isInLine: false }
      if (!(await this.#loaded(loading, signal))) return { fetched: this.#assemble(partitions, maxBytes, found), isInLine: true }
    }
  }

  /** Waits for the first of these rows. False when all of them stand in line, or the client is gone. */
  #loaded(loading: readonly LoadingRows[], signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (isReady: boolean): void => {
        for (const stop of listening) stop()
        timer?.cancel()
        signal.removeEventListener('abort', aborted)
        resolve(isReady)
      }
      const aborted = (): void => done(false)
      const listening = loading.map((rows) => rows.whenReady(() => done(true)))
      const timer = loading.some(({ isLoading }) => isLoading) ? null : this.#options.clock.timer(LINE_MS, aborted)
      signal.addEventListener('abort', aborted)
      if (signal.aborted) aborted()
    })
  }

  /** Begins reads from position `from` on until the limit is spoken for; `next` is the first position left out. */
  #pass(
    partitions: readonly FetchPartition[],
    from: number,
    maxBytes: number,
    found: Found[],
    loading: LoadingRows[] | null,
  ): { readonly reads: Promise<void>[]; readonly next: number } {
    const { reader, metadata } = this.#options
    const reads: Promise<void>[] = []
    let left = maxBytes
    let minOne = true
    let next = from
    for (; next < partitions.length && (left > 0 || minOne); next++) {
      const wanted = partitions[next]
      const error = this.#errorOf(wanted)
      if (error !== Errors.NONE) {
        found[next] = error
        continue
      }
      const limitBytes = Math.max(0, Math.min(wanted.maxBytes, left))
      const hot = reader.hot(wanted, limitBytes, minOne)
      if (hot !== null && 'whenReady' in hot && loading !== null) {
        loading.push(hot)
        continue
      }
      if (hot !== null && !('whenReady' in hot)) {
        found[next] = hot
        left -= hot.sizeBytes
        if (hot.sizeBytes > 0) minOne = false
        continue
      }
      // Rows of a table file may become larger batches than those they came in.
      const fromTable = metadata.state.extentAt(wanted.topic, wanted.partition, wanted.fetchOffset)?.kind === 'table'
      const share = fromTable ? limitBytes : Math.min(limitBytes, availableBytesMost(metadata.state, wanted))
      left -= share
      const position = next
      reads.push(this.#readCold(wanted, share).then((read) => void (found[position] = read)))
      // It may turn out to be a hole; the next pass goes on then, and the assembly drops what is over.
      if (left <= 0) minOne = false
    }
    return { reads, next }
  }

  /** Batches, or the Kafka error code of a partition that could not be read. */
  async #readCold(wanted: FetchPartition, askedBytes: number): Promise<ReadBatches | number> {
    const { budget, reader, metadata, logger, failed, roomBytes } = this.#options
    const release = await budget.acquire(askedBytes)
    const limitBytes = Math.min(askedBytes, roomBytes())
    try {
      for (let attempt = 0; ; attempt++) {
        try {
          return await reader.cold(wanted, limitBytes)
        } catch (error) {
          if (attempt > 0 || !hasCode(error, 'STORE_NOT_FOUND')) throw error
          await metadata.barrier() // it has moved: resolve again (L8)
        }
      }
    } catch (error) {
      failed(hasCode(error, 'STORE_NOT_FOUND') ? 'not_found' : hasCode(error, 'CORRUPT') ? 'corrupt' : 'unavailable')
      logger.error({ error, topic: wanted.topic, partition: wanted.partition, offset: wanted.fetchOffset }, 'a partition could not be read')
      return Errors.KAFKA_STORAGE_ERROR
    } finally {
      release()
    }
  }

  #assemble(partitions: readonly FetchPartition[], maxBytes: number, found: readonly Found[]): readonly FetchedPartition[] {
    let left = maxBytes
    let first = true
    return partitions.map((wanted, i) => {
      const one = found[i] ?? null
      const view = this.#options.metadata.state.partition(wanted.topic, wanted.partition)
      const error = typeof one === 'number' ? one : view === null ? Errors.UNKNOWN_TOPIC_OR_PARTITION : this.#errorOf(wanted)
      if (error !== Errors.NONE || view === null) {
        const known = error === Errors.KAFKA_STORAGE_ERROR && view !== null
        return {
          error,
          highWatermark: known ? view.endOffset : -1,
          lastStableOffset: known ? view.lastStableOffset : -1,
          logStartOffset: known ? view.logStartOffset : -1,
          abortedTransactions: NONE,
          records: EMPTY,
          sizeBytes: 0,
        }
      }
      let taken = one !== null && typeof one !== 'number' ? one : null
      if (taken !== null && taken.sizeBytes > 0) {
        if (!first && taken.sizeBytes > Math.min(wanted.maxBytes, left)) taken = null
        else first = false
        left -= taken?.sizeBytes ?? 0
      }
      return {
        error: Errors.NONE,
        highWatermark: view.endOffset,
        lastStableOffset: view.lastStableOffset,
        logStartOffset: view.logStartOffset,
        abortedTransactions: taken === null ? NONE : byFirstOffset(taken.aborted),
        records: taken?.records ?? EMPTY,
        sizeBytes: taken?.sizeBytes ?? 0,
      }
    })
  }
}

/** Clients expect them in this order (K: TransactionIndex; franz-go, librdkafka). */
function byFirstOffset(aborted: ReadBatches['aborted']): FetchedPartition['abortedTransactions'] {
  return aborted.length < 2 ? aborted : aborted.toSorted((a, b) => a.firstOffset - b.firstOffset)
}
