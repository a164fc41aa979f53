import { createHash, randomUUID } from 'node:crypto'

export interface FakeObject {
  readonly body: Buffer
  readonly etag: string
  readonly metadata: Readonly<Record<string, string>>
}

interface FakeUpload {
  readonly key: string
  readonly metadata: Readonly<Record<string, string>>
  readonly parts: Map<number, { readonly body: Buffer; readonly etag: string }>
}

/** An S3 error: status and code. */
export class FakeError extends Error {
  readonly status: number
  readonly code: string
  readonly headers: Readonly<Record<string, string>>
  constructor(status: number, code: string, headers: Readonly<Record<string, string>> = {}) {
    super(code)
    this.status = status
    this.code = code
    this.headers = headers
  }
}

const md5 = (body: Uint8Array): string => createHash('md5').update(body).digest('hex')
const PART_MIN_BYTES = 5 << 20

/** The objects of a fake bucket, by the rules of the S3 API reference. */
export class FakeBucket {
  /** As servers that do not know conditions. */
  ignoreConditions = false
  /** As servers that look first and write later, so that several creators win. */
  checkEarly = false
  /** Lists show the bucket as it was before this many writes. */
  staleWrites = 0
  readonly objects = new Map<string, FakeObject>()
  readonly uploads = new Map<string, FakeUpload>()
  readonly #history: ReadonlyMap<string, FakeObject>[] = []

  put(key: string, body: Buffer, metadata: Readonly<Record<string, string>>, conditions: Conditions): FakeObject {
    this.check(key, conditions)
    return this.#set(key, { body, etag: `"${md5(body)}"`, metadata })
  }

  check(key: string, conditions: Conditions): void {
    if (this.ignoreConditions) return
    const current = this.objects.get(key)
    if (conditions.ifNoneMatch === '*' && current !== undefined) throw new FakeError(412, 'PreconditionFailed')
    if (conditions.ifMatch === undefined) return
    if (current === undefined) throw new FakeError(404, 'NoSuchKey')
    if (current.etag !== conditions.ifMatch) throw new FakeError(412, 'PreconditionFailed')
  }

  #set(key: string, object: FakeObject): FakeObject {
    this.#remember()
    this.objects.set(key, object)
    return object
  }

  #remember(): void {
    if (this.staleWrites === 0) return
    this.#history.push(new Map(this.objects))
    if (this.#history.length > this.staleWrites) this.#history.shift()
  }

  get(key: string): FakeObject {
    const object = this.objects.get(key)
    if (object === undefined) throw new FakeError(404, 'NoSuchKey')
    return object
  }

  delete(key: string): void {
    this.#remember()
    this.objects.delete(key)
  }

  /** Keys after `after`, in order of UTF-8 bytes. */
  list(prefix: string, after: string): (readonly [string, FakeObject])[] {
    const seen = this.staleWrites > 0 ? (this.#history[0] ?? this.objects) : this.objects
    const from = Buffer.from(after)
    return [...seen]
      .filter(([key]) => key.startsWith(prefix) && (after === '' || Buffer.compare(Buffer.from(key), from) > 0))
      .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  }

  begin(key: string, metadata: Readonly<Record<string, string>>): string {
    const id = randomUUID()
    this.uploads.set(id, { key, metadata, parts: new Map() })
    return id
  }

  upload(id: string): FakeUpload {
    const upload = this.uploads.get(id)
    if (upload === undefined) throw new FakeError(404, 'NoSuchUpload')
    return upload
  }

  part(id: string, number: number, body: Buffer): string {
    const etag = `"${md5(body)}"`
    this.upload(id).parts.set(number, { body, etag })
    return etag
  }

  complete(id: string, wanted: readonly { readonly number: number; readonly etag: string }[], conditions: Conditions): FakeObject {
    const upload = this.upload(id)
    this.check(upload.key, conditions)
    const bodies = wanted.map(({ number, etag }, i) => {
      const part = upload.parts.get(number)
      if (part === undefined || part.etag !== etag) throw new FakeError(400, 'InvalidPart')
      if (i > 0 && number <= wanted[i - 1].number) throw new FakeError(400, 'InvalidPartOrder')
      if (i < wanted.length - 1 && part.body.length < PART_MIN_BYTES) throw new FakeError(400, 'EntityTooSmall')
      return part
    })
    if (bodies.length === 0) throw new FakeError(400, 'MalformedXML')
    const etag = `"${md5(Buffer.concat(bodies.map((part) => Buffer.from(part.etag.slice(1, -1), 'hex'))))}-${bodies.length}"`
    this.uploads.delete(id)
    return this.#set(upload.key, { body: Buffer.concat(bodies.map((part) => part.body)), etag, metadata: upload.metadata })
  }
}

export interface Conditions {
  readonly ifMatch?: string
  readonly ifNoneMatch?: string
}
