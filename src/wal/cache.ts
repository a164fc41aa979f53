import { batchBaseOffset } from '../../protocol/records/header.ts'
import type { CachedBatches } from './port.ts'

/** Whole batches in byte order, base offset and leader epoch patched. */
interface CachedObject {
  readonly byteOffsets: readonly number[]
  /** As they arrived, each in the memory of its frame; null when they are packed. */
  readonly batches: readonly Uint8Array[] | null
  readonly packed: Packed | null
  readonly memories: readonly ArrayBufferLike[]
}

/** Batch `i` is `bytes` from `starts[i]` up to `starts[i + 1]`. */
interface Packed {
  readonly bytes: Uint8Array
  readonly starts: readonly number[]
}

/** Batches that are smaller on average are copied together: a view for each of them would cost the garbage collector more. */
const PACK_BATCH_BYTES = 8 * 1024
/** Packed objects share memory of this size, which is let go when the youngest of them is. */
const SLAB_BYTES = 1024 * 1024
/** Below this bound no memory is shared: it would be too coarse. */
const SLAB_MIN_CACHE_BYTES = 64 * SLAB_BYTES

/**
 * Recent WAL objects. Large batches stay in the request frames they arrived in: nothing is copied in and nothing is copied
 * out. Small ones are packed. The bound counts the memory that is kept alive (whole frames), each once, however many
 * objects share one. Whole objects leave in the order of their commits. A hit is by object and byte range; ranges begin and
 * end with a batch.
 */
export class HotCache {
  readonly #maxBytes: number
  readonly #objects = new Map<number, CachedObject>()
  readonly #users = new Map<ArrayBufferLike, number>()
  #retainedBytes = 0
  #slab = new Uint8Array(0)
  #slabUsed = 0

  constructor(options: { readonly maxBytes: number }) {
    this.#maxBytes = options.maxBytes
  }

  /** Memory kept alive now. */
  get retainedBytes(): number {
    return this.#retainedBytes
  }

  get objects(): number {
    return this.#objects.size
  }

  /**
   * Takes an object's committed batches in byte order. Small batches, and those that keep more than twice their own size
   * alive, are copied together first: a small batch must not hold a large frame.
   */
  put(object: number, batches: readonly Uint8Array[], byteOffsets: readonly number[]): void {
    if (batches.length === 0 || this.#objects.has(object)) return
    let usefulBytes = 0
    let newBytes = 0
    const memories = new Set<ArrayBufferLike>()
    for (const batch of batches) {
      usefulBytes += batch.length
      if (memories.has(batch.buffer)) continue
      memories.add(batch.buffer)
      if (!this.#users.has(batch.buffer)) newBytes += batch.buffer.byteLength
    }
    const pack = newBytes > 2 * usefulBytes || usefulBytes < PACK_BATCH_BYTES * batches.length
    const packed = pack ? this.#pack(batches, usefulBytes) : null
    const cached: CachedObject = {
      byteOffsets,
      batches: pack ? null : batches,
      packed,
      memories: packed === null ? [...memories] : [packed.bytes.buffer],
    }
    for (const memory of cached.memories) {
      const users = this.#users.get(memory) ?? 0
      if (users === 0) this.#retainedBytes += memory.byteLength
      this.#users.set(memory, users + 1)
    }
    this.#objects.set(object, cached)
    for (const oldest of this.#objects.keys()) {
      if (this.#retainedBytes <= this.#maxBytes) break
      this.remove(oldest)
    }
  }

  #pack(batches: readonly Uint8Array[], sizeBytes: number): Packed {
    const bytes = this.#memory(sizeBytes)
    const starts = [0]
    let at = 0
    for (const batch of batches) {
      bytes.set(batch, at)
      starts.push((at += batch.length))
    }
    return { bytes, starts }
  }

  #memory(sizeBytes: number): Uint8Array {
    if (this.#maxBytes < SLAB_MIN_CACHE_BYTES || sizeBytes > SLAB_BYTES / 4) return new Uint8Array(sizeBytes)
    if (this.#slabUsed + sizeBytes > this.#slab.length) {
      this.#slab = new Uint8Array(SLAB_BYTES)
      this.#slabUsed = 0
    }
    this.#slabUsed += sizeBytes
    return this.#slab.subarray(this.#slabUsed - sizeBytes, this.#slabUsed)
  }

  remove(object: number): void {
    const cached = this.#objects.get(object)
    if (cached === undefined) return
    this.#objects.delete(object)
    for (const memory of cached.memories) {
      const users = this.#users.get(memory)! - 1
      if (users > 0) {
        this.#users.set(memory, users)
      } else {
        this.#users.delete(memory)
        this.#retainedBytes -= memory.byteLength
      }
    }
  }

  /** The batches of the range, or null unless every byte of it is here. */
  find(object: number, byteOffset: number, sizeBytes: number): CachedBatches | null {
    const cached = this.#objects.get(object)
    if (cached === undefined) return null
    const { batches, packed } = cached
    const from = lowerBound(cached.byteOffsets, byteOffset)
    const to = end(cached, from, byteOffset, sizeBytes)
    if (to < 0) return null
    if (batches !== null) return { batches, from, to }
    const { bytes, starts } = packed!
    const views = Array.from({ length: to - from }, (_, index) => bytes.subarray(starts[from + index], starts[from + index + 1]))
    return { batches: views, from: 0, to: views.length }
  }

  /** Copies the range to `target` at `at`; false, and nothing is copied, unless every byte of it is here. */
  copy(object: number, byteOffset: number, sizeBytes: number, target: Uint8Array, at: number): boolean {
    const cached = this.#objects.get(object)
    if (cached === undefined) return false
    const { batches, packed } = cached
    const from = lowerBound(cached.byteOffsets, byteOffset)
    const to = end(cached, from, byteOffset, sizeBytes)
    if (to < 0) return false
    if (packed !== null) target.set(packed.bytes.subarray(packed.starts[from], packed.starts[to]), at)
    else {
      for (let index = from; index < to; index++) {
        target.set(batches![index], at)
        at += batches![index].length
      }
    }
    return true
  }
}

/** Index behind the last batch of a range that begins with batch `from`; -1 when its ends are not those of batches. */
function end({ byteOffsets, batches, packed }: CachedObject, from: number, byteOffset: number, sizeBytes: number): number {
  if (byteOffsets[from] !== byteOffset) return -1
  const to = lowerBound(byteOffsets, byteOffset + sizeBytes)
  const lastBytes = batches === null ? packed!.starts[to] - packed!.starts[to - 1] : batches[to - 1].length
  return to > from && byteOffsets[to - 1] + lastBytes === byteOffset + sizeBytes ? to : -1
}

/** Index of the batch that holds `offset` among the cached ones (the first one that does not end below it). */
export function batchIndexAt(found: CachedBatches, offset: number): number {
  let low = found.from
  let high = found.to - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (batchBaseOffset(found.batches[middle]) <= offset) low = middle
    else high = middle - 1
  }
  return low
}

/** Index of the first element at or above `value`. */
function lowerBound(sorted: readonly number[], value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle] < value) low = middle + 1
    else high = middle
  }
  return low
}
