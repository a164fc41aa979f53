import type { MultipartUpload, ObjectStore, Reason } from '../../storage/store.ts'

/** Parts of an upload: above the 5 MiB that S3 asks for, and large: each is paid for, and 8 MiB ones would double the price of a TB. */
const PART_BYTES = 32 * 1024 * 1024

/** Writes an object as its bytes come: in one put while it is small, in parts when it grows. */
export class Upload {
  readonly #store: ObjectStore
  readonly #key: string
  readonly #reason: Reason
  #chunks: Uint8Array[] = []
  #bytes = 0
  #parts: MultipartUpload | null = null
  #next = 1

  constructor(store: ObjectStore, key: string, reason: Reason) {
    this.#store = store
    this.#key = key
    this.#reason = reason
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#chunks.push(bytes)
    this.#bytes += bytes.length
    if (this.#bytes >= PART_BYTES) await this.#flush()
  }

  /** Nothing is visible before. */
  async finish(): Promise<void> {
    if (this.#parts === null) {
      await this.#store.put(this.#key, this.#chunks, { reason: this.#reason })
      return
    }
    if (this.#bytes > 0) await this.#flush()
    await this.#parts.complete()
  }

  async abort(): Promise<void> {
    await this.#parts?.abort()
  }

  async #flush(): Promise<void> {
    this.#parts ??= await this.#store.multipart(this.#key, { reason: this.#reason })
    const chunks = this.#chunks
    this.#chunks = []
    this.#bytes = 0
    await this.#parts.putPart(this.#next++, chunks)
  }
}
