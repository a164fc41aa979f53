import { batchBaseOffset, batchLastOffset, batchOffsetCount, batchSizeBytes, patchBatch } from '../../protocol/records/header.ts'
import { controlBatch, fillerBatch } from '../../protocol/records/control.ts'
import type { Clock } from '../base/clock.ts'
import { epochOfOffset } from '../metadata/epochs.ts'
import type { Metadata } from '../metadata/port.ts'
import type { AbortedTransaction, MarkerExtent, TableExtent, TableFile, WalExtent } from '../metadata/view.ts'
import { FrazilError } from '../base/errors.ts'
import { batchIndexAt } from '../wal/cache.ts'
import type { Wal } from '../wal/port.ts'
import { readableEnd } from './available.ts'
import type { FetchPartition, LoadingRows, TableReader } from './port.ts'

/** Batches of one partition, in order. */
export interface ReadBatches {
  readonly records: Uint8Array[]
  sizeBytes: number
  /** Behind the last batch. */
  nextOffset: number
  /** Of read_committed: the aborted transactions that these batches may hold records of (L17). */
  aborted: readonly AbortedTransaction[]
}

/** What of a partition is read, and where it must end: the last stable offset or the end, as it was when the read began. */
interface Wanted {
  readonly topic: number
  readonly partition: number
  readonly fetchOffset: number
  readonly end: number
}

/** A partition's share of a fetch is not filled up for longer than this: a trickle in many objects goes on with the next one. */
const FILL_MS = 100
const NONE: readonly AbortedTransaction[] = []

/**
 * Joins the extents of a partition into whole batches from the one that holds an offset on. Extents in the cache of
 * recent commits are served as they lie there; older ones are read from WAL objects or rebuilt from table files. Markers are
 * made into control batches here.
 */
export class PartitionReader {
  readonly #metadata: Metadata
  readonly #wal: Wal
  readonly #tables: TableReader
  readonly #clock: Clock

  constructor(options: { readonly metadata: Metadata; readonly wal: Wal; readonly tables: TableReader; readonly clock: Clock }) {
    this.#clock = options.clock
    this.#metadata = options.metadata
    this.#wal = options.wal
    this.#tables = options.tables
  }

  /**
   * Batches of at most `limitBytes`, with `minOne` the first whatever its size. When the offset is below the end and not
   * in memory: rows of table files that are being loaded, or null when `cold` has to read.
   */
  hot(asked: FetchPartition, limitBytes: number, minOne: boolean): ReadBatches | LoadingRows | null {
    const wanted = this.#wanted(asked)
    const { topic, partition, fetchOffset, end } = wanted
    const out: ReadBatches = { records: [], sizeBytes: 0, nextOffset: fetchOffset, aborted: NONE }
    const done = (): ReadBatches => {
      if (asked.isCommitted && out.records.length > 0)
        out.aborted = this.#metadata.state.abortedTransactions(topic, partition, fetchOffset, out.nextOffset)
      return out
    }
    for (let offset = fetchOffset; ;) {
      const extent = this.#metadata.state.extentAt(topic, partition, offset)
      if (extent === null || extent.firstOffset >= end || offset >= end) return this.#fill(wanted, out)
      if (extent.kind === 'table') {
        const next = this.#takeTableNow(extent, wanted, offset, limitBytes, minOne, out)
        if (next === null) return done()
        if (typeof next !== 'number') return out.records.length > 0 ? done() : next.loading
        offset = next
        continue
      }
      const goesOn =
        extent.kind === 'marker'
          ? this.#takeMarker(wanted, extent, limitBytes, minOne, out)
          : this.#takeHot(extent, offset, end, limitBytes, minOne, out)
      if (goesOn === null) return out.records.length > 0 ? done() : null
      if (!goesOn) return done()
      offset = extent.lastOffset + 1
      if (offset >= end) return done()
    }
  }

  /**
   * As `hot`, reading whatever is not in memory; the first batch comes whatever its size. Nothing only at the end.
   * Errors: those of the store, and CORRUPT.
   */
  async cold(asked: FetchPartition, limitBytes: number): Promise<ReadBatches> {
    const wanted = this.#wanted(asked)
    const { topic, partition, fetchOffset, end } = wanted
    // Looked up now: once they are converted, which can be before these bytes are here, nobody knows them any more.
    const aborted = asked.isCommitted ? this.#metadata.state.abortedTransactions(topic, partition, fetchOffset, end) : NONE
    const out: ReadBatches = { records: [], sizeBytes: 0, nextOffset: fetchOffset, aborted: NONE }
    const done = (): ReadBatches => {
      out.aborted = aborted.filter((one) => one.firstOffset < out.nextOffset)
      return out
    }
    let offset = fetchOffset
    const endMs = this.#clock.monotonicMs() + FILL_MS
    while (out.records.length === 0 || (out.sizeBytes < limitBytes && this.#clock.monotonicMs() < endMs)) {
      const extent = this.#metadata.state.extentAt(topic, partition, offset)
      if (extent === null || extent.firstOffset >= end || offset >= end) {
        this.#fill(wanted, out)
        break
      }
      if (extent.kind === 'table') {
        const next = await this.#takeTable(extent, wanted, offset, limitBytes, out)
        if (next === null) break
        offset = next
        continue
      }
      const goesOn =
        extent.kind === 'marker'
          ? this.#takeMarker(wanted, extent, limitBytes, true, out)
          : this.#takeHot(extent, offset, end, limitBytes, true, out)
      if (goesOn === false) break
      if (goesOn === true) {
        offset = extent.lastOffset + 1
        continue
      }
      const next = await this.#takeWal(wanted, extent as WalExtent, offset, limitBytes, out)
      if (next === null) break
      offset = next
    }
    return done()
  }

  #wanted(asked: FetchPartition): Wanted {
    const { topic, partition, fetchOffset } = asked
    return { topic, partition, fetchOffset, end: readableEnd(this.#metadata.state, asked) }
  }

  /** The epoch of what was written at an offset (L9). */
  #epoch({ topic, partition }: Wanted, offset: number): number {
    const view = this.#metadata.state.partition(topic, partition)
    return view === null ? 0 : epochOfOffset(view, offset)
  }

  /** What was asked for is a hole up to the end: one batch that lets the client move on (L18). */
  #fill(wanted: Wanted, out: ReadBatches): ReadBatches {
    const { fetchOffset, end } = wanted
    if (out.records.length > 0 || fetchOffset >= end) return out
    const batch = fillerBatch(fetchOffset, end - 1, this.#epoch(wanted, fetchOffset))
    out.records.push(batch)
    out.sizeBytes = batch.length
    out.nextOffset = batchLastOffset(batch) + 1
    return out
  }

  #takeMarker(wanted: Wanted, extent: MarkerExtent, limitBytes: number, minOne: boolean, out: ReadBatches): boolean {
    const { firstOffset, lastOffset, maxTimestampMs: timestampMs, producerId, producerEpoch, isCommit } = extent
    if (out.sizeBytes + extent.originalBytes > limitBytes && !(minOne && out.records.length === 0)) return false
    const leaderEpoch = this.#epoch(wanted, firstOffset)
    const batch = controlBatch({ firstOffset, lastOffset, leaderEpoch, timestampMs, producerId, producerEpoch, isCommit })
    out.records.push(batch)
    out.sizeBytes += batch.length
    out.nextOffset = lastOffset + 1
    return true
  }

  /** true: all of the extent was taken; false: the limit or the end was met; null: it is not in memory. */
  #takeHot(extent: WalExtent, offset: number, end: number, limitBytes: number, minOne: boolean, out: ReadBatches): boolean | null {
    const found = this.#wal.cachedBatches(extent.object, extent.byteOffset, extent.sizeBytes)
    if (found === null) return null
    const { batches, to } = found
    const isCut = extent.lastOffset >= end
    for (let i = offset <= extent.firstOffset ? found.from : batchIndexAt(found, offset); i < to; i++) {
      const batch = batches[i]
      if (isCut && batchBaseOffset(batch) >= end) return false
      if (out.sizeBytes + batch.length > limitBytes && !(minOne && out.records.length === 0)) return false
      out.records.push(batch)
      out.sizeBytes += batch.length
      out.nextOffset = batchLastOffset(batch) + 1
    }
    return true
  }

  /** The offset to go on with, or null when the limit or the end was met. */
  async #takeWal(wanted: Wanted, extent: WalExtent, offset: number, limitBytes: number, out: ReadBatches): Promise<number | null> {
    const { bytes: located, baseOffset } = await this.#wal.readFrom(extent, offset, limitBytes - out.sizeBytes)
    // an extent comes out of one entry, and lies in one epoch
    const epoch = this.#epoch(wanted, baseOffset)
    let next = baseOffset
    let at = 0
    for (; at < located.length && next < wanted.end; at += batchSizeBytes(located, at)) {
      patchBatch(located, at, next, epoch)
      next += batchOffsetCount(located, at)
    }
    if (at === 0 || (out.records.length > 0 && out.sizeBytes + at > limitBytes)) return null
    out.records.push(at === located.length ? located : located.subarray(0, at))
    out.sizeBytes += at
    out.nextOffset = next
    return next
  }

  /** The offset to go on with, null when the limit was met, or what is not in memory. */
  #takeTableNow(
    extent: TableExtent,
    wanted: Wanted,
    offset: number,
    limitBytes: number,
    minOne: boolean,
    out: ReadBatches,
  ): number | null | { readonly loading: LoadingRows | null } {
    const first = minOne && out.records.length === 0
    if (!first && out.sizeBytes >= limitBytes) return null
    const files = extent.files.map((id) => this.#metadata.state.tableFile(id))
    if (!files.every((file) => file !== null)) return { loading: null }
    const { lastOffset } = extent
    const fromOffset = Math.max(offset, extent.firstOffset)
    const maxBytes = Math.max(first ? 1 : 0, limitBytes - out.sizeBytes)
    const read = this.#tables.readNow({ files, partition: wanted.partition, fromOffset, lastOffset, maxBytes, minOne: first })
    if (read === null || 'whenReady' in read) return { loading: read }
    const epochOf = this.#tableEpochs(wanted)
    for (const batch of read.batches) {
      if (isServed(batch, offset, out)) return null
      if (out.sizeBytes + batch.length > limitBytes && !(minOne && out.records.length === 0)) return null
      this.#push(batch, epochOf, out)
    }
    return read.nextOffset > lastOffset ? read.nextOffset : null
  }

  /** The offset to go on with, or null when the limit was met. */
  async #takeTable(extent: TableExtent, wanted: Wanted, offset: number, limitBytes: number, out: ReadBatches): Promise<number | null> {
    const maxBytes = Math.max(1, limitBytes - out.sizeBytes)
    const fromOffset = Math.max(offset, extent.firstOffset)
    const files = filesOf(this.#metadata, extent)
    const { batches, nextOffset } = await this.#tables.read({
      files,
      partition: wanted.partition,
      fromOffset,
      lastOffset: extent.lastOffset,
      maxBytes,
    })
    let next = nextOffset
    const epochOf = this.#tableEpochs(wanted)
    for (const batch of batches) {
      // what is left out here must not be passed over by a further read
      if (isServed(batch, offset, out)) return null
      if (out.records.length > 0 && out.sizeBytes + batch.length > limitBytes) return null
      this.#push(batch, epochOf, out)
    }
    // No row and no way forward would be a loop without end: what was asked for is then a hole.
    if (batches.length === 0 || next <= offset) next = Math.max(next, extent.lastOffset + 1)
    return next
  }

  /**
   * The epoch of a batch of a table file; null while all of them are in the first, as files have them. Rows of two epochs can be in one
   * batch: it counts as one of the later, since a consumer goes on behind it.
   */
  #tableEpochs({ topic, partition }: Wanted): ((batch: Uint8Array) => number) | null {
    const view = this.#metadata.state.partition(topic, partition)
    return view === null || view.leaderEpoch === 0 ? null : (batch) => epochOfOffset(view, batchLastOffset(batch))
  }

  #push(batch: Uint8Array, epochOf: ((batch: Uint8Array) => number) | null, out: ReadBatches): void {
    if (epochOf !== null) patchBatch(batch, 0, batchBaseOffset(batch), epochOf(batch))
    out.records.push(batch)
    out.sizeBytes += batch.length
    out.nextOffset = batchLastOffset(batch) + 1
  }
}

/**
 * True when a batch of a table file begins with records that this answer has already, out of the WAL or another file: the
 * range was converted, or files were merged, while it was read. The client asks again from where it is.
 */
function isServed(batch: Uint8Array, offset: number, out: ReadBatches): boolean {
  return out.records.length > 0 && batchBaseOffset(batch) < offset
}

/** The files of a table extent. Errors: STORE_NOT_FOUND when the state no longer has one (resolve again). */
export function filesOf(metadata: Metadata, extent: TableExtent): TableFile[] {
  return extent.files.map((id) => {
    const file = metadata.state.tableFile(id)
    if (file === null) throw new FrazilError('STORE_NOT_FOUND', `table file ${id} was replaced`)
    return file
  })
}
