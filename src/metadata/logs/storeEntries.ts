import { crc32c } from '@node-rs/crc32'
import type { Clock } from '../../base/clock.ts'
import { FrazilError, hasCode } from '../../base/errors.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { digits } from './segment.ts'

export const ENTRIES = 'meta/entries/'
/** What stands before the bytes of an entry in its object. */
export const STORE_HEAD_BYTES = 8
const MAGIC = 0x465a4f31 // "FZO1"
const BACKOFF_MS = 10
const BACKOFF_MAX_MS = 1000

export function entryKey(number: number): string {
  return `${ENTRIES}${digits(number)}`
}

/** Null for what is no entry. */
export function entryNumber(key: string): number | null {
  return /^\d{20}$/.test(key.slice(ENTRIES.length)) ? Number(key.slice(ENTRIES.length)) : null
}

/** Entries as objects; every request may be repeated, and is while the store fails. Error: LOG_UNAVAILABLE after `tries`. */
export interface EntryRequests {
  /** The bytes of an entry, null when absent. Error: LOG_CORRUPT. */
  get(number: number): Promise<Buffer | null>
  /** True when the entry is there with these bytes, from this try or an earlier one; false when it holds others. */
  create(number: number, bytes: Uint8Array): Promise<boolean>
  retry<T>(task: () => Promise<T>): Promise<T>
}

/** As EntryRequests says, over this store. */
export function entryRequests(store: ObjectStore, clock: Clock, tries: number): EntryRequests {
  const retry = async <T>(task: () => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await task()
      } catch (error) {
        if (!hasCode(error, 'STORE_UNAVAILABLE') && !hasCode(error, 'STORE_UNKNOWN')) throw error
        if (attempt >= tries)
          throw new FrazilError('LOG_UNAVAILABLE', `the metadata log does not answer: ${(error as Error).message}`, error)
        await clock.sleep(Math.min(BACKOFF_MS * 2 ** (attempt - 1), BACKOFF_MAX_MS))
      }
    }
  }
  const get = (number: number): Promise<Buffer | null> =>
    retry(async () => {
      try {
        return bodyBytes(number, store, (await store.get(entryKey(number), { reason: 'metadata' })).body)
      } catch (error) {
        if (hasCode(error, 'STORE_NOT_FOUND')) return null
        throw error
      }
    })
  const create = (number: number, bytes: Uint8Array): Promise<boolean> => {
    const head = Buffer.alloc(STORE_HEAD_BYTES)
    head.writeUInt32BE(MAGIC, 0)
    head.writeUInt32BE(crc32c(bytes), 4)
    return retry(async () => {
      try {
        if ((await store.putIfAbsent(entryKey(number), [head, bytes], { reason: 'metadata' })) !== null) return true
      } catch (error) {
        if (!hasCode(error, 'STORE_UNKNOWN')) throw error
        const found = await get(number)
        if (found === null) throw error // not there, or not yet: the same bytes once more do no harm
        return found.equals(bytes)
      }
      return (await get(number))?.equals(bytes) === true
    })
  }
  return { get, create, retry }
}

function bodyBytes(number: number, store: ObjectStore, body: Buffer): Buffer {
  const bytes = body.subarray(STORE_HEAD_BYTES)
  if (body.length < STORE_HEAD_BYTES || body.readUInt32BE(0) !== MAGIC || body.readUInt32BE(4) !== crc32c(bytes)) {
    throw new FrazilError(
      'LOG_CORRUPT',
      `the metadata log is damaged: entry ${number}, ${store.uri(entryKey(number))}, has a bad checksum; restore that object`,
    )
  }
  return bytes
}
