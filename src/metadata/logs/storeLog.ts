import { crc32c } from '@node-rs/crc32'
import { FrazilError, hasCode } from '../../base/errors.ts'
import { systemClock, type Clock } from '../../base/clock.ts'
import type { ObjectStore } from '../../storage/store.ts'
import type { EntryLog, RawEntry } from '../entryLog.ts'
import { Marks } from './marks.ts'
import { digits } from './segment.ts'

export interface StoreLogOptions {
  readonly store: ObjectStore
  readonly clock?: Clock
  /** How often a request to the store is tried; 8 by default. */
  readonly tries?: number
}

const HEAD_BYTES = 8
const MAGIC = 0x465a4f31 // "FZO1"
const AHEAD_MAX = 32
const DELETE_KEYS = 1000
const BACKOFF_MS = 10
const BACKOFF_MAX_MS = 1000

/**
 * The log of a pod that has nothing but an object store: entry N is the object `meta/entries/<N>`, created if absent.
 * An answer that was lost is resolved by reading back equal bytes (L2). The floor is read again before every
 * acknowledgement: a number that was truncated is free in the store, and writing it proves nothing (L4).
 */
export class StoreLog implements EntryLog {
  readonly attachmentMaxBytes = 0
  readonly #store: ObjectStore
  readonly #clock: Clock
  readonly #tries: number
  readonly #marks: Marks
  readonly #sizes = new Map<number, number>()
  #sizeBytes = 0
  #end = 0
  #state: 'new' | 'open' | 'closed' = 'new'

  constructor(options: StoreLogOptions) {
    this.#store = options.store
    this.#clock = options.clock ?? systemClock
    this.#tries = options.tries ?? 8
    this.#marks = new Marks(options.store, 'meta/')
  }

  async open(): Promise<void> {
    if (this.#state !== 'new') throw new FrazilError('REFUSED', 'the metadata log was opened before')
    const floor = await this.#retry(() => this.#marks.floor())
    this.#state = 'open'
    this.#end = floor - 1
    await this.end()
  }

  async floor(): Promise<number> {
    this.#check()
    return this.#retry(() => this.#marks.floor())
  }

  async snapshots(): Promise<readonly number[]> {
    this.#check()
    return this.#retry(() => this.#marks.snapshots())
  }

  async readSnapshot(lastEntry: number): Promise<Buffer> {
    this.#check()
    return this.#retry(() => this.#marks.readSnapshot(lastEntry))
  }

  async writeSnapshot(lastEntry: number, bytes: Uint8Array): Promise<void> {
    this.#check()
    if (lastEntry > this.#end && lastEntry > (await this.end())) {
      throw new FrazilError('REFUSED', `a snapshot of entry ${lastEntry} is ahead of the log, which ends at ${this.#end}`)
    }
    await this.#retry(() => this.#marks.writeSnapshot(lastEntry, bytes))
  }

  async *read(from: number): AsyncGenerator<RawEntry> {
    if (from < (await this.floor())) throw gone(from)
    let ahead = 4
    for (let next = from; ; ahead = Math.min(ahead * 2, AHEAD_MAX)) {
      const batch = Array.from({ length: ahead }, (_, i) => this.#get(next + i))
      // Their errors are thrown in turn; one behind the end, or that nobody waits for any more, must not end the process.
      for (const entry of batch) entry.catch(() => undefined)
      for (const pending of batch) {
        const bytes = await pending
        if (bytes === null) {
          if (next < (await this.floor())) throw gone(next)
          return
        }
        this.#saw(next, bytes.length + HEAD_BYTES)
        yield { number: next, bytes, attachmentBytes: 0 }
        next++
      }
    }
  }

  /** Null when absent. Errors: LOG_CORRUPT. */
  async #get(number: number): Promise<Buffer | null> {
    const body = await this.#retry(async () => {
      try {
        return (await this.#store.get(entryKey(number), { reason: 'metadata' })).body
      } catch (error) {
        if (hasCode(error, 'STORE_NOT_FOUND')) return null
        throw error
      }
    })
    if (body === null) return null
    const bytes = body.subarray(HEAD_BYTES)
    if (body.length < HEAD_BYTES || body.readUInt32BE(0) !== MAGIC || body.readUInt32BE(4) !== crc32c(bytes)) {
      throw new FrazilError('LOG_CORRUPT', `the metadata log is damaged: entry ${number} has a bad checksum`)
    }
    return bytes
  }

  async append(number: number, bytes: Uint8Array, attachment: readonly Uint8Array[] = []): Promise<'written' | 'conflict'> {
    this.#check()
    if (attachment.some((part) => part.length > 0)) throw new FrazilError('LIMIT', 'this metadata log takes no attachments')
    if (number > this.#end + 1 && number > (await this.end()) + 1) {
      throw new FrazilError('REFUSED', `entry ${number} would leave a gap behind ${this.#end}`)
    }
    const head = Buffer.alloc(HEAD_BYTES)
    head.writeUInt32BE(MAGIC, 0)
    head.writeUInt32BE(crc32c(bytes), 4)
    const ours = await this.#retry(() => this.#create(number, [head, bytes], bytes))
    if (number < (await this.floor())) {
      // The number was used, seen and truncated before: what we created is not part of the log, and stays unread below the floor.
      return 'conflict'
    }
    if (ours) this.#saw(number, bytes.length + HEAD_BYTES)
    return ours ? 'written' : 'conflict'
  }

  /** True when the entry is there with these bytes, from this try or an earlier one; false when it holds others. */
  async #create(number: number, body: readonly Uint8Array[], bytes: Uint8Array): Promise<boolean> {
    try {
      if ((await this.#store.putIfAbsent(entryKey(number), body, { reason: 'metadata' })) !== null) return true
    } catch (error) {
      if (!hasCode(error, 'STORE_UNKNOWN')) throw error
      const found = await this.#get(number)
      if (found === null) throw error // not there, or not yet: the same bytes once more do no harm
      return found.equals(bytes)
    }
    return (await this.#get(number))?.equals(bytes) === true
  }

  /** Lists what is behind the last entry that was seen. */
  async end(): Promise<number> {
    this.#check()
    return this.#retry(async () => {
      // Entries are created in order, so the last key is the end. What is below the floor does not count (L4).
      const startAfter = entryKey(Math.max(this.#end, (await this.#marks.floor()) - 1))
      for await (const { key, sizeBytes } of this.#store.list(ENTRIES, { startAfter, reason: 'metadata' })) {
        this.#saw(Number(key.slice(ENTRIES.length)), sizeBytes)
      }
      return this.#end
    })
  }

  readAttachment(number: number): Promise<Buffer> {
    return Promise.reject(
      new FrazilError('STORE_NOT_FOUND', `entry ${number} has nothing attached: this metadata log takes no attachments`),
    )
  }

  async truncate(floor: number): Promise<void> {
    this.#check()
    if (floor > (await this.end()) + 1)
      throw new FrazilError('REFUSED', `a floor of ${floor} is ahead of the log, which ends at ${this.#end}`)
    await this.#retry(() => this.#marks.raiseFloor(floor))
    const first = entryKey(await this.floor())
    const failed = new Set<string>()
    await this.#retry(async () => {
      failed.clear()
      let keys: string[] = []
      const drop = async (): Promise<void> => {
        // What fails stays below the floor, where nobody reads, and is found again by the next truncation.
        for (const { key } of await this.#store.delete(keys, { reason: 'metadata' })) failed.add(key)
        keys = []
      }
      for await (const { key } of this.#store.list(ENTRIES, { reason: 'metadata' })) {
        if (key >= first) break
        if (keys.push(key) === DELETE_KEYS) await drop()
      }
      if (keys.length > 0) await drop()
      await this.#marks.dropOldSnapshots()
    })
    for (const [number, sizeBytes] of this.#sizes) {
      if (entryKey(number) >= first || failed.has(entryKey(number))) continue
      this.#sizeBytes -= sizeBytes
      this.#sizes.delete(number)
    }
  }

  sizeBytes(): number {
    return this.#sizeBytes
  }

  async close(): Promise<void> {
    this.#state = 'closed'
  }

  #saw(number: number, sizeBytes: number): void {
    this.#end = Math.max(this.#end, number)
    if (this.#sizes.has(number)) return
    this.#sizes.set(number, sizeBytes)
    this.#sizeBytes += sizeBytes
  }

  /** Tries again what may pass or whose outcome is unknown: all requests of this log can be repeated. */
  async #retry<T>(task: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await task()
      } catch (error) {
        if (!hasCode(error, 'STORE_UNAVAILABLE') && !hasCode(error, 'STORE_UNKNOWN')) throw error
        if (attempt >= this.#tries)
          throw new FrazilError('LOG_UNAVAILABLE', `the metadata log does not answer: ${(error as Error).message}`, error)
        await this.#clock.sleep(Math.min(BACKOFF_MS * 2 ** (attempt - 1), BACKOFF_MAX_MS))
      }
    }
  }

  #check(): void {
    if (this.#state !== 'open') throw new FrazilError('CLOSED', 'the metadata log is not open')
  }
}

const ENTRIES = 'meta/entries/'

function entryKey(number: number): string {
  return `${ENTRIES}${digits(number)}`
}

function gone(number: number): FrazilError {
  return new FrazilError('STORE_NOT_FOUND', `entry ${number} is not in the metadata log any more`)
}
