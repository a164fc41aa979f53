import { randomUUID } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
  type CompletedPart,
  type S3Client,
} from '@aws-sdk/client-s3'
import { FrazilError } from '../../base/errors.ts'
import { resolveRange } from '../keys.ts'
import type { RequestKind } from '../metrics.ts'
import type { Body, ByteRange, MultipartUpload, ObjectInfo, Reason } from '../store.ts'
import { Assembler, PART_MIN_BYTES, type Job, type Piece } from './assemble.ts'
import type { Call } from './attempts.ts'
import { copySource, etagOf, prepare, TOKEN } from './objects.ts'
import type { S3Store } from './store.ts'

/** What an upload needs of its store. */
export interface UploadHost {
  readonly store: S3Store
  readonly client: S3Client
  readonly run: <T>(call: Call<T>) => Promise<T>
  readonly key: string
  readonly reason: Reason | undefined
  /** Bucket and full key of a key of the store. */
  readonly at: (key: string) => { readonly Bucket: string; readonly Key: string }
}

/** Parts of one upload that are sent at the same time; further ones wait. */
const IN_FLIGHT = 4
const PART_MAX = 10_000
/** Server-side copies take a second for some hundred MiB. */
const COPY_BYTES_FACTOR = 0.02

/**
 * An upload to S3, whose parts but the last must have 5 MiB: smaller ones are joined (assemble.ts). Nothing is begun in the
 * store before there is a whole part; an upload that stays below that is one put.
 */
export class S3Upload implements MultipartUpload {
  readonly #host: UploadHost
  readonly #assembler = new Assembler()
  readonly #sent = new Map<number, CompletedPart & { readonly sizeBytes: number }>()
  readonly #failed = new Map<number, number>()
  readonly #running = new Set<Promise<void>>()
  readonly #waiting: (() => void)[] = []
  readonly #token = randomUUID()
  #slots = IN_FLIGHT
  #begun: Promise<string> | null = null
  #done = false

  constructor(host: UploadHost) {
    this.#host = host
  }

  putPart(part: number, body: Body): Promise<void> {
    return this.#part(part, async () => ({ kind: 'bytes', buffers: body instanceof Uint8Array ? [body] : body }))
  }

  copyPart(part: number, sourceKey: string, range: ByteRange): Promise<void> {
    return this.#part(part, async () => {
      const { store, reason } = this.#host
      const source = await store.head(sourceKey, { reason })
      if (source === null) throw new FrazilError('STORE_NOT_FOUND', `cannot copy ${sourceKey}: there is no such object`)
      const { start, end } = resolveRange(range, source.sizeBytes)
      if (end - start >= PART_MIN_BYTES) return { kind: 'copy', key: sourceKey, etag: source.etag, start, end }
      return { kind: 'bytes', buffers: [(await store.getRange(sourceKey, { start, end }, { reason })).body] }
    })
  }

  async #part(part: number, piece: () => Promise<Piece>): Promise<void> {
    if (this.#done) throw new FrazilError('REFUSED', 'the upload has ended')
    if (!Number.isInteger(part) || part < 1 || part > PART_MAX)
      throw new FrazilError('REFUSED', `part ${part} is not within 1 and ${PART_MAX}`)
    const running = piece().then(async (ready) => {
      await Promise.all(this.#assembler.add(part, ready).map((job) => this.#send(job)))
    })
    this.#running.add(running)
    try {
      await running
    } finally {
      this.#running.delete(running)
    }
  }

  /** Sends one S3 part; at most so many at once. */
  async #send(job: Job): Promise<void> {
    if (this.#slots > 0) this.#slots--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      const UploadId = await this.#begin()
      this.#sent.set(
        job.number,
        job.range !== null && job.buffers.length === 0 ? await this.#copy(job, UploadId) : await this.#put(job, UploadId),
      )
      this.#failed.delete(job.number)
    } catch (error) {
      this.#failed.set(job.number, job.part)
      throw error
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#slots++
      else next()
    }
  }

  #begin(): Promise<string> {
    const { at, client, key } = this.#host
    this.#begun ??= this.#request({
      kind: 'put',
      what: `cannot begin an upload of ${key}`,
      send: async (abortSignal) => {
        const output = await client.send(new CreateMultipartUploadCommand({ ...at(key), Metadata: { [TOKEN]: this.#token } }), {
          abortSignal,
        })
        return output.UploadId!
      },
    }).catch((error: unknown) => {
      this.#begun = null
      throw error
    })
    return this.#begun
  }

  async #put(job: Job, UploadId: string): Promise<CompletedPart & { readonly sizeBytes: number }> {
    const { at, client, key, reason, store } = this.#host
    const buffers = [...job.buffers]
    if (job.range !== null) buffers.push((await store.getRange(job.range.key, job.range, { reason })).body)
    const { bytes, crc } = prepare(buffers)
    const input = { ...at(key), UploadId, PartNumber: job.number, Body: bytes, ChecksumCRC32C: crc }
    const output = await this.#request({
      kind: 'put',
      what: `cannot write a part of ${key}`,
      sizeBytes: bytes.length,
      send: (abortSignal) => client.send(new UploadPartCommand(input), { abortSignal }),
    })
    return { PartNumber: job.number, ETag: etagOf(output.ETag, key), sizeBytes: bytes.length }
  }

  async #copy(job: Job, UploadId: string): Promise<CompletedPart & { readonly sizeBytes: number }> {
    const { at, client, key } = this.#host
    const range = job.range!
    const source = at(range.key)
    const input = {
      ...at(key),
      UploadId,
      PartNumber: job.number,
      CopySource: copySource(source.Bucket, source.Key),
      CopySourceRange: `bytes=${range.start}-${range.end - 1}`,
      CopySourceIfMatch: range.etag,
    }
    const sizeBytes = range.end - range.start
    const output = await this.#request({
      kind: 'copy',
      what: `cannot copy ${range.key}`,
      sizeBytes: sizeBytes * COPY_BYTES_FACTOR,
      send: (abortSignal) => client.send(new UploadPartCopyCommand(input), { abortSignal }),
    })
    return { PartNumber: job.number, ETag: etagOf(output.CopyPartResult?.ETag, key), sizeBytes }
  }

  async complete(options?: { readonly ifAbsent?: boolean }): Promise<ObjectInfo | null> {
    if (this.#done) throw new FrazilError('REFUSED', 'the upload has ended')
    if (this.#running.size > 0) throw new FrazilError('REFUSED', 'parts are still being sent')
    for (const part of this.#failed.values()) throw new FrazilError('REFUSED', `part ${part} failed and was not sent again`)
    this.#done = true
    const { key, reason, store } = this.#host
    const ifAbsent = options?.ifAbsent === true
    const { jobs, last } = this.#assembler.finish()
    if (this.#begun === null && jobs.length === 0) {
      return ifAbsent ? store.putIfAbsent(key, last?.buffers ?? [], { reason }) : store.put(key, last?.buffers ?? [], { reason })
    }
    try {
      await Promise.all([...jobs, ...(last === null ? [] : [last])].map((job) => this.#send(job)))
      const info = await this.#complete(ifAbsent)
      if (info === null) await this.#dropQuietly()
      return info
    } catch (error) {
      // an upload of unknown outcome must stay: ending it would not take back what was completed, and tells nothing
      if (!(error instanceof FrazilError && error.code === 'STORE_UNKNOWN')) await this.#dropQuietly()
      throw error
    }
  }

  async #complete(ifAbsent: boolean): Promise<ObjectInfo | null> {
    const { at, client, key, reason, store } = this.#host
    const UploadId = await this.#begin()
    const parts = [...this.#sent.values()].sort((a, b) => a.PartNumber! - b.PartNumber!)
    const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0)
    const Parts = parts.map(({ PartNumber, ETag }) => ({ PartNumber, ETag }))
    const look = async (): Promise<{ readonly value: ObjectInfo | null } | null> => {
      const seen = await store.lookForOurs(key, this.#token, null, reason)
      // Without the condition another's object is no answer: ours may still replace it.
      return seen === null || (seen.value === null && !ifAbsent) ? null : seen
    }
    return this.#request<ObjectInfo | null>({
      kind: 'put',
      what: `cannot complete the upload of ${key}`,
      write: true,
      sizeBytes: sizeBytes * COPY_BYTES_FACTOR,
      send: async (abortSignal) => {
        const input = { ...at(key), UploadId, MultipartUpload: { Parts }, ...(ifAbsent ? { IfNoneMatch: '*' } : {}) }
        const output = await client.send(new CompleteMultipartUploadCommand(input), { abortSignal })
        return { key, sizeBytes, etag: etagOf(output.ETag, key) }
      },
      answer: async (failure, doubt) => {
        if (failure.name === 'PreconditionFailed') return doubt ? look() : { value: null }
        if (failure.name !== 'NoSuchUpload' || !doubt) return null
        const seen = await look()
        if (seen !== null) return seen
        throw new FrazilError('STORE_UNKNOWN', `the upload of ${key} ended, and its object is not there: it may have been replaced`)
      },
      readBack: look,
    })
  }

  async abort(): Promise<void> {
    if (this.#done) return
    this.#done = true
    await Promise.allSettled(this.#running)
    await this.#drop()
  }

  /** Ends the upload in the store; gone already is as good. */
  async #drop(): Promise<void> {
    const UploadId = await this.#begun?.catch(() => null)
    if (UploadId === undefined || UploadId === null) return
    const { at, client, key } = this.#host
    await this.#request({
      kind: 'delete',
      what: `cannot give up the upload of ${key}`,
      send: async (abortSignal): Promise<void> => {
        await client.send(new AbortMultipartUploadCommand({ ...at(key), UploadId }), { abortSignal })
      },
      answer: (failure) => (failure.name === 'NoSuchUpload' ? { value: undefined } : null),
    })
  }

  /** For where another answer counts more: what cannot be ended, a lifecycle rule of the bucket does (docs/OPERATIONS.md). */
  async #dropQuietly(): Promise<void> {
    await this.#drop().catch(() => undefined)
  }

  #request<T>(call: Omit<Call<T>, 'reason'> & { readonly kind: RequestKind }): Promise<T> {
    return this.#host.run({ ...call, reason: this.#host.reason })
  }
}
