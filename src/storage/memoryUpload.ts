import { FrazilError } from '../base/errors.ts'
import { resolveRange } from './keys.ts'
import type { Body, ByteRange, MultipartUpload, ObjectInfo } from './store.ts'

/** What an upload needs of its store. */
export interface MemoryUploadHost {
  readonly request: <T>(request: 'putPart' | 'complete', effect: () => T) => Promise<T>
  readonly source: (key: string) => Buffer
  readonly store: (bytes: Buffer, ifAbsent: boolean) => ObjectInfo | null
}

/** An upload to a memory store. */
export class MemoryUpload implements MultipartUpload {
  readonly #host: MemoryUploadHost
  readonly #parts = new Map<number, Buffer>()
  #running = 0
  #done = false

  constructor(host: MemoryUploadHost) {
    this.#host = host
  }

  putPart(part: number, body: Body): Promise<void> {
    const bytes = Buffer.concat(body instanceof Uint8Array ? [body] : body)
    return this.#part(part, () => bytes)
  }

  copyPart(part: number, sourceKey: string, range: ByteRange): Promise<void> {
    return this.#part(part, () => {
      const source = this.#host.source(sourceKey)
      const { start, end } = resolveRange(range, source.length)
      return Buffer.from(source.subarray(start, end))
    })
  }

  async #part(part: number, bytes: () => Buffer): Promise<void> {
    if (this.#done) throw new FrazilError('REFUSED', 'the upload has ended')
    if (!Number.isInteger(part) || part < 1 || part > 10_000) throw new FrazilError('REFUSED', `part ${part} is not within 1 and 10000`)
    this.#running++
    try {
      await this.#host.request('putPart', () => void this.#parts.set(part, bytes()))
    } finally {
      this.#running--
    }
  }

  async complete(options?: { readonly ifAbsent?: boolean }): Promise<ObjectInfo | null> {
    if (this.#done) throw new FrazilError('REFUSED', 'the upload has ended')
    if (this.#running > 0) throw new FrazilError('REFUSED', 'parts are still being sent')
    this.#done = true
    const parts = [...this.#parts].sort(([a], [b]) => a - b).map(([, bytes]) => bytes)
    return this.#host.request('complete', () => this.#host.store(Buffer.concat(parts), options?.ifAbsent === true))
  }

  async abort(): Promise<void> {
    this.#done = true
    this.#parts.clear()
  }
}
