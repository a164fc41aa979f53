import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { crc32c } from '@node-rs/crc32'
import { FakeBucket, FakeError, type Conditions, type FakeObject } from './fakeBucket.ts'

/** What happens to one request. Everything is optional; an empty fault is none. */
export interface S3Fault {
  readonly delayMs?: number
  /** Answered without an effect. */
  readonly status?: number
  readonly code?: string
  /** The connection is closed before the request takes effect, or after it did. */
  readonly cut?: 'before' | 'after'
  /** Takes effect, then answers this much later. */
  readonly answerDelayMs?: number
  /** The answer is cut within its body. */
  readonly half?: boolean
}

/** What a fault plan is asked about. */
export interface S3Request {
  /** PUT, GET, HEAD, POST, DELETE. */
  readonly method: string
  readonly bucket: string
  readonly key: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
}

/**
 * An S3 server of one process for tests, path-style, without signatures: what the API reference says of conditions, ranges,
 * checksums, parts and lists, and on demand what real servers do rarely: 409, 503, lost answers, stale lists, ignored conditions.
 */
export class FakeS3 {
  readonly buckets = new Map<string, FakeBucket>()
  faults: ((request: S3Request) => S3Fault | null) | null = null
  readonly requests: S3Request[] = []
  /** False: `requests` stays empty, for long runs. */
  keepRequests = true
  served = 0
  #server: Server | null = null

  static async start(...buckets: readonly string[]): Promise<FakeS3> {
    const fake = new FakeS3()
    for (const name of buckets) fake.buckets.set(name, new FakeBucket())
    const server = createServer((request, response) => void fake.#serve(request, response))
    fake.#server = server
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return fake
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server!.address() as AddressInfo).port}`
  }

  bucket(name: string): FakeBucket {
    const bucket = this.buckets.get(name)
    if (bucket === undefined) throw new FakeError(404, 'NoSuchBucket')
    return bucket
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections()
    await new Promise((resolve) => this.#server!.close(resolve))
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(message.url!, 'http://x')
    const [bucket, ...rest] = url.pathname.slice(1).split('/')
    const key = rest.map(decodeURIComponent).join('/')
    const request = { method: message.method!, bucket, key, query: url.searchParams, headers: message.headers }
    this.served++
    if (this.keepRequests) this.requests.push(request)
    try {
      const fault = this.faults?.(request) ?? {}
      const body = await bodyOf(message)
      if (fault.delayMs !== undefined) await sleep(fault.delayMs)
      if (fault.cut === 'before') return void message.socket.destroy()
      if (fault.status !== undefined) throw new FakeError(fault.status, fault.code ?? 'InternalError')
      const early = request.method === 'PUT' && key !== '' && this.bucket(bucket).checkEarly
      if (early) {
        this.bucket(bucket).check(key, conditionsOf(request))
        await sleep(5)
      }
      const answer = this.#answer(early ? { ...request, headers: {} } : request, body)
      if (fault.cut === 'after') return void message.socket.destroy()
      if (fault.answerDelayMs !== undefined) await sleep(fault.answerDelayMs)
      response.writeHead(answer.status ?? 200, answer.headers)
      if (fault.half === true && answer.body !== undefined) {
        response.write(answer.body.subarray(0, answer.body.length / 2))
        await sleep(5)
        return void message.socket.destroy()
      }
      response.end(request.method === 'HEAD' ? undefined : answer.body)
    } catch (error) {
      if (!(error instanceof FakeError)) return void message.socket.destroy()
      response.writeHead(error.status, { 'content-type': 'application/xml', ...error.headers })
      response.end(request.method === 'HEAD' ? undefined : `<Error><Code>${error.code}</Code><Message>fake</Message></Error>`)
    }
  }

  #answer(request: S3Request, body: Buffer): Answer {
    const { method, key, query, headers } = request
    const bucket = this.bucket(request.bucket)
    const uploadId = query.get('uploadId')
    const metadata = Object.fromEntries(
      Object.entries(headers)
        .filter(([name]) => name.startsWith('x-amz-meta-'))
        .map(([name, value]) => [name, String(value)]),
    )
    const conditions = conditionsOf(request)
    if (key === '' && method === 'GET') return list(bucket, query)
    if (key === '' && method === 'POST') return deleteKeys(bucket, body.toString())
    switch (method) {
      case 'PUT': {
        const source = headers['x-amz-copy-source']
        if (uploadId !== null && typeof source === 'string') {
          return xml(
            `<CopyPartResult><ETag>${bucket.part(uploadId, Number(query.get('partNumber')), this.#source(source, headers))}</ETag></CopyPartResult>`,
          )
        }
        checkCrc(headers['x-amz-checksum-crc32c'], body)
        if (uploadId !== null) return { headers: { etag: bucket.part(uploadId, Number(query.get('partNumber')), body) } }
        return { headers: { etag: bucket.put(key, body, metadata, conditions).etag } }
      }
      case 'GET':
        return read(bucket.get(key), headers.range)
      case 'HEAD':
        return head(bucket.get(key))
      case 'POST': {
        if (uploadId === null) return xml(`<R><UploadId>${bucket.begin(key, metadata)}</UploadId></R>`, 'InitiateMultipartUploadResult')
        const parts = [...body.toString().matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part]) => ({
          number: Number(/<PartNumber>(\d+)</.exec(part)![1]),
          etag: unescapeXml(/<ETag>(.*?)<\/ETag>/.exec(part)![1]),
        }))
        return xml(`<R><ETag>${bucket.complete(uploadId, parts, conditions).etag}</ETag></R>`, 'CompleteMultipartUploadResult')
      }
      case 'DELETE':
        if (uploadId !== null && !bucket.uploads.delete(uploadId)) throw new FakeError(404, 'NoSuchUpload')
        if (uploadId === null) bucket.delete(key)
        return { status: 204, headers: {} }
      default:
        throw new FakeError(405, 'MethodNotAllowed')
    }
  }

  #source(header: string, headers: IncomingMessage['headers']): Buffer {
    const [name, ...rest] = decodeURIComponent(header).replace(/^\//, '').split('/')
    const object = this.bucket(name).get(rest.join('/'))
    const match = headers['x-amz-copy-source-if-match']
    if (match !== undefined && match !== object.etag) throw new FakeError(412, 'PreconditionFailed')
    const range = /^bytes=(\d+)-(\d+)$/.exec(String(headers['x-amz-copy-source-range']))!
    if (Number(range[2]) >= object.body.length) throw new FakeError(400, 'InvalidArgument')
    return object.body.subarray(Number(range[1]), Number(range[2]) + 1)
  }
}

interface Answer {
  readonly status?: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
}

function conditionsOf({ headers }: S3Request): Conditions {
  return { ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'] }
}

function read(object: FakeObject, range: string | undefined): Answer {
  const size = object.body.length
  if (range === undefined) return { ...head(object), body: object.body }
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(range)!
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === '' || to === '' ? size : Math.min(size, Number(to) + 1)
  if (start >= size) throw new FakeError(416, 'InvalidRange', { 'content-range': `bytes */${size}` })
  const body = object.body.subarray(start, end)
  const headers = { etag: object.etag, 'content-length': String(body.length), 'content-range': `bytes ${start}-${end - 1}/${size}` }
  return { status: 206, headers, body }
}

function head(object: FakeObject): Answer {
  return { headers: { etag: object.etag, 'content-length': String(object.body.length), ...object.metadata } }
}

function list(bucket: FakeBucket, query: URLSearchParams): Answer {
  const max = Math.min(1000, Number(query.get('max-keys') ?? 1000))
  const token = query.get('continuation-token')
  const after = token === null ? (query.get('start-after') ?? '') : Buffer.from(token, 'base64').toString()
  const found = bucket.list(query.get('prefix') ?? '', after)
  const page = found.slice(0, max)
  const more = found.length > max
  const next = more ? `<NextContinuationToken>${Buffer.from(page.at(-1)![0]).toString('base64')}</NextContinuationToken>` : ''
  const contents = page.map(
    ([key, object]) => `<Contents><Key>${escapeXml(key)}</Key><ETag>${object.etag}</ETag><Size>${object.body.length}</Size></Contents>`,
  )
  return xml(`<ListBucketResult><IsTruncated>${more}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`)
}

/** Keys that end in `.undeletable` are refused; those in `.busy` the first time. */
function deleteKeys(bucket: FakeBucket, body: string): Answer {
  const errors: string[] = []
  for (const [, escaped] of body.matchAll(/<Key>(.*?)<\/Key>/gs)) {
    const key = unescapeXml(escaped)
    const busy = key.endsWith('.busy') && !busyOnce.has(key)
    if (busy) busyOnce.add(key)
    const code = busy ? 'SlowDown' : key.endsWith('.undeletable') ? 'AccessDenied' : null
    if (code === null) bucket.delete(key)
    else errors.push(`<Error><Key>${escapeXml(key)}</Key><Code>${code}</Code><Message>fake</Message></Error>`)
  }
  return xml(`<DeleteResult>${errors.join('')}</DeleteResult>`)
}

const busyOnce = new Set<string>()

function checkCrc(given: string | string[] | undefined, body: Buffer): void {
  if (given === undefined) return
  const wanted = Buffer.alloc(4)
  wanted.writeUInt32BE(crc32c(body))
  if (given !== wanted.toString('base64')) throw new FakeError(400, 'BadDigest')
}

function xml(body: string, root?: string): Answer {
  const text = root === undefined ? body : body.replace(/^<R>/, `<${root}>`).replace(/<\/R>$/, `</${root}>`)
  return { headers: { 'content-type': 'application/xml' }, body: Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>${text}`) }
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}

function unescapeXml(text: string): string {
  const named: Record<string, string> = { quot: '"', amp: '&', lt: '<', gt: '>', apos: "'" }
  return text.replace(/&(#x?[0-9a-f]+|\w+);/gi, (_, name: string) =>
    name.startsWith('#') ? String.fromCodePoint(Number(name.startsWith('#x') ? `0x${name.slice(2)}` : name.slice(1))) : named[name],
  )
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
