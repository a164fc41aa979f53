import { batchOffsetCount, batchSizeBytes, patchBatch } from '../../protocol/records/header.ts'
import type { Clock } from '../base/clock.ts'
import type { Metadata } from '../metadata/port.ts'
import type { TableExtent, TableFile, WalExtent } from '../metadata/view.ts'
import { FrazilError } from '../base/errors.ts'
import { batchIndexAt } from '../wal/cache.ts'
import type { Wal } from '../wal/port.ts'
import type { LoadingRows, TableReader } from './port.ts'

/** Batches of one partition, in order. */
export interface ReadBatches {
  readonly records: Uint8Array[]
  sizeBytes: number
}

/** A partition's share of a fetch is not filled up for longer than this: a trickle in many objects goes on with the next one. */
const FILL_MS = 100

/**
 * Joins the extents of a partition into whole batches from the one that holds an offset on. Extents in the cache of
 * recent commits are served as they lie there; older ones are read from WAL objects or rebuilt from table files.
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
  hot(topic: number, partition: number, fetchOffset: number, limitBytes: number, minOne: boolean): ReadBatches | LoadingRows | null {
    const out: ReadBatches = { records: [], sizeBytes: 0 }
    for (let offset = fetchOffset; ;) {
      const extent = this.#metadata.state.extentAt(topic, partition, offset)
      if (extent === null) return out
      if (extent.kind === 'table') {
        const next = this.#takeTableNow(extent, partition, offset, limitBytes, minOne, out)
        if (next === null) return out
        if (typeof next !== 'number') return out.records.length > 0 ? out : next.loading
        offset = next
        continue
      }
      const goesOn = this.#takeHot(extent, offset, limitBytes, minOne, out)
      if (goesOn === null) return out.records.length > 0 ? out : null
      if (!goesOn) return out
      offset = extent.lastOffset + 1
    }
  }

  /**
   * As `hot`, reading whatever is not in memory; the first batch comes whatever its size. Nothing only when there is no
   * batch at or above the offset (L18). Errors: those of the store, and CORRUPT.
   */
  async cold(topic: number, partition: number, fetchOffset: number, limitBytes: number): Promise<ReadBatches> {
    const out: ReadBatches = { records: [], sizeBytes: 0 }
    let offset = fetchOffset
    const endMs = this.#clock.monotonicMs() + FILL_MS
    while (out.records.length === 0 || (out.sizeBytes < limitBytes && this.#clock.monotonicMs() < endMs)) {
      const extent = this.#metadata.state.extentAt(topic, partition, offset)
      if (extent === null) return out
      if (extent.kind === 'table') {
        const next = await this.#takeTable(extent, partition, offset, limitBytes, out)
        if (next === null) return out
        offset = next
        continue
      }
      const goesOn = this.#takeHot(extent, offset, limitBytes, true, out)
      if (goesOn === false) return out
      if (goesOn === true) {
        offset = extent.lastOffset + 1
        continue
      }
      const next = await this.#takeWal(topic, partition, extent, offset, limitBytes, out)
      if (next === null) return out
      offset = next
    }
    return out
  }

  /** true: all of the extent was taken; false: the limit was met; null: it is not in memory. */
  #takeHot(extent: WalExtent, offset: number, limitBytes: number, minOne: boolean, out: ReadBatches): boolean | null {
    const found = this.#wal.cachedBatches(extent.object, extent.byteOffset, extent.sizeBytes)
    if (found === null) return null
    const { batches, to } = found
    for (let i = offset <= extent.firstOffset ? found.from : batchIndexAt(found, offset); i < to; i++) {
      const batch = batches[i]
      if (out.sizeBytes + batch.length > limitBytes && !(minOne && out.records.length === 0)) return false
      out.records.push(batch)
      out.sizeBytes += batch.length
    }
    return true
  }

  /** The offset to go on with, or null when the limit was met. */
  async #takeWal(
    topic: number,
    partition: number,
    extent: WalExtent,
    offset: number,
    limitBytes: number,
    out: ReadBatches,
  ): Promise<number | null> {
    const located = await this.#wal.readFrom(extent, offset, limitBytes - out.sizeBytes)
    const epoch = this.#metadata.state.partition(topic, partition)?.leaderEpoch ?? 0
    let next = located.baseOffset
    for (let at = 0; at < located.bytes.length; at += batchSizeBytes(located.bytes, at)) {
      patchBatch(located.bytes, at, next, epoch)
      next += batchOffsetCount(located.bytes, at)
    }
    if (out.records.length > 0 && out.sizeBytes + located.bytes.length > limitBytes) return null
    out.records.push(located.bytes)
    out.sizeBytes += located.bytes.length
    return next
  }

  /** The offset to go on with, null when the limit was met, or what is not in memory. */
  #takeTableNow(
    extent: TableExtent,
    partition: number,
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
    const read = this.#tables.readNow({ files, partition, fromOffset, lastOffset, maxBytes, minOne: first })
    if (read === null || 'whenReady' in read) return { loading: read }
    for (const batch of read.batches) {
      if (out.sizeBytes + batch.length > limitBytes && !(minOne && out.records.length === 0)) return null
      out.records.push(batch)
      out.sizeBytes += batch.length
    }
    return read.nextOffset > lastOffset ? read.nextOffset : null
  }

  /** The offset to go on with, or null when the limit was met. */
  async #takeTable(extent: TableExtent, partition: number, offset: number, limitBytes: number, out: ReadBatches): Promise<number | null> {
    const maxBytes = Math.max(1, limitBytes - out.sizeBytes)
    const fromOffset = Math.max(offset, extent.firstOffset)
    const files = filesOf(this.#metadata, extent)
    const { batches, nextOffset } = await this.#tables.read({ files, partition, fromOffset, lastOffset: extent.lastOffset, maxBytes })
    let next = nextOffset
    for (const batch of batches) {
      // what is left out here must not be passed over by a further read
      if (out.records.length > 0 && out.sizeBytes + batch.length > limitBytes) return null
      out.records.push(batch)
      out.sizeBytes += batch.length
    }
    // No row and no way forward would be a loop without end: what was asked for is then a hole.
    if (batches.length === 0 || next <= offset) next = Math.max(next, extent.lastOffset + 1)
    return next
  }
}

/** The files of a table extent. Errors: STORE_NOT_FOUND when the state no longer has one (resolve again). */
export function filesOf(metadata: Metadata, extent: TableExtent): TableFile[] {
  return extent.files.map((id) => {
    const file = metadata.state.tableFile(id)
    if (file === null) throw new FrazilError('STORE_NOT_FOUND', `table file ${id} was replaced`)
    return file
  })
}
