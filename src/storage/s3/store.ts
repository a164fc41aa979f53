import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { systemClock, type Clock } from '../../base/clock.ts'
import { FrazilError } from '../../base/errors.ts'
import { silentLogger, type Logger } from '../../base/log.ts'
import type { Random } from '../../base/random.ts'
import { checkKey, isLegal, resolveRange } from '../keys.ts'
import type { RequestCounter } from '../metrics.ts'
import type { Body, ByteRange, GetResult, MultipartUpload, ObjectInfo, ObjectStore, Options, Reason, S3Spec } from '../store.ts'
import { Attempts } from './attempts.ts'
import { s3Client, SOCKETS_MAX } from './client.ts'
import { deleteAll } from './delete.ts'
import type { S3Failure } from './failures.ts'
import { etagOf, prepare, readBody, sizeOfContentRange, TOKEN } from './objects.ts'
import { Throttle } from './throttle.ts'
import { S3Upload } from './upload.ts'

export interface S3StoreOptions {
  readonly spec: S3Spec
  readonly clock?: Clock
  readonly random?: Random
  readonly logger?: Logger
  readonly metrics?: RequestCounter
  /** Made of `spec` when left out. */
  readonly client?: S3Client
  /** How often a request is sent at most, 8 by default, and how long after the first it may still be sent again, 20 s. */
  readonly tries?: number
  readonly retryForMs?: number
  /** Time limit of one attempt, 10 s by default; large bodies add to it. */
  readonly attemptMs?: number
  /** Keys a page of a list, at most 1000. */
  readonly pageKeys?: number
}

/** Where a condition of a put comes from: no object, or the version with this ETag. */
type Condition = { readonly IfNoneMatch: '*' } | { readonly IfMatch: string }

/** How often a lost answer is looked up; each is a request with tries of its own. */
const LOOK_TRIES = 4

/**
 * Objects in an S3 bucket. Conditional writes carry a token in the object's metadata, so that after a lost answer a HEAD
 * tells whether ours is the one that is there. An unconditional put whose answer is lost is sent again; should the first
 * still be on its way, it may land after later puts of that key: keys that matter are written once, or conditionally.
 */
export class S3Store implements ObjectStore {
  readonly spec: S3Spec
  readonly #client: S3Client
  readonly #attempts: Attempts
  readonly #prefix: string
  readonly #pageKeys: number
  readonly #running = new Set<Promise<unknown>>()
  #closed = false

  constructor(options: S3StoreOptions) {
    const clock = options.clock ?? systemClock
    this.spec = options.spec
    this.#client = options.client ?? s3Client(options.spec)
    this.#prefix = options.spec.prefix === '' ? '' : `${options.spec.prefix}/`
    this.#pageKeys = options.pageKeys ?? 1000
    this.#attempts = new Attempts({
      clock,
      random: options.random ?? Math.random,
      logger: options.logger ?? silentLogger,
      metrics: options.metrics,
      throttle: new Throttle(SOCKETS_MAX, clock),
      tries: options.tries ?? 8,
      retryForMs: options.retryForMs ?? 20_000,
      attemptMs: options.attemptMs ?? 10_000,
    })
  }

  put(key: string, body: Body, options?: Options): Promise<ObjectInfo> {
    return this.#track(async () => {
      checkKey(key)
      const { bytes, crc } = prepare(body)
      const output = await this.#attempts.run({
        kind: 'put',
        reason: options?.reason,
        what: `cannot write ${key}`,
        sizeBytes: bytes.length,
        write: true,
        send: (abortSignal) =>
          this.#client.send(new PutObjectCommand({ ...this.#at(key), Body: bytes, ChecksumCRC32C: crc }), { abortSignal }),
      })
      return { key, sizeBytes: bytes.length, etag: etagOf(output.ETag, key) }
    })
  }

  putIfAbsent(key: string, body: Body, options?: Options): Promise<ObjectInfo | null> {
    return this.#putIf(key, body, { IfNoneMatch: '*' }, options)
  }

  putIfMatch(key: string, body: Body, etag: string, options?: Options): Promise<ObjectInfo | null> {
    return this.#putIf(key, body, { IfMatch: etag }, options)
  }

  #putIf(key: string, body: Body, condition: Condition, options?: Options): Promise<ObjectInfo | null> {
    return this.#track(async () => {
      checkKey(key)
      const { bytes, crc } = prepare(body)
      const token = randomUUID()
      const etag = 'IfMatch' in condition ? condition.IfMatch : null
      return this.#attempts.run<ObjectInfo | null>({
        kind: 'put',
        reason: options?.reason,
        what: `cannot write ${key}`,
        sizeBytes: bytes.length,
        write: true,
        send: async (abortSignal) => {
          const input = { ...this.#at(key), Body: bytes, ChecksumCRC32C: crc, Metadata: { [TOKEN]: token }, ...condition }
          const output = await this.#client.send(new PutObjectCommand(input), { abortSignal })
          return { key, sizeBytes: bytes.length, etag: etagOf(output.ETag, key) }
        },
        answer: (failure, doubt) => {
          const isNo = failure.name === 'PreconditionFailed' || (etag !== null && isAbsent(failure))
          if (!isNo) return null
          return doubt ? this.lookForOurs(key, token, etag, options?.reason) : { value: null }
        },
        readBack: () => this.lookForOurs(key, token, etag, options?.reason),
      })
    })
  }

  /**
   * After a lost answer of a conditional write: our object; null for "another one is there"; nothing where what is there
   * still lets a repeated attempt win. Errors: STORE_UNKNOWN where the version that was to be replaced is gone and ours is
   * not seen: it may have been replaced in its turn.
   */
  async lookForOurs(
    key: string,
    token: string,
    etag: string | null,
    reason: Reason | undefined,
  ): Promise<{ readonly value: ObjectInfo | null } | null> {
    let seen
    try {
      seen = await this.#look(key, reason, LOOK_TRIES)
    } catch (error) {
      throw new FrazilError('STORE_UNKNOWN', `cannot write ${key}, and cannot see whether it was written`, error)
    }
    if (seen?.token === token) return { value: seen.info }
    if (etag === null) return seen === null ? null : { value: null }
    if (seen?.info.etag === etag) return null
    throw new FrazilError('STORE_UNKNOWN', `cannot write ${key}: the answer was lost, and another version is there now`)
  }

  get(key: string, options?: Options): Promise<GetResult> {
    return this.getRange(key, { start: 0 }, options)
  }

  getRange(key: string, range: ByteRange, options?: Options): Promise<GetResult> {
    return this.#track(async () => {
      checkKey(key)
      resolveRange(range, 0)
      if (range.end === range.start) return this.#nothingOf(key, options)
      const whole = range.start === 0 && range.end === undefined
      const text = range.start < 0 ? `bytes=${range.start}` : `bytes=${range.start}-${range.end === undefined ? '' : range.end - 1}`
      return this.#attempts.run<GetResult>({
        kind: 'get',
        reason: options?.reason,
        what: `cannot read ${key}`,
        sizeBytes: range.start < 0 ? -range.start : range.end === undefined ? 1 << 26 : range.end - range.start,
        send: async (abortSignal) => {
          const output = await this.#client.send(new GetObjectCommand({ ...this.#at(key), ...(whole ? {} : { Range: text }) }), {
            abortSignal,
          })
          const sizeBytes = output.ContentLength ?? 0
          const body = await readBody(output.Body as unknown as Readable, sizeBytes, abortSignal)
          const total = output.ContentRange === undefined ? sizeBytes : sizeOfContentRange(output.ContentRange)
          return { key, sizeBytes: total, etag: etagOf(output.ETag, key), body }
        },
        // a range that begins behind the end; of an empty object, any
        answer: async (failure) => (failure.status === 416 ? { value: await this.#nothingOf(key, options) } : null),
      })
    })
  }

  async #nothingOf(key: string, options?: Options): Promise<GetResult> {
    const seen = await this.#look(key, options?.reason)
    if (seen === null) throw new FrazilError('STORE_NOT_FOUND', `there is no ${key}`)
    return { ...seen.info, body: Buffer.alloc(0) }
  }

  head(key: string, options?: Options): Promise<ObjectInfo | null> {
    return this.#track(async () => {
      checkKey(key)
      return (await this.#look(key, options?.reason))?.info ?? null
    })
  }

  #look(key: string, reason: Reason | undefined, tries?: number): Promise<{ readonly info: ObjectInfo; readonly token?: string } | null> {
    return this.#attempts.run<{ info: ObjectInfo; token?: string } | null>({
      kind: 'head',
      reason,
      what: `cannot look up ${key}`,
      tries,
      send: async (abortSignal) => {
        const output = await this.#client.send(new HeadObjectCommand(this.#at(key)), { abortSignal })
        return { info: { key, sizeBytes: output.ContentLength ?? 0, etag: etagOf(output.ETag, key) }, token: output.Metadata?.[TOKEN] }
      },
      answer: (failure) => (isAbsent(failure) ? { value: null } : null),
    })
  }

  async *list(prefix: string, options?: Options & { readonly startAfter?: string }): AsyncGenerator<ObjectInfo> {
    let token: string | undefined
    do {
      const page = await this.#track(() =>
        this.#attempts.run({
          kind: 'list',
          reason: options?.reason,
          what: `cannot list ${prefix}`,
          send: (abortSignal) =>
            this.#client.send(
              new ListObjectsV2Command({
                Bucket: this.spec.bucket,
                Prefix: this.#prefix + prefix,
                MaxKeys: this.#pageKeys,
                ...(token !== undefined
                  ? { ContinuationToken: token }
                  : options?.startAfter
                    ? { StartAfter: this.#prefix + options.startAfter }
                    : {}),
              }),
              { abortSignal },
            ),
        }),
      )
      for (const { Key, Size, ETag } of page.Contents ?? []) {
        const key = (Key ?? '').slice(this.#prefix.length)
        // Consoles leave marks such as `folder/`; what no key of ours can be is not ours.
        if (isLegal(key)) yield { key, sizeBytes: Size ?? 0, etag: etagOf(ETag, key) }
      }
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined
    } while (token !== undefined)
  }

  delete(keys: readonly string[], options?: Options): Promise<readonly { readonly key: string; readonly error: Error }[]> {
    return this.#track(() =>
      deleteAll(keys, (batch) =>
        this.#attempts.run({
          kind: 'delete',
          reason: options?.reason,
          what: `cannot delete ${batch.length} objects`,
          send: async (abortSignal) => {
            const Objects = batch.map((key) => ({ Key: this.#prefix + key }))
            const output = await this.#client.send(
              new DeleteObjectsCommand({ Bucket: this.spec.bucket, Delete: { Objects, Quiet: true } }),
              { abortSignal },
            )
            return (output.Errors ?? []).map(({ Key, Code, Message }) => ({ key: (Key ?? '').slice(this.#prefix.length), Code, Message }))
          },
        }),
      ),
    )
  }

  multipart(key: string, options?: Options): Promise<MultipartUpload> {
    return this.#track(async () => {
      checkKey(key)
      const { reason } = options ?? {}
      return new S3Upload({
        store: this,
        client: this.#client,
        run: (call) => this.#track(() => this.#attempts.run(call)),
        key,
        reason,
        at: (any) => this.#at(any),
      })
    })
  }

  uri(key: string): string {
    return `s3://${this.spec.bucket}/${this.#prefix}${key}`
  }

  keyOf(uri: string): string | null {
    const match = /^s3[an]?:\/\/([^/]+)\/(.+)$/s.exec(uri)
    if (match === null || match[1] !== this.spec.bucket || !match[2]!.startsWith(this.#prefix)) return null
    const key = match[2]!.slice(this.#prefix.length)
    return key === '' ? null : key
  }

  /** Waits for what runs, then closes the connections. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await Promise.allSettled(this.#running)
    this.#client.destroy()
  }

  #at(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.spec.bucket, Key: this.#prefix + key }
  }

  async #track<T>(task: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new FrazilError('CLOSED', 'the store is closed')
    const running = task()
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }
}

/** No such key; a bucket that is absent is a failure of another kind. */
function isAbsent(failure: S3Failure): boolean {
  return failure.code === 'STORE_NOT_FOUND'
}
