import type { Clock } from '../../base/clock.ts'
import type { BatchList } from './batches.ts'

/** A reader that has not come back for this long no longer holds what it was reading. */
export const READER_GONE_MS = 5_000

/** A decoded row group, and who is in the middle of it. */
export class DecodedGroup {
  readonly list: BatchList
  readonly sizeBytes: number
  /** When each partition that has batches left to read was last read, or asked for. */
  readonly #readers = new Map<number, number>()
  readonly #served: Uint8Array
  #unserved: number

  constructor(list: BatchList) {
    this.list = list
    this.sizeBytes = heldBytes(list)
    this.#served = new Uint8Array(list.batches.length)
    this.#unserved = list.batches.length
  }

  /** Each batch was served to somebody. */
  get isFinished(): boolean {
    return this.#unserved === 0
  }

  /** A partition is about to be read from here, or has more to read. */
  expect(partition: number, nowMs: number): void {
    this.#readers.set(partition, nowMs)
  }

  /** A partition has nothing more to read here. */
  release(partition: number): void {
    this.#readers.delete(partition)
  }

  /** Batches [from, to) of the list were handed out. */
  markServed(from: number, to: number): void {
    for (let i = from; i < to; i++) {
      if (this.#served[i] === 0) this.#unserved--
      this.#served[i] = 1
    }
  }

  /** True while a reader is in the middle of it. */
  isRead(nowMs: number): boolean {
    for (const [partition, atMs] of this.#readers) {
      if (nowMs - atMs < READER_GONE_MS) return true
      this.#readers.delete(partition)
    }
    return false
  }
}

/**
 * Decoded row groups within a bound of bytes. One that a reader is in the middle of stays: were it dropped for another
 * one, it would be decoded again for the next few batches, and nobody would get anywhere. Of the others those that were
 * served as a whole go first, then those not used for longest.
 */
export class GroupCache {
  readonly #maxBytes: number
  readonly #clock: Clock
  /** Least recently used first. */
  readonly #groups = new Map<string, DecodedGroup>()
  #usedBytes = 0

  constructor(options: { readonly maxBytes: number; readonly clock: Clock }) {
    this.#maxBytes = options.maxBytes
    this.#clock = options.clock
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  has(key: string): boolean {
    return this.#groups.has(key)
  }

  get(key: string): DecodedGroup | null {
    const group = this.#groups.get(key)
    if (group === undefined) return null
    this.#groups.delete(key)
    this.#groups.set(key, group)
    return group
  }

  /** Keeps a group; what nobody reads makes way for it, and it stays over the bound rather than be lost to its reader. */
  set(key: string, group: DecodedGroup): void {
    this.#drop(key)
    this.makeRoom(group.sizeBytes)
    this.#groups.set(key, group)
    this.#usedBytes += group.sizeBytes
    this.makeRoom(0)
  }

  /** Drops groups that nobody reads until `bytes` more fit beside `reservedBytes` on their way; false when they do not. */
  makeRoom(bytes: number, reservedBytes = 0): boolean {
    const fits = (): boolean => this.#usedBytes + reservedBytes + bytes <= this.#maxBytes
    if (fits()) return true
    const nowMs = this.#clock.monotonicMs()
    for (const finishedOnly of [true, false]) {
      for (const [key, group] of this.#groups) {
        if ((finishedOnly && !group.isFinished) || group.isRead(nowMs)) continue
        this.#drop(key)
        if (fits()) return true
      }
    }
    // What is larger than all of the cache is read by itself.
    return this.#groups.size === 0 && reservedBytes === 0
  }

  #drop(key: string): void {
    this.#usedBytes -= this.#groups.get(key)?.sizeBytes ?? 0
    this.#groups.delete(key)
  }
}

function heldBytes(list: BatchList): number {
  return list.batches.reduce((sum, batch) => sum + batch.length + 200, 256)
}
