import { FrazilError } from '../../base/errors.ts'
import { systemClock, type Clock } from '../../base/clock.ts'
import type { ObjectStore } from '../../storage/store.ts'
import type { EntryLog, RawEntry } from '../entryLog.ts'
import { Marks } from './marks.ts'
import { RecentEntries } from './recentEntries.ts'
import { type EntryRequests, ENTRIES, entryKey, entryNumber, entryRequests, STORE_HEAD_BYTES } from './storeEntries.ts'
import { type Instant, TailSeen } from './tailSeen.ts'

export interface StoreLogOptions {
  readonly store: ObjectStore
  readonly clock?: Clock
  /** How often a request to the store is tried; 8 by default. */
  readonly tries?: number
  /** An entry stays at least this long after every truncating pod has seen it (L4); 10 minutes by default. */
  readonly retentionMs?: number
  /** Entries kept in memory: for snapshots, for what was read while looking for the end. */
  readonly recentBytes?: number
}

const AHEAD_MAX = 64
const DELETE_KEYS = 1000

/**
 * The log of pods that share nothing but an object store: entry N is the object `meta/entries/<N>`, created if absent.
 * An answer that was lost is resolved by reading back equal bytes (L2). A number that was truncated is free in the store,
 * and creating it proves nothing: who has not seen the end for half the retention reads the floor again before it believes
 * its own or anybody's object (L4). Listed only when opened and when truncating.
 */
export class StoreLog implements EntryLog {
  readonly attachmentMaxBytes = 0
  readonly shared = true
  readonly retentionMs: number
  readonly #store: ObjectStore
  readonly #clock: Clock
  readonly #marks: Marks
  readonly #requests: EntryRequests
  readonly #recent: RecentEntries
  readonly #seen: TailSeen
  #sizeBytes = 0
  #floor = 1
  /** The highest entry that is known to exist. */
  #end = 0
  #state: 'new' | 'open' | 'closed' = 'new'

  constructor(options: StoreLogOptions) {
    this.#store = options.store
    this.#clock = options.clock ?? systemClock
    this.retentionMs = options.retentionMs ?? 600_000
    this.#marks = new Marks(options.store, 'meta/')
    this.#requests = entryRequests(options.store, this.#clock, options.tries ?? 8)
    this.#recent = new RecentEntries(options.recentBytes ?? 16 << 20)
    this.#seen = new TailSeen(this.#clock, this.retentionMs / 2)
  }

  async open(): Promise<void> {
    if (this.#state !== 'new') throw new FrazilError('REFUSED', 'the metadata log was opened before')
    await this.#readFloor()
    this.#end = this.#floor - 1
    await this.#retry(async () => {
      this.#sizeBytes = 0
      for await (const { key, sizeBytes } of this.#store.list(ENTRIES, { startAfter: entryKey(this.#floor - 1), reason: 'metadata' })) {
        const number = entryNumber(key)
        if (number === null) continue
        this.#end = Math.max(this.#end, number)
        this.#sizeBytes += sizeBytes
      }
    })
    this.#state = 'open'
    await this.end()
  }

  async floor(): Promise<number> {
    this.#check()
    return this.#readFloor()
  }

  async #readFloor(): Promise<number> {
    this.#floor = Math.max(this.#floor, await this.#retry(() => this.#marks.floor()))
    this.#recent.dropBelow(this.#floor)
    return this.#floor
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

  /** What is known to exist is read many at a time; behind it one, then more and more while there are any. */
  async *read(from: number): AsyncGenerator<RawEntry> {
    this.#check()
    if (from < this.#floor) throw gone(from)
    let next = from
    let width = 1
    let asked = this.#asking()
    let coming = this.#begin(next, this.#widthAt(next, width))
    for (;;) {
      const batch = await Promise.all(coming)
      const askedThis = asked
      const found = batch.indexOf(null) < 0 ? batch.length : batch.indexOf(null)
      const first = next
      const last = next + found - 1
      // What came may have been made by a writer that slept through a truncation: below the floor, and no part of the log.
      if (found > 0 && this.#seen.stale() && first < (await this.#readFloor())) throw gone(first)
      const whole = found === batch.length
      if (last > askedThis.knownEnd) width = Math.min(width * 2, AHEAD_MAX)
      asked = this.#asking()
      if (whole) coming = this.#begin(last + 1, this.#widthAt(last + 1, width))
      for (; next <= last; next++) {
        const bytes = batch[next - first]!
        this.#saw(next, bytes)
        yield { number: next, bytes, attachmentBytes: 0 }
        this.#check()
      }
      if (!whole) {
        await this.#absent(next, askedThis)
        return
      }
    }
  }

  #widthAt(number: number, width: number): number {
    return number <= this.#end ? Math.min(this.#end - number + 1, AHEAD_MAX) : width
  }

  #begin(from: number, count: number): Promise<Buffer | null>[] {
    const batch = Array.from({ length: count }, (_, i) => this.#get(from + i))
    // Their errors are thrown when they are waited for; those nobody waits for any more must not end the process.
    for (const entry of batch) entry.catch(() => undefined)
    return batch
  }

  /** Null when absent. Errors: LOG_CORRUPT. */
  #get(number: number): Promise<Buffer | null> {
    const known = this.#recent.get(number)
    return known === null ? this.#requests.get(number) : Promise.resolve(known)
  }

  /** Entry `number` was not found: it is the end, or (error STORE_NOT_FOUND) below the floor, or (LOG_CORRUPT) was removed. */
  async #absent(number: number, { knownEnd, instant }: { knownEnd: number; instant: Instant }): Promise<void> {
    if (number > knownEnd && !this.#seen.stale()) return this.#sawEnd(number - 1, instant)
    if (number < (await this.#readFloor())) throw gone(number)
    if (number <= knownEnd) {
      throw new FrazilError(
        'LOG_CORRUPT',
        `entry ${number} of the metadata log is missing, ${this.#store.uri(entryKey(number))}, but ${knownEnd} exists: somebody removed it; ` +
          'restore that object (a version or a backup of the bucket has it)',
      )
    }
    // The floor was read after the entry was not found: its number had never been used when it was asked for.
    this.#sawEnd(number - 1, instant)
  }

  /** That `end` is the last entry proves something only where it is the last that is known. */
  #sawEnd(end: number, instant: Instant): void {
    if (end === this.#end) this.#seen.at(instant)
  }

  /** What is known when a request is sent. */
  #asking(): { knownEnd: number; instant: Instant } {
    return { knownEnd: this.#end, instant: this.#seen.now() }
  }

  async append(number: number, bytes: Uint8Array, attachment: readonly Uint8Array[] = []): Promise<'written' | 'conflict'> {
    this.#check()
    if (attachment.some((part) => part.length > 0)) throw new FrazilError('LIMIT', 'this metadata log takes no attachments')
    if (number < this.#floor) return 'conflict'
    if (number > this.#end + 1 && number > (await this.end()) + 1) {
      throw new FrazilError('REFUSED', `entry ${number} would leave a gap behind ${this.#end}`)
    }
    const asked = this.#seen.now()
    const ours = await this.#requests.create(number, bytes)
    // Free is not unused: it may have been truncated while this process was paused. Then what we made stays unread below the floor.
    if (this.#seen.stale() && number < (await this.#readFloor())) return 'conflict'
    if (!ours) return 'conflict'
    if (number === this.#end + 1) this.#seen.at(asked)
    this.#saw(number, Buffer.from(bytes))
    return 'written'
  }

  /** Probes behind the last entry that is known: one request when there is nothing new. What it meets is kept for `read`. */
  async end(): Promise<number> {
    this.#check()
    for (let width = 1; ; width = Math.min(width * 2, AHEAD_MAX)) {
      const asked = this.#seen.now()
      const first = this.#end + 1
      const batch = await Promise.all(this.#begin(first, width))
      const absent = batch.indexOf(null)
      if (absent !== 0 && this.#seen.stale() && first < (await this.#readFloor())) {
        this.#end = Math.max(this.#end, this.#floor - 1)
        continue
      }
      batch.slice(0, absent < 0 ? batch.length : absent).forEach((bytes, i) => this.#saw(first + i, bytes!))
      if (absent < 0) continue
      const next = first + absent
      if (next <= this.#end) continue // somebody of this process went on meanwhile
      if (!this.#seen.stale()) {
        this.#sawEnd(next - 1, asked)
        return this.#end
      }
      if (next >= (await this.#readFloor())) {
        this.#sawEnd(next - 1, asked)
        return this.#end
      }
      this.#end = Math.max(this.#end, this.#floor - 1)
    }
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
    const first = entryKey(await this.#readFloor())
    await this.#retry(async () => {
      let keys: { readonly key: string; readonly sizeBytes: number }[] = []
      const drop = async (): Promise<void> => {
        const wanted = keys.map(({ key }) => key)
        // What fails stays below the floor, where nobody reads, and is found again by the next truncation.
        const failed = new Set((await this.#store.delete(wanted, { reason: 'metadata' })).map(({ key }) => key))
        for (const { key, sizeBytes } of keys) if (!failed.has(key)) this.#sizeBytes = Math.max(0, this.#sizeBytes - sizeBytes)
        keys = []
      }
      for await (const { key, sizeBytes } of this.#store.list(ENTRIES, { reason: 'metadata' })) {
        if (key >= first) break
        if (keys.push({ key, sizeBytes }) === DELETE_KEYS) await drop()
      }
      if (keys.length > 0) await drop()
      await this.#marks.dropOldSnapshots()
    })
  }

  watch(): () => void {
    return () => {}
  }

  sizeBytes(): number {
    return this.#sizeBytes
  }

  async close(): Promise<void> {
    this.#state = 'closed'
  }

  #saw(number: number, bytes: Buffer): void {
    if (number > this.#end) {
      this.#end = number
      this.#sizeBytes += bytes.length + STORE_HEAD_BYTES
    }
    this.#recent.add(number, bytes)
  }

  #retry<T>(task: () => Promise<T>): Promise<T> {
    return this.#requests.retry(task)
  }

  #check(): void {
    if (this.#state !== 'open') throw new FrazilError('CLOSED', 'the metadata log is not open')
  }
}

function gone(number: number): FrazilError {
  return new FrazilError('STORE_NOT_FOUND', `entry ${number} is not in the metadata log any more`)
}
