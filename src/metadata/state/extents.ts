import type { Extent } from '../view.ts'
import { F64Column, SlotAllocator, U32Column } from './columns.ts'

/** Values of the place column that are no byte offset: the rows are in one table file, or in a set of files. */
export const IN_FILE = 0xffffffff
export const IN_FILE_SET = 0xfffffffe
/** … or a transaction's marker, which has no bytes anywhere: `where` then holds producer id × 2^15 + epoch. */
export const COMMIT_MARKER = 0xfffffffd
export const ABORT_MARKER = 0xfffffffc
/** What a marker counts as: the size of its control batch when served. Frozen. */
export const MARKER_BYTES = 78
const EPOCHS = 0x8000
/** WAL objects are smaller than this. */
export const MAX_OBJECT_BYTES = 0xfffffff0

/** All extents of all partitions, 52 bytes each (L16). Which belong to a partition, and their order, is ExtentIndex's. */
export class ExtentTable {
  readonly firstOffset = new F64Column()
  readonly lastOffset = new F64Column()
  readonly maxTimestampMs = new F64Column()
  /** Of a WAL extent also its length in the object. */
  readonly originalBytes = new F64Column()
  readonly commitTimeMs = new F64Column()
  /** WAL object id, table file id, or number of a file set. */
  readonly where = new F64Column()
  /** Byte offset in the WAL object, IN_FILE or IN_FILE_SET. */
  readonly place = new U32Column()
  readonly #slots: SlotAllocator
  readonly #sets = new Map<number, readonly number[]>()
  #nextSet = 1

  constructor() {
    this.#slots = new SlotAllocator(this.place, (rows) => {
      for (const column of [this.firstOffset, this.lastOffset, this.maxTimestampMs, this.originalBytes, this.commitTimeMs, this.where])
        column.grow(rows)
      this.place.grow(rows)
    })
  }

  get count(): number {
    return this.#slots.used
  }

  get sizeBytes(): number {
    const columns = [this.firstOffset, this.lastOffset, this.maxTimestampMs, this.originalBytes, this.commitTimeMs, this.where, this.place]
    return columns.reduce((sum, column) => sum + column.sizeBytes, 0)
  }

  addWal(
    firstOffset: number,
    lastOffset: number,
    maxTimestampMs: number,
    bytes: number,
    commitTimeMs: number,
    object: number,
    byteOffset: number,
  ): number {
    return this.#add(firstOffset, lastOffset, maxTimestampMs, bytes, commitTimeMs, object, byteOffset)
  }

  /** A WAL extent or a marker, as a snapshot has its columns. */
  restore(first: number, last: number, maxTimestampMs: number, bytes: number, commitTimeMs: number, where: number, place: number): number {
    return this.#add(first, last, maxTimestampMs, bytes, commitTimeMs, where, place)
  }

  /** `files` ascending, at least one. */
  addTable(
    firstOffset: number,
    lastOffset: number,
    maxTimestampMs: number,
    bytes: number,
    commitTimeMs: number,
    files: readonly number[],
  ): number {
    if (files.length === 1) return this.#add(firstOffset, lastOffset, maxTimestampMs, bytes, commitTimeMs, files[0], IN_FILE)
    const set = this.#nextSet++
    this.#sets.set(set, files)
    return this.#add(firstOffset, lastOffset, maxTimestampMs, bytes, commitTimeMs, set, IN_FILE_SET)
  }

  /** One offset, the end of a transaction. */
  addMarker(offset: number, timeMs: number, producerId: number, producerEpoch: number, isCommit: boolean): number {
    const place = isCommit ? COMMIT_MARKER : ABORT_MARKER
    return this.#add(offset, offset, timeMs, MARKER_BYTES, timeMs, producerId * EPOCHS + producerEpoch, place)
  }

  #add(
    firstOffset: number,
    lastOffset: number,
    maxTimestampMs: number,
    bytes: number,
    commitTimeMs: number,
    where: number,
    place: number,
  ): number {
    const slot = this.#slots.take()
    this.firstOffset.set(slot, firstOffset)
    this.lastOffset.set(slot, lastOffset)
    this.maxTimestampMs.set(slot, maxTimestampMs)
    this.originalBytes.set(slot, bytes)
    this.commitTimeMs.set(slot, commitTimeMs)
    this.where.set(slot, where)
    this.place.set(slot, place)
    return slot
  }

  remove(slot: number): void {
    if (this.place.get(slot) === IN_FILE_SET) this.#sets.delete(this.where.get(slot))
    this.#slots.give(slot)
  }

  isWal(slot: number): boolean {
    return this.place.get(slot) < MAX_OBJECT_BYTES
  }

  isMarker(slot: number): boolean {
    const place = this.place.get(slot)
    return place === COMMIT_MARKER || place === ABORT_MARKER
  }

  isTable(slot: number): boolean {
    return this.place.get(slot) >= IN_FILE_SET
  }

  /** Table files of a table extent, ascending by id. */
  files(slot: number): readonly number[] {
    const where = this.where.get(slot)
    return this.place.get(slot) === IN_FILE ? [where] : this.#sets.get(where)!
  }

  view(slot: number): Extent {
    const base = {
      firstOffset: this.firstOffset.get(slot),
      lastOffset: this.lastOffset.get(slot),
      maxTimestampMs: this.maxTimestampMs.get(slot),
      originalBytes: this.originalBytes.get(slot),
      commitTimeMs: this.commitTimeMs.get(slot),
    }
    if (this.isMarker(slot)) {
      const where = this.where.get(slot)
      const isCommit = this.place.get(slot) === COMMIT_MARKER
      return { kind: 'marker', ...base, producerId: Math.floor(where / EPOCHS), producerEpoch: where % EPOCHS, isCommit }
    }
    if (!this.isWal(slot)) return { kind: 'table', ...base, files: this.files(slot) }
    return { kind: 'wal', ...base, object: this.where.get(slot), byteOffset: this.place.get(slot), sizeBytes: base.originalBytes }
  }
}

type Slots = number[] | Uint32Array

/** Up to this many a plain array is smaller: a typed one costs about 200 bytes before its first element. */
const PLAIN_CAPACITY = 16

/** The extents of one partition in offset order: slots of the table, 4 bytes each once there are more than a few. */
export class ExtentIndex {
  #slots: Slots = [0, 0]
  #head = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Bytes of the array behind it. */
  get sizeBytes(): number {
    return this.#slots instanceof Uint32Array ? this.#slots.byteLength : this.#slots.length * 8
  }

  at(index: number): number {
    return this.#slots[this.#head + index]
  }

  push(slot: number): void {
    if (this.#head + this.#length === this.#slots.length) this.#makeRoom(this.#length + 1)
    this.#slots[this.#head + this.#length++] = slot
  }

  /** Drops the first `count`. */
  shift(count: number): void {
    this.#length -= count
    this.#head = this.#length === 0 ? 0 : this.#head + count
    if (this.#slots.length > 64 && this.#length < this.#slots.length >>> 2) this.#moveTo(makeSlots(this.#length))
  }

  /** Puts `slots` in the place of those from `from` up to, not including, `to`. */
  replace(from: number, to: number, slots: readonly number[]): void {
    const growth = slots.length - (to - from)
    if (from === 0 && growth <= 0) {
      // What is replaced most is the front (all converted, the oldest merged): move the head, not the tail.
      this.#head -= growth
      this.#length += growth
    } else {
      if (this.#head + this.#length + growth > this.#slots.length) this.#makeRoom(this.#length + growth)
      const at = this.#head + to
      this.#slots.copyWithin(at + growth, at, this.#head + this.#length)
      this.#length += growth
    }
    for (let i = 0; i < slots.length; i++) this.#slots[this.#head + from + i] = slots[i]
  }

  #makeRoom(length: number): void {
    const roomInFront = length <= this.#slots.length && this.#head > this.#slots.length >>> 1
    this.#moveTo(roomInFront ? this.#slots : makeSlots(length))
  }

  #moveTo(slots: Slots): void {
    for (let i = 0; i < this.#length; i++) slots[i] = this.#slots[this.#head + i]
    this.#slots = slots
    this.#head = 0
  }
}

/** Room for this many and a quarter more. */
function makeSlots(length: number): Slots {
  const capacity = Math.max(2, length + (length >>> 2) + 1)
  return capacity <= PLAIN_CAPACITY ? Array.from({ length: capacity }, () => 0) : new Uint32Array(capacity)
}
