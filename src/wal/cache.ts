import { batchBaseOffset } from '../../protocol/records/header.ts'
import type { CachedBatches } from './port.ts'

interface CachedObject {
  /** Whole batches in byte order, base offset and leader epoch patched. */
  readonly batches: readonly Uint8Array[]
  readonly byteOffsets: readonly number[]
  readonly memories: ReadonlySet<ArrayBufferLike>
}

/**
 * Recent WAL objects, as the batches that arrived in request frames: nothing is copied in and nothing is copied out. The
 * bound counts the memory that the batches keep alive (whole frames), each once, however many objects share one. Whole
 * objects leave in the order of their commits. A hit is by object and byte range; ranges begin and end with a batch.
 */
export class HotCache {
  readonly #maxBytes: number
  readonly #objects = new Map<number, CachedObject>()
  readonly #users = new Map<ArrayBufferLike, number>()
  #retainedBytes = 0

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
   * Takes an object's committed batches in byte order. Batches that keep more than twice their own size alive are copied
   * together first: a small batch must not hold a large frame.
   */
  put(object: number, batches: readonly Uint8Array[], byteOffsets: readonly number[]): void {
    let usefulBytes = 0
    let newBytes = 0
    let memories = new Set<ArrayBufferLike>()
    for (const batch of batches) {
      usefulBytes += batch.length
      if (memories.has(batch.buffer)) continue
      memories.add(batch.buffer)
      if (!this.#users.has(batch.buffer)) newBytes += batch.buffer.byteLength
    }
    if (batches.length === 0 || this.#objects.has(object)) return
    if (newBytes > 2 * usefulBytes) {
      batches = compact(batches, usefulBytes)
      memories = new Set([batches[0].buffer])
    }
    for (const memory of memories) {
      const users = this.#users.get(memory) ?? 0
      if (users === 0) this.#retainedBytes += memory.byteLength
      this.#users.set(memory, users + 1)
    }
    this.#objects.set(object, { batches, byteOffsets, memories })
    for (const oldest of this.#objects.keys()) {
      if (this.#retainedBytes <= this.#maxBytes) break
      this.remove(oldest)
    }
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
    const from = lowerBound(cached.byteOffsets, byteOffset)
    const to = lowerBound(cached.byteOffsets, byteOffset + sizeBytes)
    if (from === to || cached.byteOffsets[from] !== byteOffset) return null
    if (cached.byteOffsets[to - 1] + cached.batches[to - 1].length !== byteOffset + sizeBytes) return null
    return { batches: cached.batches, from, to }
  }
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

function compact(batches: readonly Uint8Array[], sizeBytes: number): Uint8Array[] {
  const memory = new Uint8Array(new ArrayBuffer(sizeBytes))
  let at = 0
  return batches.map((batch) => {
    memory.set(batch, at)
    at += batch.length
    return memory.subarray(at - batch.length, at)
  })
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
