import { FrazilError } from '../base/errors.ts'
import { systemClock, type Clock } from '../base/clock.ts'
import type { Fault, FaultPlan, MemoryRequest } from './faults.ts'
import { checkKey, compareKeys, resolveRange } from './keys.ts'
import { MemoryUpload } from './memoryUpload.ts'
import type { RequestCounter } from './metrics.ts'
import type { Body, ByteRange, GetResult, MultipartUpload, ObjectInfo, ObjectStore, Options } from './store.ts'

export interface MemoryStoreOptions {
  /** Part of the URIs: `memory://<name>/<key>`. */
  readonly name?: string
  readonly clock?: Clock
  readonly faults?: FaultPlan
  readonly metrics?: RequestCounter
  /** Keys that `list` looks at in one step; what comes to be behind them in the meantime is seen. */
  readonly pageKeys?: number
}

interface StoredObject {
  readonly bytes: Buffer
  readonly etag: string
}

/** Objects in memory, for tests and simulation; delays, reorders, loses answers and fails as its fault plan says. */
export class MemoryStore implements ObjectStore {
  /** Writes that would go above it fail with STORE_FULL. */
  capacityBytes = Infinity
  faults: FaultPlan | null
  readonly #name: string
  readonly #clock: Clock
  readonly #metrics: RequestCounter | undefined
  readonly #pageKeys: number
  readonly #objects = new Map<string, StoredObject>()
  #sorted: string[] | null = []
  #usedBytes = 0
  #versions = 0
  #closed = false

  constructor(options: MemoryStoreOptions = {}) {
    this.#name = options.name ?? 'memory'
    this.#clock = options.clock ?? systemClock
    this.faults = options.faults ?? null
    this.#metrics = options.metrics
    this.#pageKeys = options.pageKeys ?? 1000
  }

  put(key: string, body: Body, options?: Options): Promise<ObjectInfo> {
    return this.#write(key, body, options, () => true) as Promise<ObjectInfo>
  }

  putIfAbsent(key: string, body: Body, options?: Options): Promise<ObjectInfo | null> {
    return this.#write(key, body, options, (current) => current === undefined)
  }

  putIfMatch(key: string, body: Body, etag: string, options?: Options): Promise<ObjectInfo | null> {
    return this.#write(key, body, options, (current) => current?.etag === etag)
  }

  async #write(
    key: string,
    body: Body,
    options: Options | undefined,
    allowed: (current: StoredObject | undefined) => boolean,
  ): Promise<ObjectInfo | null> {
    this.#begin('put', key, options)
    // Copied now, as a socket would: the caller may reuse its buffers once the promise has resolved, also after a late effect.
    const bytes = Buffer.concat(body instanceof Uint8Array ? [body] : body)
    return this.#request('put', key, () => (allowed(this.#objects.get(key)) ? this.#set(key, bytes) : null))
  }

  #set(key: string, bytes: Buffer): ObjectInfo {
    const old = this.#objects.get(key)
    const usedBytes = this.#usedBytes - (old?.bytes.length ?? 0) + bytes.length
    if (usedBytes > this.capacityBytes) throw new FrazilError('STORE_FULL', `no space is left for ${key}`)
    this.#usedBytes = usedBytes
    const stored = { bytes, etag: `v${++this.#versions}` }
    this.#objects.set(key, stored)
    if (old === undefined) this.#sorted = null
    return describe(key, stored)
  }

  get(key: string, options?: Options): Promise<GetResult> {
    return this.getRange(key, { start: 0 }, options)
  }

  async getRange(key: string, range: ByteRange, options?: Options): Promise<GetResult> {
    this.#begin('get', key, options)
    return this.#request('get', key, () => {
      const stored = this.#stored(key)
      const { start, end } = resolveRange(range, stored.bytes.length)
      const body = Buffer.allocUnsafeSlow(end - start)
      stored.bytes.copy(body, 0, start, end)
      return { ...describe(key, stored), body }
    })
  }

  #stored(key: string): StoredObject {
    const stored = this.#objects.get(key)
    if (stored === undefined) throw new FrazilError('STORE_NOT_FOUND', `there is no ${key}`)
    return stored
  }

  async head(key: string, options?: Options): Promise<ObjectInfo | null> {
    this.#begin('head', key, options)
    return this.#request('head', key, () => {
      const stored = this.#objects.get(key)
      return stored === undefined ? null : describe(key, stored)
    })
  }

  async *list(prefix: string, options?: Options & { readonly startAfter?: string }): AsyncGenerator<ObjectInfo> {
    let after = options?.startAfter ?? ''
    for (;;) {
      this.#check()
      this.#metrics?.count('list', options?.reason)
      const page = await this.#request('list', prefix, () => this.#page(prefix, after))
      yield* page
      if (page.length < this.#pageKeys) return
      after = page.at(-1)!.key
    }
  }

  #page(prefix: string, after: string): readonly ObjectInfo[] {
    this.#sorted ??= [...this.#objects.keys()].sort(compareKeys)
    const page: ObjectInfo[] = []
    for (const key of this.#sorted) {
      if (!key.startsWith(prefix) || compareKeys(key, after) <= 0) continue
      if (page.push(describe(key, this.#stored(key))) === this.#pageKeys) break
    }
    return page
  }

  async delete(keys: readonly string[], options?: Options): Promise<readonly { readonly key: string; readonly error: Error }[]> {
    this.#check()
    this.#metrics?.count('delete', options?.reason)
    return this.#request('delete', keys[0] ?? '', () => {
      const failed: { key: string; error: Error }[] = []
      for (const key of keys) {
        try {
          checkKey(key)
          const fault = this.faults?.('deleteKey', key)
          if (fault?.before !== undefined) throw new FrazilError(fault.before, `cannot delete ${key}`)
          const old = this.#objects.get(key)
          if (old !== undefined) {
            this.#usedBytes -= old.bytes.length
            this.#objects.delete(key)
            this.#sorted = null
          }
        } catch (error) {
          failed.push({ key, error: error as Error })
        }
      }
      return failed
    })
  }

  async multipart(key: string, options?: Options): Promise<MultipartUpload> {
    this.#begin('put', key, options)
    return new MemoryUpload({
      request: (request, effect) => {
        this.#check()
        if (request === 'putPart') this.#metrics?.count('put', options?.reason)
        return this.#request(request, key, effect)
      },
      source: (sourceKey) => {
        checkKey(sourceKey)
        return this.#stored(sourceKey).bytes
      },
      store: (bytes, ifAbsent) => (ifAbsent && this.#objects.has(key) ? null : this.#set(key, bytes)),
    })
  }

  uri(key: string): string {
    return `memory://${this.#name}/${key}`
  }

  keyOf(uri: string): string | null {
    const prefix = `memory://${this.#name}/`
    return uri.startsWith(prefix) && uri.length > prefix.length ? uri.slice(prefix.length) : null
  }

  async close(): Promise<void> {
    this.#closed = true
  }

  /** Lets `effect` happen, in one step, as the fault plan says. */
  async #request<T>(request: MemoryRequest, key: string, effect: () => T): Promise<T> {
    const fault: Fault = this.faults?.(request, key) ?? {}
    if (fault.lateMs !== undefined) {
      void this.#later(fault.lateMs, effect)
      throw failure('STORE_UNKNOWN', request, key)
    }
    await this.#wait(fault.delayMs)
    if (fault.before !== undefined) throw failure(fault.before, request, key)
    const answer = effect()
    await this.#wait(fault.answerDelayMs)
    if (fault.after !== undefined) throw failure(fault.after, request, key)
    return answer
  }

  async #later(delayMs: number, effect: () => unknown): Promise<void> {
    await this.#clock.sleep(delayMs)
    try {
      effect()
    } catch {
      // The one who asked was answered long ago.
    }
  }

  async #wait(delayMs: number | undefined): Promise<void> {
    // Even without a delay an answer never comes in the same step, as from any real store.
    if (delayMs === undefined || delayMs <= 0) await Promise.resolve()
    else await this.#clock.sleep(delayMs)
  }

  #begin(kind: 'put' | 'get' | 'head', key: string, options: Options | undefined): void {
    this.#check()
    checkKey(key)
    this.#metrics?.count(kind, options?.reason)
  }

  #check(): void {
    if (this.#closed) throw new FrazilError('CLOSED', 'the store is closed')
  }
}

function failure(code: FrazilError['code'], request: string, key: string): FrazilError {
  return new FrazilError(code, `the store failed a ${request} of ${key}, as its fault plan says`)
}

function describe(key: string, stored: StoredObject): ObjectInfo {
  return { key, sizeBytes: stored.bytes.length, etag: stored.etag }
}
