import { copyOffset } from '../state/groups.ts'
import type { Rooms } from '../state/state.ts'
import { TransactionRow } from '../state/transactions.ts'
import { TRANSACTION_STATUSES } from '../view.ts'
import type { StateData, TransactionalIdData } from './data.ts'

type Part = Pick<StateData, 'transactionalIds' | 'openTransactions' | 'abortedTransactions'>

/** Transactions as plain data; each part is left out while it is empty (L5). */
export function dumpTransactions(rooms: Rooms): Part {
  return { transactionalIds: dumpIds(rooms), openTransactions: dumpOpen(rooms), abortedTransactions: dumpAborted(rooms) }
}

function dumpIds({ transactions }: Rooms): TransactionalIdData[] | undefined {
  if (transactions.byId.size === 0) return undefined
  const rows = [...transactions.byId.values()]
  rows.sort((a, b) => (a.transactionalId < b.transactionalId ? -1 : 1))
  return rows.map((row) => {
    const partitions = row.partitions()
    const groups = [...row.groups].sort(([a], [b]) => (a < b ? -1 : 1))
    return {
      transactionalId: row.transactionalId,
      producerId: row.producerId,
      previousProducerId: row.previousProducerId,
      producerEpoch: row.producerEpoch,
      lastEpoch: row.lastEpoch,
      timeoutMs: row.timeoutMs,
      status: TRANSACTION_STATUSES.indexOf(row.status),
      startMs: row.startMs,
      updateMs: row.updateMs,
      topics: partitions.map(([topic]) => topic),
      partitions: partitions.map(([, partition]) => partition),
      groups: groups.map(([groupId, pending]) => ({
        groupId,
        offsets: [...pending.values()].sort((a, b) => a.topic - b.topic || a.partition - b.partition),
      })),
    }
  })
}

/** Slots in order of topic and partition. */
function sorted({ parts }: Rooms, slots: Iterable<number>): number[] {
  return [...slots].sort((a, b) => parts.topic.get(a) - parts.topic.get(b) || parts.partition.get(a) - parts.partition.get(b))
}

function dumpOpen(rooms: Rooms): Part['openTransactions'] {
  const { parts, transactions } = rooms
  if (transactions.open.isEmpty) return undefined
  const out = { topics: [] as number[], partitions: [] as number[], producerIds: [] as number[], firstOffsets: [] as number[] }
  for (const slot of sorted(rooms, transactions.open.slots())) {
    for (const [producerId, firstOffset] of transactions.open.list(slot)) {
      out.topics.push(parts.topic.get(slot))
      out.partitions.push(parts.partition.get(slot))
      out.producerIds.push(producerId)
      out.firstOffsets.push(firstOffset)
    }
  }
  return out
}

function dumpAborted(rooms: Rooms): Part['abortedTransactions'] {
  const { parts, transactions } = rooms
  const slots = sorted(rooms, transactions.aborted.slots())
  if (slots.length === 0) return undefined
  return {
    topics: slots.map((slot) => parts.topic.get(slot)),
    partitions: slots.map((slot) => parts.partition.get(slot)),
    counts: slots.map((slot) => transactions.aborted.rows(slot).length),
    rows: slots.flatMap((slot) => transactions.aborted.rows(slot)),
  }
}

/** Topics and extents are there already. */
export function restoreTransactions(rooms: Rooms, state: StateData): void {
  const { topicRows, transactions } = rooms
  for (const data of state.transactionalIds ?? []) {
    const row = new TransactionRow(data)
    row.previousProducerId = data.previousProducerId
    row.lastEpoch = data.lastEpoch
    row.updateMs = data.updateMs
    transactions.add(row)
    const status = TRANSACTION_STATUSES[data.status]
    if (status === 'Ongoing') transactions.begin(row, data.startMs)
    row.status = status
    row.updateMs = data.updateMs
    for (let i = 0; i < data.topics.length; i++) row.addPartition(data.topics[i], data.partitions[i])
    for (const { groupId, offsets } of data.groups) {
      const pending = transactions.addGroup(row, groupId)
      for (const item of offsets) transactions.setPending(pending, copyOffset(item))
    }
  }
  const { openTransactions: open, abortedTransactions: aborted } = state
  for (let i = 0; i < (open?.topics.length ?? 0); i++)
    transactions.open.begin(topicRows.slot(open!.topics[i], open!.partitions[i]), open!.producerIds[i], open!.firstOffsets[i])
  let at = 0
  for (let i = 0; i < (aborted?.topics.length ?? 0); i++) {
    const slot = topicRows.slot(aborted!.topics[i], aborted!.partitions[i])
    const end = at + aborted!.counts[i]
    for (; at < end; at += 4) {
      const { rows } = aborted!
      transactions.aborted.add(slot, rows[at], rows[at + 1], rows[at + 2], rows[at + 3])
    }
  }
  for (const slot of transactions.open.slots()) countUnstable(rooms, slot)
}

/** What lies at or above the last stable offset of a partition, added to its topic's numbers. */
function countUnstable({ parts, topicRows, transactions }: Rooms, slot: number): void {
  const { extents } = parts
  const topic = topicRows.byNumber.get(parts.topic.get(slot))!
  const stable = transactions.open.first(slot)
  for (let i = parts.find(slot, stable); i < parts.extentCount(slot); i++) {
    const extent = parts.index(slot)!.at(i)
    if (extents.firstOffset.get(extent) < stable) continue
    topic.unstableBytes += extents.originalBytes.get(extent)
    topic.unstableRecords += extents.lastOffset.get(extent) - extents.firstOffset.get(extent) + 1
  }
}
