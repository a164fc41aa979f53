import type { PartitionView } from '../view.ts'
import { F64Column, SlotAllocator, U32Column } from './columns.ts'
import { ExtentIndex, ExtentTable } from './extents.ts'

export interface LeaderEpoch {
  readonly epoch: number
  readonly startOffset: number
}

/** What every partition has until a restore opens a timeline (L9). */
const FIRST_EPOCH: readonly LeaderEpoch[] = Object.freeze([Object.freeze({ epoch: 0, startOffset: 0 })])

/** All partitions of all topics by slot; a topic keeps the slots of its own. */
export class PartitionTable {
  readonly extents = new ExtentTable()
  readonly topic = new F64Column()
  readonly partition = new U32Column()
  readonly logStartOffset = new F64Column()
  readonly endOffset = new F64Column()
  /** Produced bytes of its extents. */
  readonly bytes = new F64Column()
  /** How many of its extents, from the first on, are in the table; the rest are in the WAL. */
  readonly converted = new U32Column()
  /** Producer slot + 1 at the head of its list, and how many there are. */
  readonly producerHead = new U32Column()
  readonly producerCount = new U32Column()
  readonly #index: (ExtentIndex | null)[] = []
  readonly #epochs: (readonly LeaderEpoch[])[] = []
  readonly #slots: SlotAllocator

  constructor() {
    this.#slots = new SlotAllocator(this.converted, (rows) => {
      for (const column of [this.topic, this.logStartOffset, this.endOffset, this.bytes]) column.grow(rows)
      for (const column of [this.partition, this.converted, this.producerHead, this.producerCount]) column.grow(rows)
    })
  }

  get count(): number {
    return this.#slots.used
  }

  add(topic: number, partition: number): number {
    const slot = this.#slots.take()
    this.topic.set(slot, topic)
    this.partition.set(slot, partition)
    this.logStartOffset.set(slot, 0)
    this.endOffset.set(slot, 0)
    this.bytes.set(slot, 0)
    this.converted.set(slot, 0)
    this.producerHead.set(slot, 0)
    this.producerCount.set(slot, 0)
    this.#index[slot] = null
    this.#epochs[slot] = FIRST_EPOCH
    return slot
  }

  /** The partition must have no extents left. */
  remove(slot: number): void {
    this.#index[slot] = null
    this.#slots.give(slot)
  }

  index(slot: number): ExtentIndex | null {
    return this.#index[slot]
  }

  indexForWrite(slot: number): ExtentIndex {
    return (this.#index[slot] ??= new ExtentIndex())
  }

  extentCount(slot: number): number {
    return this.#index[slot]?.length ?? 0
  }

  epochs(slot: number): readonly LeaderEpoch[] {
    return this.#epochs[slot]
  }

  setEpochs(slot: number, epochs: readonly LeaderEpoch[]): void {
    this.#epochs[slot] = epochs.length === 1 && epochs[0].epoch === 0 && epochs[0].startOffset === 0 ? FIRST_EPOCH : epochs
  }

  /** Position of the first extent whose last offset is at or above `offset`; the number of extents when there is none. */
  find(slot: number, offset: number): number {
    const index = this.#index[slot]
    if (index === null) return 0
    const last = this.extents.lastOffset
    let low = 0
    let high = index.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (last.get(index.at(middle)) < offset) low = middle + 1
      else high = middle
    }
    return low
  }

  /** First offset at or above the log start that is still in the WAL; the end when all is converted. */
  firstUnconverted(slot: number): number {
    const index = this.#index[slot]
    const converted = this.converted.get(slot)
    if (index === null || converted === index.length) return this.endOffset.get(slot)
    return Math.max(this.logStartOffset.get(slot), this.extents.firstOffset.get(index.at(converted)))
  }

  /** `stableOffset`: where the oldest open transaction begins, or -1. */
  view(slot: number, stableOffset: number): PartitionView {
    const epochs = this.#epochs[slot]
    const logStartOffset = this.logStartOffset.get(slot)
    const endOffset = this.endOffset.get(slot)
    return {
      logStartOffset,
      endOffset,
      lastStableOffset: stableOffset < 0 ? endOffset : Math.max(stableOffset, logStartOffset),
      leaderEpoch: epochs[epochs.length - 1].epoch,
      epochs,
      sizeBytes: this.bytes.get(slot),
    }
  }
}
