import { Errors } from '../../../protocol/errors.ts'
import type { AllocateProducerIds, ExpireProducers, Result } from '../commands.ts'
import type { Rooms } from '../state/state.ts'
import { type Context, OK, PRODUCERS_CONFIG, PRODUCERS_PER_PARTITION, refused } from './context.ts'

export interface Verdict {
  readonly error: number
  /** Base offset of the batch that this one repeats, else -1. */
  readonly duplicateOf: number
  readonly appendTimeMs: number
}

export const ACCEPT = verdict(Errors.NONE)
const OLD_EPOCH = verdict(Errors.INVALID_PRODUCER_EPOCH)
const OUT_OF_ORDER = verdict(Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)
/** A retriable error without a metadata refresh: the client tries again until old producers have expired. */
const TOO_MANY = verdict(Errors.NOT_ENOUGH_REPLICAS)

export function verdict(error: number): Verdict {
  return Object.freeze({ error, duplicateOf: -1, appendTimeMs: -1 })
}

/**
 * Kafka's rules for one batch (UnifiedLog.analyzeAndValidateProducerState, ProducerAppendInfo): duplicates first, among
 * the last five of the same epoch by exact first and last sequence; an unknown producer (`slot` -1) may begin anywhere.
 */
export function judgeProducer(
  rooms: Rooms,
  partitionSlot: number,
  slot: number,
  epoch: number,
  baseSequence: number,
  count: number,
): Verdict {
  const { producerRows } = rooms
  if (slot < 0) {
    const limit = rooms.configs.clusterNumber(PRODUCERS_CONFIG, PRODUCERS_PER_PARTITION)
    return rooms.parts.producerCount.get(partitionSlot) >= limit ? TOO_MANY : ACCEPT
  }
  const known = producerRows.epoch(slot)
  if (epoch < known) return OLD_EPOCH
  if (epoch > known) return baseSequence === 0 ? ACCEPT : OUT_OF_ORDER
  const batch = producerRows.findBatch(slot, baseSequence, count)
  if (batch < 0) return baseSequence === producerRows.nextSequence(slot) ? ACCEPT : OUT_OF_ORDER
  return {
    error: Errors.NONE,
    duplicateOf: producerRows.batchFirstOffset(slot, batch),
    appendTimeMs: producerRows.batchAppendTimeMs(slot, batch),
  }
}

/** A block of producer ids that no one else ever gets. */
export function allocateProducerIds({ rooms }: Context, command: AllocateProducerIds): Result {
  if (command.count < 1 || command.count > 1_000_000) return refused(Errors.INVALID_REQUEST, `${command.count} producer ids at once`)
  const first = rooms.nextProducerId
  rooms.nextProducerId += command.count
  return { kind: 'producerIds', first, count: command.count }
}

/** Forgets producers that did not write since the proposer looked (L6). */
export function expireProducers({ rooms }: Context, command: ExpireProducers): Result {
  for (const item of command.items) {
    const partitionSlot = rooms.topicRows.slot(item.topic, item.partition)
    const slot = partitionSlot < 0 ? -1 : rooms.producerRows.find(partitionSlot, item.producerId)
    const isOpen = slot >= 0 && rooms.transactions.open.of(partitionSlot, item.producerId) >= 0
    if (slot >= 0 && !isOpen && rooms.producerRows.lastOffset(slot) === item.lastOffset) rooms.producerRows.remove(slot)
  }
  return OK
}
