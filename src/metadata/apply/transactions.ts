import { Errors } from '../../../protocol/errors.ts'
import type {
  AddToTransaction,
  CommitTransactionOffsets,
  EndTransaction,
  ExpireTransaction,
  ForgetTransactionalIds,
  InitTransaction,
  Result,
  TransactionOwner,
  WriteMarkers,
} from '../commands.ts'
import { copyOffset } from '../state/groups.ts'
import { shardOf } from '../state/shards.ts'
import { LAST_EPOCH, TransactionRow } from '../state/transactions.ts'
import { type Context, OK } from './context.ts'
import { appendMarker } from './transactional.ts'

const failed = (error: number): Result => ({ kind: 'transaction', error, producerId: -1, producerEpoch: -1 })
const current = ({ producerId, producerEpoch }: TransactionRow): Result => ({ kind: 'transaction', error: 0, producerId, producerEpoch })

/**
 * InitProducerId (K: TransactionCoordinator.prepareInitProducerIdTransit). What Kafka does in two steps, with
 * CONCURRENT_TRANSACTIONS between them, is one here: the running transaction is aborted under the next epoch, and the caller
 * gets the one after it.
 */
export function initTransaction(context: Context, command: InitTransaction): Result {
  const { transactions } = context.rooms
  const { transactionalId, timeoutMs } = command
  const row = transactions.byId.get(transactionalId)
  if (row === undefined) {
    const producerId = context.rooms.nextProducerId++
    const made = new TransactionRow({ transactionalId, producerId, producerEpoch: 0, timeoutMs, updateMs: context.timeMs })
    transactions.add(made)
    return current(made)
  }
  const isExpected = command.producerId >= 0
  const isRepeated = isExpected && command.producerEpoch === row.lastEpoch && isOwnOrBefore(row, command)
  const isCurrent = command.producerId === row.producerId && command.producerEpoch === row.producerEpoch
  if (isExpected && !isRepeated && !isCurrent) return failed(Errors.PRODUCER_FENCED)
  if (row.status === 'Ongoing') {
    fence(context, row)
  } else if (isRepeated) {
    return current(row)
  }
  const lastEpoch = isExpected ? command.producerEpoch : -1
  if (row.producerEpoch >= LAST_EPOCH) rotate(context, row)
  else row.producerEpoch++
  row.lastEpoch = lastEpoch
  row.timeoutMs = timeoutMs
  transactions.end(row, 'Empty', context.timeMs)
  return current(row)
}

/** The id that the producer names is the row's, or the one before it whose epochs had run out. */
function isOwnOrBefore(row: TransactionRow, { producerId, producerEpoch }: InitTransaction): boolean {
  return producerId === row.producerId || (producerId === row.previousProducerId && producerEpoch >= LAST_EPOCH)
}

/** The epochs of a producer id have run out: it goes on with a new id. */
function rotate({ rooms }: Context, row: TransactionRow): void {
  row.previousProducerId = row.producerId
  rooms.transactions.setProducerId(row, rooms.nextProducerId++)
  row.producerEpoch = 0
}

/** Aborts what runs under the next epoch: whoever holds the one before is fenced. */
function fence(context: Context, row: TransactionRow): void {
  row.producerEpoch = Math.min(row.producerEpoch + 1, LAST_EPOCH + 1)
  row.lastEpoch = -1
  finish(context, row, row.producerEpoch, false)
}

/** Markers on every partition, ascending (L5), and the group offsets with them. */
function finish(context: Context, row: TransactionRow, markerEpoch: number, isCommit: boolean): void {
  const { topicRows, groupRows, transactions } = context.rooms
  for (const [number, partition] of row.partitions()) {
    const topic = topicRows.byNumber.get(number)
    if (topic !== undefined) appendMarker(context, topic, partition, row.producerId, markerEpoch, isCommit)
  }
  if (isCommit) {
    for (const [groupId, pending] of row.groups) {
      if (pending.size === 0) continue
      const group = groupRows.ensure(groupId, context.timeMs)
      for (const item of pending.values()) {
        const known = groupRows.offset(groupId, item.topic, item.partition)
        // one that was committed later, outside of transactions, stays (K: OffsetMetadataManager)
        if (known === null || known.commitTimeMs <= item.commitTimeMs) groupRows.setOffset(group, item)
      }
    }
  }
  transactions.end(row, isCommit ? 'CompleteCommit' : 'CompleteAbort', context.timeMs)
}

/** The row that the owner speaks for, or why it may not (K: TransactionCoordinator.handleAddPartitionsToTransaction). */
function ownRow({ rooms }: Context, owner: TransactionOwner): TransactionRow | number {
  const row = rooms.transactions.byId.get(owner.transactionalId)
  if (row === undefined || row.producerId !== owner.producerId) return Errors.INVALID_PRODUCER_ID_MAPPING
  return row.producerEpoch === owner.producerEpoch ? row : Errors.PRODUCER_FENCED
}

export function addToTransaction(context: Context, command: AddToTransaction): Result {
  const row = ownRow(context, command)
  if (typeof row === 'number') return failed(row)
  const { topicRows, transactions } = context.rooms
  if (command.partitions.some(({ topic, partition }) => topicRows.slot(topic, partition) < 0))
    return failed(Errors.UNKNOWN_TOPIC_OR_PARTITION)
  transactions.begin(row, context.timeMs)
  for (const { topic, partition } of command.partitions) row.addPartition(topic, partition)
  if (command.groupId !== '') transactions.addGroup(row, command.groupId)
  return current(row)
}

export function commitTransactionOffsets(context: Context, command: CommitTransactionOffsets): Result {
  const { rooms } = context
  const { groupId } = command
  const { transactions, topicRows } = rooms
  if (rooms.shards.epochs[shardOf(groupId)] !== command.shardEpoch) return failed(Errors.NOT_COORDINATOR)
  const row = ownRow(context, command)
  if (typeof row === 'number') return failed(row)
  const isAdded = row.status === 'Ongoing' && row.groups.has(groupId)
  if (!isAdded && !command.addGroup) return failed(Errors.TRANSACTION_ABORTABLE)
  transactions.begin(row, context.timeMs)
  const pending = transactions.addGroup(row, groupId)
  for (const item of command.items) if (topicRows.slot(item.topic, item.partition) >= 0) transactions.setPending(pending, copyOffset(item))
  return current(row)
}

/** EndTxn (K: TransactionCoordinator.endTransaction, endTransactionWithTV1). */
export function endTransaction(context: Context, command: EndTransaction): Result {
  const { transactions } = context.rooms
  const { isCommit, raisesEpoch, producerId, producerEpoch } = command
  const row = transactions.byId.get(command.transactionalId)
  const isRepeatedOverflow =
    row !== undefined && raisesEpoch && producerId === row.previousProducerId && producerEpoch === row.lastEpoch && row.producerEpoch === 0
  if (row === undefined || (row.producerId !== producerId && !isRepeatedOverflow)) return failed(Errors.INVALID_PRODUCER_ID_MAPPING)
  const isRepeatedEpoch = raisesEpoch && row.producerEpoch === producerEpoch + 1 && row.lastEpoch === producerEpoch
  const isRepeated = isRepeatedOverflow || isRepeatedEpoch
  if (!isRepeated && row.producerEpoch !== producerEpoch) return failed(Errors.PRODUCER_FENCED)
  if (row.status !== 'Ongoing') {
    const isSame = row.status === (isCommit ? 'CompleteCommit' : 'CompleteAbort')
    if (!raisesEpoch || isRepeated) return isSame ? current(row) : failed(Errors.INVALID_TXN_STATE)
    // nothing was written: an abort is as good as one, and has its epoch; a commit is of nothing
    if (isCommit) return failed(Errors.INVALID_TXN_STATE)
  } else if (isRepeated) return failed(Errors.INVALID_TXN_STATE)
  const epoch = raisesEpoch ? row.producerEpoch + 1 : row.producerEpoch
  finish(context, row, epoch, isCommit)
  if (raisesEpoch) {
    row.lastEpoch = producerEpoch
    if (row.producerEpoch >= LAST_EPOCH) rotate(context, row)
    else row.producerEpoch = epoch
  }
  return current(row)
}

export function expireTransaction(context: Context, command: ExpireTransaction): Result {
  const row = ownRow(context, command)
  if (typeof row === 'number') return failed(row)
  if (row.status !== 'Ongoing' || row.startMs !== command.startMs) return failed(Errors.INVALID_TXN_STATE)
  fence(context, row)
  return current(row)
}

export function forgetTransactionalIds({ rooms }: Context, command: ForgetTransactionalIds): Result {
  const { transactions } = rooms
  for (const { transactionalId, producerId, producerEpoch, updateMs } of command.items) {
    const row = transactions.byId.get(transactionalId)
    const isSame = row?.producerId === producerId && row.producerEpoch === producerEpoch && row.updateMs === updateMs
    if (row !== undefined && isSame && row.status !== 'Ongoing') transactions.remove(row)
  }
  return OK
}

export function writeMarkers(context: Context, command: WriteMarkers): Result {
  const { topicRows, producerRows, transactions } = context.rooms
  const errors = command.markers.map((marker) => {
    const topic = topicRows.byNumber.get(marker.topic)
    const slot = topic?.slots[marker.partition]
    if (topic === undefined || slot === undefined) return Errors.UNKNOWN_TOPIC_OR_PARTITION
    const { producerId, producerEpoch, isCommit } = marker
    const producer = producerRows.find(slot, producerId)
    const known = producer < 0 ? -1 : producerRows.epoch(producer)
    // K: ProducerAppendInfo.checkProducerEpoch
    const isOpen = transactions.open.of(slot, producerId) >= 0
    const isOld = producerEpoch < known || (marker.transactionVersion >= 2 && producerEpoch === known && isOpen)
    if (isOld) return Errors.INVALID_PRODUCER_EPOCH
    appendMarker(context, topic, marker.partition, producerId, producerEpoch, isCommit)
    return Errors.NONE
  })
  return { kind: 'markers', errors }
}
