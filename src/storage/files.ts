import fs from 'node:fs'
import { FrazilError } from '../base/errors.ts'

/**
 * The system calls that storage makes, as a port, so that a test can fail any of them. Callbacks wrapped once: cheaper per
 * call than FileHandle of fs/promises. All fail with Node's system errors (`code` ENOENT, …).
 */
export interface Files {
  open(path: string, flags: string | number): Promise<number>
  close(fd: number): Promise<void>
  /** Writes at `position`; returns how many bytes it took, which may be fewer than given. */
  writev(fd: number, buffers: readonly Uint8Array[], position: number): Promise<number>
  read(fd: number, target: Uint8Array, offset: number, length: number, position: number): Promise<number>
  fdatasync(fd: number): Promise<void>
  fsync(fd: number): Promise<void>
  truncate(fd: number, sizeBytes: number): Promise<void>
  /** Sets the modification time, in seconds. */
  setTime(fd: number, seconds: number): Promise<void>
  statOpen(fd: number): Promise<fs.BigIntStats>
  stat(path: string): Promise<fs.BigIntStats>
  rename(from: string, to: string): Promise<void>
  link(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  mkdir(path: string): Promise<void>
  rmdir(path: string): Promise<void>
  list(path: string): Promise<fs.Dirent[]>
}

type Done<T> = (error: Error | null, value?: T) => void

function call<T>(start: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => start((error, value) => (error ? reject(error) : resolve(value as T))))
}

export const systemFiles: Files = {
  open: (path, flags) => call((done) => fs.open(path, flags, 0o644, done)),
  close: (fd) => call((done) => fs.close(fd, done)),
  writev: (fd, buffers, position) => call((done) => fs.writev(fd, buffers, position, done)),
  read: (fd, target, offset, length, position) => call((done) => fs.read(fd, target, offset, length, position, done)),
  fdatasync: (fd) => call((done) => fs.fdatasync(fd, done)),
  fsync: (fd) => call((done) => fs.fsync(fd, done)),
  truncate: (fd, sizeBytes) => call((done) => fs.ftruncate(fd, sizeBytes, done)),
  setTime: (fd, seconds) => call((done) => fs.futimes(fd, seconds, seconds, done)),
  statOpen: (fd) => call((done) => fs.fstat(fd, { bigint: true }, done)),
  stat: (path) => call((done) => fs.stat(path, { bigint: true }, done)),
  rename: (from, to) => call((done) => fs.rename(from, to, done)),
  link: (from, to) => call((done) => fs.link(from, to, done)),
  unlink: (path) => call((done) => fs.unlink(path, done)),
  mkdir: (path) => call((done) => fs.mkdir(path, done)),
  rmdir: (path) => call((done) => fs.rmdir(path, done)),
  list: (path) => call((done) => fs.readdir(path, { withFileTypes: true }, done)),
}

const VECTOR_MAX = 1024 // IOV_MAX of Linux
/**
 * What one system call moves at most. A kernel without preemption keeps a core for the whole of a call, and new pages may be
 * slow to come by, so that a table file written in one would hold up every request for as long.
 */
const CALL_MAX_BYTES = 2 * 1024 * 1024
/** For what is written in the background. */
export const BACKGROUND_CALL_BYTES = 256 * 1024

/** Writes all buffers at `position`, at most `callBytes` a call. Returns the position after them. */
export async function writeAll(
  files: Files,
  fd: number,
  buffers: readonly Uint8Array[],
  position: number,
  callBytes = CALL_MAX_BYTES,
): Promise<number> {
  const some = buffers.filter((buffer) => buffer.length > 0)
  let next = 0
  /** Bytes of `some[next]` that are written. */
  let done = 0
  while (next < some.length) {
    let written = await files.writev(fd, callBuffers(some, next, done, callBytes), position)
    // A write of nothing that is not an error would loop for ever.
    if (written <= 0) throw new FrazilError('STORE_UNAVAILABLE', 'the disk took no bytes of a write')
    position += written
    written += done
    while (next < some.length && written >= some[next].length) written -= some[next++].length
    done = written
  }
  return position
}

/** The buffers of one call, from byte `done` of `buffers[from]` on. */
function callBuffers(buffers: readonly Uint8Array[], from: number, done: number, maxBytes: number): Uint8Array[] {
  const taken: Uint8Array[] = []
  let sizeBytes = 0
  for (let at = from; at < buffers.length && taken.length < VECTOR_MAX && sizeBytes < maxBytes; at++) {
    const start = at === from ? done : 0
    const piece = buffers[at].subarray(start, start + maxBytes - sizeBytes)
    sizeBytes += piece.length
    taken.push(piece)
  }
  return taken
}

/** Fills `target` from `position` on; returns how many bytes there were before the file's end. */
export async function readInto(files: Files, fd: number, target: Uint8Array, position: number): Promise<number> {
  let at = 0
  while (at < target.length) {
    const n = await files.read(fd, target, at, Math.min(target.length - at, CALL_MAX_BYTES), position + at)
    if (n === 0) break
    at += n
  }
  return at
}

const SMALL_BYTES = 4096

/** A body as the buffers to write and their total; many tiny ones are joined, since each costs more than its copy. */
export function bodyBuffers(body: Uint8Array | readonly Uint8Array[]): {
  readonly buffers: readonly Uint8Array[]
  readonly sizeBytes: number
} {
  if (body instanceof Uint8Array) return { buffers: [body], sizeBytes: body.length }
  let sizeBytes = 0
  for (const buffer of body) sizeBytes += buffer.length
  const tiny = body.length > 8 && sizeBytes < body.length * SMALL_BYTES
  return { buffers: tiny ? [Buffer.concat(body, sizeBytes)] : body, sizeBytes }
}
