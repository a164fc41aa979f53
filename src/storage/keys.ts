import { FrazilError } from '../base/errors.ts'
import type { ByteRange } from './store.ts'

const KEY_MAX_BYTES = 1024 // what S3 allows
const SEGMENT_MAX_BYTES = 255 // what Linux file systems allow

/** True when a folder store keeps this key for itself: temporary files, and the lock, which dies when anyone closes it. */
export function isReserved(key: string): boolean {
  return key === '.tmp' || key.startsWith('.tmp/') || key.startsWith('meta/lock.')
}

/** Refuses keys that are not plain relative paths (see ObjectStore). */
export function checkKey(key: string): void {
  if (key === '' || Buffer.byteLength(key) > KEY_MAX_BYTES) throw refused(key, `be 1 to ${KEY_MAX_BYTES} bytes of UTF-8`)
  if (!key.isWellFormed()) throw refused(key, 'be valid Unicode')
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i)
    if (unit < 0x20 || unit === 0x7f) throw refused(key, 'have no control characters')
  }
  for (const segment of key.split('/')) {
    if (segment === '' || segment === '.' || segment === '..') throw refused(key, 'have no empty, "." or ".." segment')
    if (segment.length * 3 > SEGMENT_MAX_BYTES && Buffer.byteLength(segment) > SEGMENT_MAX_BYTES) {
      throw refused(key, `have segments of at most ${SEGMENT_MAX_BYTES} bytes`)
    }
  }
  if (isReserved(key)) throw refused(key, 'not be one the store keeps for itself')
}

/** True when `checkKey` takes it. */
export function isLegal(key: string): boolean {
  try {
    checkKey(key)
    return true
  } catch {
    return false
  }
}

function refused(key: string, rule: string): FrazilError {
  return new FrazilError('REFUSED', `the key ${JSON.stringify(key.slice(0, 200))} must ${rule}`)
}

/** Order of UTF-8 bytes, which is the order of code points; JavaScript's own `<` orders by UTF-16 units. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

/** Surrogates stand for code points above every other unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

/** The bytes [start, end) that a range means in an object of this size; cut at its end. */
export function resolveRange(range: ByteRange, sizeBytes: number): { readonly start: number; readonly end: number } {
  const { start, end } = range
  const whole = Number.isSafeInteger(start) && (end === undefined || (Number.isSafeInteger(end) && end >= start && start >= 0))
  if (!whole) throw new FrazilError('REFUSED', `the byte range ${start} to ${end ?? 'the end'} is not one`)
  if (start < 0) return { start: Math.max(0, sizeBytes + start), end: sizeBytes }
  return { start: Math.min(start, sizeBytes), end: Math.min(end ?? sizeBytes, sizeBytes) }
}
