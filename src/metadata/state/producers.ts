import type { ProducerView } from '../view.ts'
import { F64Column, SlotAllocator, U32Column } from './columns.ts'
import type { PartitionTable } from './partitions.ts'

/** NUM_BATCHES_TO_RETAIN of Kafka's ProducerStateEntry. */
export const WINDOW = 5
const SEQUENCES = 0x80000000

/** base + count, where 2^31-1 is followed by 0 (DefaultRecordBatch.incrementSequence). */
export function addSequence(sequence: number, count: number): number {
  return (sequence + count) % SEQUENCES
}

/**
 * Idempotent producers of all partitions (protocol: KIP-98, L16): one row a (partition, producer id), found by a chained
 * hash. The five batches are a ring: `ring` holds how many there are and where the next goes.
 */
export class ProducerTable {
  readonly producerId = new F64Column()
  readonly partitionSlot = new U32Column()
  /** Epoch + 1, so that 0 stays free. */
  readonly #epoch = new U32Column()
  readonly #ring = new U32Column()
  readonly lastAppendMs = new F64Column()
  readonly #firstSequence = columns(() => new U32Column())
  readonly #count = columns(() => new U32Column())
  readonly #firstOffset = columns(() => new F64Column())
  readonly #appendTimeMs = columns(() => new F64Column())
  readonly #chain = new U32Column()
  readonly #next = new U32Column()
  readonly #previous = new U32Column()
  readonly #slots: SlotAllocator
  readonly #partitions: PartitionTable
  /** Slot + 1 of the first of each chain. */
  #buckets = new Uint32Array(64)

  constructor(partitions: PartitionTable) {
    this.#partitions = partitions
    this.#slots = new SlotAllocator(this.#next, (rows) => {
      for (const column of this.#columns()) column.grow(rows)
    })
  }

  get count(): number {
    return this.#slots.used
  }

  get sizeBytes(): number {
    return this.#columns().reduce((sum, column) => sum + column.sizeBytes, this.#buckets.byteLength)
  }

  #columns(): (F64Column | U32Column)[] {
    const plain = [this.producerId, this.partitionSlot, this.#epoch, this.#ring, this.lastAppendMs, this.#chain, this.#next, this.#previous]
    return [...plain, ...this.#firstSequence, ...this.#count, ...this.#firstOffset, ...this.#appendTimeMs]
  }

  /** Slot, or -1. */
  find(partitionSlot: number, producerId: number): number {
    let slot = this.#buckets[this.#bucket(partitionSlot, producerId)] - 1
    while (slot >= 0 && (this.producerId.get(slot) !== producerId || this.partitionSlot.get(slot) !== partitionSlot))
      slot = this.#chain.get(slot) - 1
    return slot
  }

  add(partitionSlot: number, producerId: number, epoch: number): number {
    if (this.#slots.used >= this.#buckets.length) this.#rehash()
    const slot = this.#slots.take()
    this.producerId.set(slot, producerId)
    this.partitionSlot.set(slot, partitionSlot)
    this.setEpoch(slot, epoch)
    this.lastAppendMs.set(slot, 0)
    this.#link(slot)
    const partitions = this.#partitions
    const head = partitions.producerHead.get(partitionSlot)
    this.#next.set(slot, head)
    this.#previous.set(slot, 0)
    if (head !== 0) this.#previous.set(head - 1, slot + 1)
    partitions.producerHead.set(partitionSlot, slot + 1)
    partitions.producerCount.add(partitionSlot, 1)
    return slot
  }

  remove(slot: number): void {
    const partitionSlot = this.partitionSlot.get(slot)
    const bucket = this.#bucket(partitionSlot, this.producerId.get(slot))
    let before = -1
    for (let at = this.#buckets[bucket] - 1; at !== slot; at = this.#chain.get(at) - 1) before = at
    if (before < 0) this.#buckets[bucket] = this.#chain.get(slot)
    else this.#chain.set(before, this.#chain.get(slot))
    const next = this.#next.get(slot)
    const previous = this.#previous.get(slot)
    if (previous === 0) this.#partitions.producerHead.set(partitionSlot, next)
    else this.#next.set(previous - 1, next)
    if (next !== 0) this.#previous.set(next - 1, previous)
    this.#partitions.producerCount.set(partitionSlot, this.#partitions.producerCount.get(partitionSlot) - 1)
    this.producerId.set(slot, -1)
    this.#slots.give(slot)
  }

  /** Slots of a partition's producers, in no particular order. */
  slotsOf(partitionSlot: number): number[] {
    const slots: number[] = []
    for (let slot = this.#partitions.producerHead.get(partitionSlot) - 1; slot >= 0; slot = this.#next.get(slot) - 1) slots.push(slot)
    return slots
  }

  removeAllOf(partitionSlot: number): void {
    for (const slot of this.slotsOf(partitionSlot)) this.remove(slot)
  }

  epoch(slot: number): number {
    return this.#epoch.get(slot) - 1
  }

  /** Sets the epoch and forgets the batches of the one before. */
  setEpoch(slot: number, epoch: number): void {
    this.#epoch.set(slot, epoch + 1)
    this.#ring.set(slot, 0)
  }

  /** The sequence that must come next; 0 in an epoch that has no batch yet. */
  nextSequence(slot: number): number {
    if (this.#length(slot) === 0) return 0
    const at = this.#at(slot, this.#length(slot) - 1)
    return addSequence(this.#firstSequence[at].get(slot), this.#count[at].get(slot))
  }

  /** Position (0 is the oldest) of the batch with exactly this first and last sequence, or -1. */
  findBatch(slot: number, firstSequence: number, count: number): number {
    for (let i = this.#length(slot) - 1; i >= 0; i--) {
      const at = this.#at(slot, i)
      if (this.#firstSequence[at].get(slot) === firstSequence && this.#count[at].get(slot) === count) return i
    }
    return -1
  }

  batchFirstOffset(slot: number, i: number): number {
    return this.#firstOffset[this.#at(slot, i)].get(slot)
  }

  batchAppendTimeMs(slot: number, i: number): number {
    return this.#appendTimeMs[this.#at(slot, i)].get(slot)
  }

  push(slot: number, firstSequence: number, count: number, firstOffset: number, appendTimeMs: number, nowMs: number): void {
    const ring = this.#ring.get(slot)
    const length = ring >>> 4
    const at = ring & 15
    this.#firstSequence[at].set(slot, firstSequence)
    this.#count[at].set(slot, count)
    this.#firstOffset[at].set(slot, firstOffset)
    this.#appendTimeMs[at].set(slot, appendTimeMs)
    this.#ring.set(slot, (Math.min(WINDOW, length + 1) << 4) | ((at + 1) % WINDOW))
    this.lastAppendMs.set(slot, nowMs)
  }

  /** [firstSequence, count, firstOffset, appendTimeMs] of each batch, oldest first. */
  batches(slot: number): [number, number, number, number][] {
    return Array.from({ length: this.#length(slot) }, (_, i) => {
      const at = this.#at(slot, i)
      return [
        this.#firstSequence[at].get(slot),
        this.#count[at].get(slot),
        this.#firstOffset[at].get(slot),
        this.#appendTimeMs[at].get(slot),
      ]
    })
  }

  /** Of its last batch; 0 in an epoch that has none yet. */
  lastOffset(slot: number): number {
    if (this.#length(slot) === 0) return 0
    const at = this.#at(slot, this.#length(slot) - 1)
    return this.#firstOffset[at].get(slot) + this.#count[at].get(slot) - 1
  }

  view(slot: number, transactionStartOffset: number): ProducerView {
    return {
      producerId: this.producerId.get(slot),
      epoch: this.epoch(slot),
      batches: this.batches(slot).map(([firstSequence, count, firstOffset]) => ({
        firstSequence,
        lastSequence: addSequence(firstSequence, count - 1),
        firstOffset,
        lastOffset: firstOffset + count - 1,
      })),
      lastAppendMs: this.lastAppendMs.get(slot),
      transactionStartOffset,
    }
  }

  /** Slots in use whose last append is before `olderThanMs` and that `mayExpire`, at most `limit`. */
  expired(olderThanMs: number, limit: number, mayExpire: (slot: number) => boolean): number[] {
    const slots: number[] = []
    for (let slot = 0; slot < this.#slots.rows && slots.length < limit; slot++) {
      if (this.lastAppendMs.get(slot) < olderThanMs && this.producerId.get(slot) !== -1 && mayExpire(slot)) slots.push(slot)
    }
    return slots
  }

  #length(slot: number): number {
    return this.#ring.get(slot) >>> 4
  }

  #at(slot: number, i: number): number {
    const ring = this.#ring.get(slot)
    return ((ring & 15) + WINDOW - (ring >>> 4) + i) % WINDOW
  }

  #bucket(partitionSlot: number, producerId: number): number {
    let hash =
      ((producerId % 0x100000000) | 0) ^
      Math.imul(Math.floor(producerId / 0x100000000), 0x85ebca6b) ^
      Math.imul(partitionSlot + 1, 0x9e3779b1)
    hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d)
    hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b)
    return (hash ^ (hash >>> 16)) & (this.#buckets.length - 1)
  }

  #link(slot: number): void {
    const bucket = this.#bucket(this.partitionSlot.get(slot), this.producerId.get(slot))
    this.#chain.set(slot, this.#buckets[bucket])
    this.#buckets[bucket] = slot + 1
  }

  #rehash(): void {
    this.#buckets = new Uint32Array(this.#buckets.length * 2)
    for (let slot = 0; slot < this.#slots.rows; slot++) if (this.producerId.get(slot) !== -1) this.#link(slot)
  }
}

function columns<T>(make: () => T): readonly T[] {
  return Array.from({ length: WINDOW }, make)
}
