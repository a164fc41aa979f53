import { FrazilError } from '../../../src/base/errors.ts'
import { resolveRange } from '../../../src/storage/keys.ts'
import type { ByteRange, GetResult, ObjectInfo } from '../../../src/storage/store.ts'

interface StoredObject {
  readonly bytes: Buffer
  readonly etag: string
}

const PREFIX = 'memory://sim/'

/** What lies in the store: every method is one instant, seen by all. Keys are ASCII, so their order is that of code units. */
export class Bucket {
  readonly #objects = new Map<string, StoredObject>()
  #sorted: string[] | null = null
  #versions = 0

  put(key: string, bytes: Buffer): ObjectInfo {
    if (!this.#objects.has(key)) this.#sorted = null
    const stored = { bytes, etag: `v${++this.#versions}` }
    this.#objects.set(key, stored)
    return describe(key, stored)
  }

  putIfAbsent(key: string, bytes: Buffer): ObjectInfo | null {
    return this.#objects.has(key) ? null : this.put(key, bytes)
  }

  putIfMatch(key: string, bytes: Buffer, etag: string): ObjectInfo | null {
    return this.#objects.get(key)?.etag === etag ? this.put(key, bytes) : null
  }

  /** Errors: STORE_NOT_FOUND. */
  get(key: string, range: ByteRange = { start: 0 }): GetResult {
    const stored = this.#objects.get(key)
    if (stored === undefined) throw new FrazilError('STORE_NOT_FOUND', `there is no ${key}`)
    const { start, end } = resolveRange(range, stored.bytes.length)
    const body = Buffer.allocUnsafeSlow(end - start)
    stored.bytes.copy(body, 0, start, end)
    return { ...describe(key, stored), body }
  }

  head(key: string): ObjectInfo | null {
    const stored = this.#objects.get(key)
    return stored === undefined ? null : describe(key, stored)
  }

  list(prefix: string, startAfter = ''): ObjectInfo[] {
    this.#sorted ??= [...this.#objects.keys()].sort()
    const after = startAfter > prefix ? startAfter : prefix
    let low = 0
    for (let high = this.#sorted.length; low < high;) {
      const middle = (low + high) >> 1
      if (this.#sorted[middle] < after) low = middle + 1
      else high = middle
    }
    const found: ObjectInfo[] = []
    for (; low < this.#sorted.length && this.#sorted[low].startsWith(prefix); low++) {
      const key = this.#sorted[low]
      if (key !== startAfter) found.push(describe(key, this.#objects.get(key)!))
    }
    return found
  }

  delete(keys: readonly string[]): void {
    for (const key of keys) if (this.#objects.delete(key)) this.#sorted = null
  }

  uri(key: string): string {
    return PREFIX + key
  }

  keyOf(uri: string): string | null {
    return uri.startsWith(PREFIX) && uri.length > PREFIX.length ? uri.slice(PREFIX.length) : null
  }
}

function describe(key: string, stored: StoredObject): ObjectInfo {
  return { key, sizeBytes: stored.bytes.length, etag: stored.etag }
}
