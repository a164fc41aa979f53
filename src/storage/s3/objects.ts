import { crc32c } from '@node-rs/crc32'
import type { Readable } from 'node:stream'
import { FrazilError } from '../../base/errors.ts'
import type { Body } from '../store.ts'

/** Key of the user metadata that tells our own conditional write from another's of equal bytes. */
export const TOKEN = 'frazil-write'

/** A body in one buffer, with its CRC-32C as S3 wants it. Joining 8 MiB costs less than a stream of its small buffers. */
export function prepare(body: Body): { readonly bytes: Uint8Array; readonly crc: string } {
  const bytes = body instanceof Uint8Array ? body : body.length === 1 ? body[0] : Buffer.concat(body)
  const crc = Buffer.allocUnsafe(4)
  crc.writeUInt32BE(crc32c(bytes))
  return { bytes, crc: crc.toString('base64') }
}

/** Reads an answer's body of known size into one buffer; one that is cut, or goes on, is a failure of the connection. */
export async function readBody(stream: Readable, sizeBytes: number, signal: AbortSignal): Promise<Buffer> {
  const target = Buffer.allocUnsafeSlow(sizeBytes)
  let at = 0
  const stop = (): void => void stream.destroy(Object.assign(new Error('the answer took too long'), { name: 'TimeoutError' }))
  signal.addEventListener('abort', stop)
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (at + chunk.length > sizeBytes) throw cut(at + chunk.length, sizeBytes)
      target.set(chunk, at)
      at += chunk.length
    }
  } finally {
    signal.removeEventListener('abort', stop)
  }
  if (at < sizeBytes) throw cut(at, sizeBytes)
  return target
}

function cut(got: number, wanted: number): Error {
  return Object.assign(new Error(`an answer of ${got} bytes where ${wanted} were announced`), { code: 'ECONNRESET' })
}

/** The whole size in `bytes 5-9/100` or `bytes *\/100`, or -1. */
export function sizeOfContentRange(header: string | undefined): number {
  const match = /\/(\d+)$/.exec(header ?? '')
  return match === null ? -1 : Number(match[1])
}

/** S3 always names an ETag; a server that does not cannot hold conditions. */
export function etagOf(etag: string | undefined, key: string): string {
  if (etag === undefined || etag === '') throw new FrazilError('STORE_UNAVAILABLE', `the store gave no ETag for ${key}`)
  return etag
}

/** bucket/key as the copy-source header wants it. */
export function copySource(bucket: string, key: string): string {
  return `${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`
}
