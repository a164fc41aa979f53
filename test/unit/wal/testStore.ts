import { FrazilError } from '../../../src/base/errors.ts'
import type { Body, ByteRange, GetResult, MultipartUpload, ObjectInfo, ObjectStore } from '../../../src/storage/store.ts'

/** Objects in memory; `before` and `after` of a request may wait or throw, so that a put fails before or after it took effect. */
export class TestStore implements ObjectStore {
  readonly objects = new Map<string, Buffer>()
  readonly requests: string[] = []
  before: (request: string, key: string) => Promise<void> | void = () => {}
  after: (request: string, key: string) => Promise<void> | void = () => {}
  /** Keys that cannot be deleted. */
  undeletable = new Set<string>()

  /** Requests of a kind so far. */
  count(kind: string): number {
    return this.requests.filter((request) => request.startsWith(`${kind} `)).length
  }

  async put(key: string, body: Body): Promise<ObjectInfo> {
    await this.#begin('put', key)
    const bytes = body instanceof Uint8Array ? Buffer.from(body) : Buffer.concat(body)
    this.objects.set(key, bytes)
    await this.after('put', key)
    return { key, sizeBytes: bytes.length, etag: '1' }
  }
  putIfAbsent(): Promise<never> {
    throw new Error('not used')
  }
  putIfMatch(): Promise<never> {
    throw new Error('not used')
  }
  async get(key: string): Promise<GetResult> {
    return this.getRange(key, { start: 0 })
  }
  async getRange(key: string, range: ByteRange): Promise<GetResult> {
    await this.#begin('get', key)
    const bytes = this.objects.get(key)
    if (bytes === undefined) throw new FrazilError('STORE_NOT_FOUND', `${key} does not exist`)
    await this.after('get', key)
    const body = Buffer.from(bytes.subarray(range.start < 0 ? bytes.length + range.start : range.start, range.end ?? bytes.length))
    return { key, sizeBytes: bytes.length, etag: '1', body }
  }
  async head(key: string): Promise<ObjectInfo | null> {
    const bytes = this.objects.get(key)
    return bytes === undefined ? null : { key, sizeBytes: bytes.length, etag: '1' }
  }
  async *list(prefix: string): AsyncIterable<ObjectInfo> {
    for (const key of [...this.objects.keys()].sort()) {
      if (key.startsWith(prefix)) yield { key, sizeBytes: this.objects.get(key)!.length, etag: '1' }
    }
  }
  async delete(keys: readonly string[]): Promise<readonly { readonly key: string; readonly error: Error }[]> {
    await this.#begin('delete', `${keys.length} keys`)
    const failures: { key: string; error: Error }[] = []
    for (const key of keys) {
      if (this.undeletable.has(key)) failures.push({ key, error: new FrazilError('STORE_UNAVAILABLE', `slow down: ${key}`) })
      else this.objects.delete(key)
    }
    return failures
  }
  multipart(): Promise<MultipartUpload> {
    throw new Error('not used')
  }
  uri(key: string): string {
    return `memory:///${key}`
  }
  keyOf(): string | null {
    return null
  }
  async close(): Promise<void> {}

  async #begin(request: string, key: string): Promise<void> {
    this.requests.push(`${request} ${key}`)
    await this.before(request, key)
  }
}
