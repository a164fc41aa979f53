import { TXN_NONE, type WalPart } from '../metadata/commands.ts'
import type { AppendedBatch, WalBatch } from './port.ts'
import type { IndexPart } from './format.ts'

const NONE: readonly number[] = []

/** One batch on its way: appended, uploaded, sequenced, answered. */
export interface Item {
  readonly topic: number
  readonly partition: number
  readonly batch: WalBatch
  readonly ready: Promise<number> | null
  readonly request: Request
  /** Its place in the answer of the request. */
  readonly index: number
  /** Kafka error code; other than 0 it is left out of the commit. */
  refused: number
  /** Where it lies in the object or attachment. */
  byteOffset: number
}

/** One call of `append`; all of its items are in one buffer, so that one commit answers it. */
export interface Request {
  readonly answers: AppendedBatch[]
  readonly resolve: (answers: readonly AppendedBatch[]) => void
  readonly reject: (error: unknown) => void
}

/** Batches collected for one object. Bytes are referenced, not copied. */
export class WalBuffer {
  readonly items: Item[] = []
  sizeBytes = 0
  /** Some item waits for its validation. */
  hasReady = false
  walSequence = 0

  add(item: Item): void {
    this.items.push(item)
    this.sizeBytes += item.batch.bytes.length
    if (item.ready !== null) this.hasReady = true
  }

  /** Sorts by topic and partition (arrival order within one) and gives every item its place from `start` on. */
  place(start: number): void {
    this.items.sort((a, b) => a.topic - b.topic || a.partition - b.partition)
    let at = start
    for (const item of this.items) {
      item.byteOffset = at
      at += item.batch.bytes.length
    }
  }

  fail(error: unknown): void {
    for (const request of new Set(this.items.map((item) => item.request))) request.reject(error)
  }
}

/** The index footer of the placed items, refused ones included: it says what lies where, not what counts. */
export function indexOf(items: readonly Item[], topicId: (topic: number) => string): IndexPart[] {
  const parts: (IndexPart & { sizesBytes: number[]; offsetCounts: number[] })[] = []
  for (const item of items) {
    let part = parts.at(-1)
    if (part === undefined || part.topic !== item.topic || part.partition !== item.partition) {
      part = {
        topicId: topicId(item.topic),
        topic: item.topic,
        partition: item.partition,
        byteOffset: item.byteOffset,
        sizesBytes: [],
        offsetCounts: [],
      }
      parts.push(part)
    }
    part.sizesBytes.push(item.batch.bytes.length)
    part.offsetCounts.push(item.batch.offsetCount)
  }
  return parts
}

/** The parts of CommitWal, and the items of each: a refused batch ends a part, for parts are contiguous bytes. */
export function partsOf(items: readonly Item[]): { readonly parts: WalPart[]; readonly itemsOf: Item[][] } {
  const itemsOf: Item[][] = []
  let end = -1
  for (const item of items) {
    if (item.refused !== 0) continue
    const run = itemsOf.at(-1)
    if (run !== undefined && run[0].topic === item.topic && run[0].partition === item.partition && end === item.byteOffset) run.push(item)
    else itemsOf.push([item])
    end = item.byteOffset + item.batch.bytes.length
  }
  const parts = itemsOf.map((run) => ({
    topic: run[0].topic,
    partition: run[0].partition,
    byteOffset: run[0].byteOffset,
    sizesBytes: run.map((item) => item.batch.bytes.length),
    offsetCounts: run.map((item) => item.batch.offsetCount),
    maxTimestampsMs: run.map((item) => item.batch.maxTimestampMs),
    producerIds: run.map((item) => item.batch.producerId),
    producerEpochs: run.map((item) => item.batch.producerEpoch),
    baseSequences: run.map((item) => item.batch.baseSequence),
    appendTimesMs: run.map((item) => item.batch.appendTimeMs),
    transactions: run.some((item) => item.batch.transaction) ? run.map((item) => item.batch.transaction ?? TXN_NONE) : NONE,
  }))
  return { parts, itemsOf }
}
