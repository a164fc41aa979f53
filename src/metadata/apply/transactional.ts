import { Errors } from '../../../protocol/errors.ts'
import { TXN_ADDED, TXN_NONE } from '../commands.ts'
import type { Rooms } from '../state/state.ts'
import type { TopicRow } from '../state/topics.ts'
import type { Context } from './context.ts'
import { type Verdict, verdict } from './producers.ts'

const NOT_TRANSACTIONAL = verdict(Errors.INVALID_TXN_STATE)
const UNKNOWN_ID = verdict(Errors.INVALID_PRODUCER_ID_MAPPING)
const FENCED = verdict(Errors.INVALID_PRODUCER_EPOCH)
const NOT_ADDED = verdict(Errors.TRANSACTION_ABORTABLE)
const OUT_OF_ORDER = verdict(Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)

/**
 * Whether a batch of an idempotent producer fits the transactions on its partition (KIP-890: checked where it is appended, so
 * that none can be written behind its end); null when it does. `producer` is the producer's slot or -1.
 */
export function judgeTransaction(
  rooms: Rooms,
  topic: number,
  partition: number,
  slot: number,
  producer: number,
  producerId: number,
  epoch: number,
  baseSequence: number,
  kind: number,
): Verdict | null {
  const { transactions, producerRows, level } = rooms
  if (kind === TXN_NONE) return transactions.open.of(slot, producerId) >= 0 ? NOT_TRANSACTIONAL : null
  if (level < 2) return NOT_TRANSACTIONAL
  const row = transactions.byProducerId.get(producerId)
  if (row === undefined) return UNKNOWN_ID
  if (row.producerEpoch !== epoch) return FENCED
  if (kind === TXN_ADDED) return row.status === 'Ongoing' && row.has(topic, partition) ? null : NOT_ADDED
  // every epoch is one transaction here, so what comes first is its beginning (K: ProducerAppendInfo.checkSequence)
  const isKnown = producer >= 0 && producerRows.epoch(producer) === epoch
  return !isKnown && baseSequence !== 0 ? OUT_OF_ORDER : null
}

/** Notes that a transactional batch was accepted; true when the transaction begins on this partition with it. */
export function enterTransaction(
  context: Context,
  topic: number,
  partition: number,
  slot: number,
  producerId: number,
  offset: number,
): boolean {
  const { transactions } = context.rooms
  const row = transactions.byProducerId.get(producerId)!
  transactions.begin(row, context.timeMs)
  if (!row.has(topic, partition)) row.addPartition(topic, partition)
  if (transactions.open.of(slot, producerId) >= 0) return false
  transactions.open.begin(slot, producerId, offset)
  return true
}

/**
 * Ends a producer's transaction on one partition: the marker takes the next offset, the last stable offset moves on, an
 * aborted one enters the index (L17). A marker of a higher epoch begins that epoch for the producer (KIP-890).
 */
export function appendMarker(
  context: Context,
  topic: TopicRow,
  partition: number,
  producerId: number,
  producerEpoch: number,
  isCommit: boolean,
): void {
  const { parts, producerRows, transactions } = context.rooms
  const { open, aborted } = transactions
  const slot = topic.slots[partition]
  const offset = parts.endOffset.get(slot)
  const extent = parts.extents.addMarker(offset, context.timeMs, producerId, producerEpoch, isCommit)
  const bytes = parts.extents.originalBytes.get(extent)
  parts.indexForWrite(slot).push(extent)
  parts.endOffset.set(slot, offset + 1)
  parts.bytes.add(slot, bytes)
  topic.unconvertedBytes += bytes
  topic.unconvertedRecords++
  const stable = open.first(slot)
  if (stable >= 0) {
    topic.unstableBytes += bytes
    topic.unstableRecords++
    const firstOffset = open.end(slot, producerId)
    const next = open.first(slot)
    moveStable(context, topic, slot, stable, next < 0 ? offset + 1 : next)
    if (firstOffset >= 0 && !isCommit) aborted.add(slot, producerId, firstOffset, offset, next < 0 ? offset + 1 : next)
  }
  const producer = producerRows.find(slot, producerId)
  if (producer >= 0) {
    if (producerEpoch > producerRows.epoch(producer)) producerRows.setEpoch(producer, producerEpoch)
    producerRows.lastAppendMs.set(producer, context.timeMs)
  }
  context.appended.push(topic.topic, partition)
}

/** Extents between two last stable offsets are stable now. Each is passed once. */
function moveStable(context: Context, topic: TopicRow, slot: number, from: number, to: number): void {
  if (from === to) return
  const { parts } = context.rooms
  const { extents } = parts
  const index = parts.index(slot)!
  for (let i = parts.find(slot, from); i < index.length && extents.firstOffset.get(index.at(i)) < to; i++) {
    const extent = index.at(i)
    if (extents.firstOffset.get(extent) < from) continue
    topic.unstableBytes -= extents.originalBytes.get(extent)
    topic.unstableRecords -= extents.lastOffset.get(extent) - extents.firstOffset.get(extent) + 1
  }
}
