import { LRUCache } from 'lru-cache'
import { batchCrcValid, batchOffsetCount, wholeBatchBytes } from '../../protocol/records/header.ts'
import { FrazilError, hasCode } from '../base/errors.ts'
import type { Metadata } from '../metadata/port.ts'
import type { WalExtent, WalObject } from '../metadata/view.ts'
import type { ObjectStore, Reason } from '../storage/store.ts'
import { decodeIndex, decodeTail, parseWalKey, TAIL_BYTES, type IndexPart } from './format.ts'
import type { LocatedBatches } from './port.ts'

/** An extent up to this size is read whole: its index would cost as much. */
const SMALL_EXTENT_BYTES = 256 * 1024
/** The first guess at index and tail together. */
const FOOTER_GUESS_BYTES = 32 * 1024
/** How many ranges of one object are read before the whole of it is: who reads a second one is catching up (L15). */
const RANGES_BEFORE_WHOLE = 1
/** An object up to this size is always read whole: it costs what a range costs, and its other partitions are likely to follow. */
const WHOLE_AT_ONCE_BYTES = 1024 * 1024

/** An object this young is still being followed, by others as well (L15), and likely in the memory of the pod that wrote it. */
const FRESH_MS = 60_000

/** Bytes [start, end) of an object out of the memory of the pod whose incarnation wrote it; null: not there. Never rejects. */
export type PeerRead = (incarnation: number, object: number, start: number, end: number) => Promise<Buffer | null>

/**
 * Reads WAL objects from the store, or from the entry that carries them. Readers of one range or object at the same time
 * share one request; whole objects, ranges and indexes are kept in caches bounded by bytes, least recently used out first.
 */
export class ColdReader {
  readonly #store: ObjectStore
  readonly #metadata: Metadata
  readonly #whole: LRUCache<number, Buffer>
  readonly #ranges: LRUCache<string, Buffer>
  readonly #indexes: LRUCache<number, readonly IndexPart[]>
  /** Made with the first range: it takes its memory at once. */
  #rangeCounts: LRUCache<number, number> | null = null
  readonly #flights = new Map<string, Promise<unknown>>()
  readonly #wholeMaxBytes: number
  readonly #fromPeer: PeerRead | null

  constructor(options: {
    readonly store: ObjectStore
    readonly metadata: Metadata
    readonly cacheBytes: number
    readonly fromPeer?: PeerRead
  }) {
    this.#store = options.store
    this.#metadata = options.metadata
    const bytesOf = (value: Buffer): number => Math.max(1, value.length)
    this.#whole = new LRUCache({ maxSize: options.cacheBytes, sizeCalculation: bytesOf })
    this.#ranges = new LRUCache({ maxSize: Math.max(1, Math.floor(options.cacheBytes / 2)), sizeCalculation: bytesOf })
    this.#indexes = new LRUCache({
      maxSize: 1 << 18,
      sizeCalculation: (parts) => 1 + parts.reduce((sum, part) => sum + part.sizesBytes.length, 0),
    })
    this.#wholeMaxBytes = options.cacheBytes / 4
    this.#fromPeer = options.fromPeer ?? null
  }

  /** See Wal.read. */
  async read(object: number, byteOffset: number, sizeBytes: number, whole: boolean, reason: Reason): Promise<Uint8Array> {
    const held = this.#whole.get(object)
    if (held !== undefined) return held.subarray(byteOffset, byteOffset + sizeBytes)
    const at = this.#object(object)
    const key = `${object}:${byteOffset}:${sizeBytes}`
    const range = this.#ranges.get(key)
    if (range !== undefined) return range
    if (this.#fromPeer !== null && !whole && !this.#flights.has(`${object}`)) {
      const bytes = await this.#readPeer(at, key, byteOffset, sizeBytes)
      if (bytes !== null) return bytes
    }
    if (at.sizeBytes <= this.#wholeMaxBytes && (whole || this.#shouldBeWhole(at, key))) {
      const bytes = await this.#share(`${object}`, async () => {
        const body = await this.#get(at, 0, at.sizeBytes, reason)
        this.#whole.set(object, body)
        return body
      })
      return bytes.subarray(byteOffset, byteOffset + sizeBytes)
    }
    return this.#share(key, async () => {
      const body = await this.#get(at, byteOffset, byteOffset + sizeBytes, reason)
      this.#ranges.set(key, body)
      return body
    })
  }

  /** See Wal.readFrom. */
  async readFrom(extent: WalExtent, offset: number, maxBytes: number): Promise<LocatedBatches> {
    const at = this.#object(extent.object)
    const allOfIt = extent.sizeBytes <= SMALL_EXTENT_BYTES || (offset <= extent.firstOffset && extent.sizeBytes <= maxBytes)
    const large = at.key !== '' && at.sizeBytes > WHOLE_AT_ONCE_BYTES && this.#freshOf(at) === 0
    if (large && !allOfIt && !this.#whole.has(extent.object)) {
      const span = spanOf(await this.#index(at), extent, offset, maxBytes)
      const bytes = await this.read(extent.object, span.byteOffset, span.sizeBytes, false, 'fetch')
      return { bytes, baseOffset: span.baseOffset }
    }
    const bytes = await this.read(extent.object, extent.byteOffset, extent.sizeBytes, false, 'fetch')
    return cut(bytes, extent, offset, maxBytes)
  }

  #shouldBeWhole(object: WalObject, rangeKey: string): boolean {
    if (object.sizeBytes <= WHOLE_AT_ONCE_BYTES || this.#freshOf(object) > 0 || this.#flights.has(`${object.id}`)) return true
    if (this.#flights.has(rangeKey)) return false
    const counts = (this.#rangeCounts ??= new LRUCache({ max: 10_000 }))
    const count = (counts.get(object.id) ?? 0) + 1
    counts.set(object.id, count)
    return count > RANGES_BEFORE_WHOLE
  }

  /** The incarnation of another pod that wrote the object just now; 0 for ours, old ones, and with a log of one. */
  #freshOf(object: WalObject): number {
    const { incarnation, state } = this.#metadata
    if (this.#fromPeer === null || object.segment || state.lastTimeMs - object.createdMs >= FRESH_MS) return 0
    const writer = parseWalKey(object.key)?.incarnation ?? 0
    return writer === incarnation ? 0 : writer
  }

  /** Asks the pod that wrote the object, while it may still have it; readers of the same range share the question. */
  async #readPeer(object: WalObject, key: string, byteOffset: number, sizeBytes: number): Promise<Buffer | null> {
    const incarnation = this.#freshOf(object)
    if (incarnation === 0) return null
    return this.#share(`peer:${key}`, async () => {
      const bytes = await this.#fromPeer!(incarnation, object.id, byteOffset, byteOffset + sizeBytes)
      if (bytes === null || !isWholeBatches(bytes)) return null
      this.#ranges.set(key, bytes)
      return bytes
    })
  }

  #object(id: number): WalObject {
    const object = this.#metadata.state.walObject(id)
    if (object === null) throw new FrazilError('STORE_NOT_FOUND', `WAL object ${id} is gone`)
    return object
  }

  async #get(object: WalObject, start: number, end: number, reason: Reason): Promise<Buffer> {
    try {
      const body =
        object.key === ''
          ? await this.#metadata.readAttachment(object.entry, object.entryOffset + start, object.entryOffset + end)
          : (await this.#store.getRange(object.key, { start, end }, { reason })).body
      if (body.length !== end - start) throw new FrazilError('CORRUPT', `WAL object ${object.id} is shorter than its entry says`)
      return body
    } catch (error) {
      // It may have moved meanwhile: who asks again after this barrier sees where to (L8).
      if (hasCode(error, 'STORE_NOT_FOUND')) await this.#metadata.barrier()
      throw error
    }
  }

  async #index(object: WalObject): Promise<readonly IndexPart[]> {
    const held = this.#indexes.get(object.id)
    if (held !== undefined) return held
    return this.#share(`${object.id}:index`, async () => {
      const guess = Math.min(object.sizeBytes, FOOTER_GUESS_BYTES)
      const footer = await this.#get(object, object.sizeBytes - guess, object.sizeBytes, 'fetch')
      const { indexBytes, crc } = decodeTail(footer, object.sizeBytes)
      const end = footer.length - TAIL_BYTES
      const index =
        indexBytes <= end
          ? footer.subarray(end - indexBytes, end)
          : await this.#get(object, object.sizeBytes - TAIL_BYTES - indexBytes, object.sizeBytes - TAIL_BYTES, 'fetch')
      const parts = decodeIndex(index, crc)
      this.#indexes.set(object.id, parts)
      return parts
    })
  }

  async #share<T>(key: string, load: () => Promise<T>): Promise<T> {
    const running = this.#flights.get(key)
    if (running !== undefined) return running as Promise<T>
    const flight = load().finally(() => this.#flights.delete(key))
    this.#flights.set(key, flight)
    return flight
  }
}

/** Finds the batch that holds `offset` by the sizes and counts in the index. Errors: CORRUPT. */
function spanOf(
  parts: readonly IndexPart[],
  extent: WalExtent,
  offset: number,
  maxBytes: number,
): { readonly byteOffset: number; readonly sizeBytes: number; readonly baseOffset: number } {
  const extentEnd = extent.byteOffset + extent.sizeBytes
  for (const part of parts) {
    let byteOffset = part.byteOffset
    if (byteOffset > extent.byteOffset) continue
    let i = 0
    while (i < part.sizesBytes.length && byteOffset < extent.byteOffset) byteOffset += part.sizesBytes[i++]
    if (i === part.sizesBytes.length || byteOffset !== extent.byteOffset) continue
    let baseOffset = extent.firstOffset
    while (i + 1 < part.sizesBytes.length && baseOffset + part.offsetCounts[i] <= offset && byteOffset + part.sizesBytes[i] < extentEnd) {
      baseOffset += part.offsetCounts[i]
      byteOffset += part.sizesBytes[i++]
    }
    let sizeBytes = part.sizesBytes[i++]
    while (
      i < part.sizesBytes.length &&
      byteOffset + sizeBytes + part.sizesBytes[i] <= extentEnd &&
      sizeBytes + part.sizesBytes[i] <= maxBytes
    ) {
      sizeBytes += part.sizesBytes[i++]
    }
    return { byteOffset, sizeBytes, baseOffset }
  }
  throw new FrazilError('CORRUPT', `the index of WAL object ${extent.object} does not know byte ${extent.byteOffset}`)
}

/** As `spanOf`, by walking the batch headers of an extent that is in memory. */
function cut(bytes: Uint8Array, extent: WalExtent, offset: number, maxBytes: number): LocatedBatches {
  let baseOffset = extent.firstOffset
  let start = 0
  for (;;) {
    const sizeBytes = wholeBatchBytes(bytes, start)
    if (sizeBytes < 0) throw new FrazilError('CORRUPT', `an extent of WAL object ${extent.object} is no run of whole batches`)
    const next = baseOffset + batchOffsetCount(bytes, start)
    if (next > offset || start + sizeBytes >= bytes.length) {
      let end = start + sizeBytes
      while (end < bytes.length) {
        const more = wholeBatchBytes(bytes, end)
        if (more < 0) throw new FrazilError('CORRUPT', `an extent of WAL object ${extent.object} is no run of whole batches`)
        if (end + more - start > maxBytes) break
        end += more
      }
      return { bytes: bytes.subarray(start, end), baseOffset }
    }
    baseOffset = next
    start += sizeBytes
  }
}

/** What a peer sent is looked at before it is believed: batches one after the other, each with the right checksum. */
function isWholeBatches(bytes: Buffer): boolean {
  let at = 0
  while (at < bytes.length) {
    const size = wholeBatchBytes(bytes, at)
    if (size < 0 || !batchCrcValid(bytes, at)) return false
    at += size
  }
  return at === bytes.length
}
