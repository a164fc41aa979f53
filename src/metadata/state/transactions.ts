import type { OffsetItem } from '../commands.ts'
import type { TransactionStatus, TransactionView } from '../view.ts'
import { AbortedTransactions } from './aborted.ts'
import { OpenTransactions } from './openTransactions.ts'

/** Kafka's isEpochExhausted: the last epoch but one is the last that a producer gets. */
export const LAST_EPOCH = 0x7ffe

/** One partition as a key. */
const keyOf = (topic: number, partition: number): number => topic * 0x100000 + partition

/** Offsets of one group that wait for the end of their transaction, the latest a partition. */
export type PendingOffsets = Map<number, OffsetItem>

/** One transactional id. */
export class TransactionRow implements TransactionView {
  readonly transactionalId: string
  producerId: number
  /** The id before the epochs of `producerId` began, when it had run out of them; -1 for none. */
  previousProducerId = -1
  producerEpoch: number
  /** The epoch whose owner may ask again for what gave the current one; -1 for nobody. */
  lastEpoch = -1
  timeoutMs: number
  status: TransactionStatus = 'Empty'
  /** Entry time of the first partition or group of the running transaction, -1 without one. */
  startMs = -1
  updateMs: number
  /** Partitions by topic number. */
  readonly topics = new Map<number, Set<number>>()
  readonly groups = new Map<string, PendingOffsets>()

  constructor(row: {
    readonly transactionalId: string
    readonly producerId: number
    readonly producerEpoch: number
    readonly timeoutMs: number
    readonly updateMs: number
  }) {
    this.transactionalId = row.transactionalId
    this.producerId = row.producerId
    this.producerEpoch = row.producerEpoch
    this.timeoutMs = row.timeoutMs
    this.updateMs = row.updateMs
  }

  has(topic: number, partition: number): boolean {
    return this.topics.get(topic)?.has(partition) === true
  }

  addPartition(topic: number, partition: number): void {
    const partitions = this.topics.get(topic)
    if (partitions === undefined) this.topics.set(topic, new Set([partition]))
    else partitions.add(partition)
  }

  /** [topic, partition] in ascending order, whatever order they came in (L5). */
  partitions(): [number, number][] {
    const all: [number, number][] = []
    for (const [topic, partitions] of this.topics) for (const partition of partitions) all.push([topic, partition])
    return all.sort((a, b) => a[0] - b[0] || a[1] - b[1])
  }
}

/** Transactional ids, open transactions and aborted ones (L17). */
export class Transactions {
  readonly byId = new Map<string, TransactionRow>()
  readonly byProducerId = new Map<number, TransactionRow>()
  readonly ongoing = new Set<TransactionRow>()
  readonly open = new OpenTransactions()
  readonly aborted = new AbortedTransactions()
  /** Running transactions by the groups whose offsets they hold. */
  readonly #byGroup = new Map<string, Set<TransactionRow>>()

  add(row: TransactionRow): void {
    this.byId.set(row.transactionalId, row)
    this.byProducerId.set(row.producerId, row)
  }

  remove(row: TransactionRow): void {
    this.byId.delete(row.transactionalId)
    this.byProducerId.delete(row.producerId)
  }

  setProducerId(row: TransactionRow, producerId: number): void {
    this.byProducerId.delete(row.producerId)
    row.producerId = producerId
    this.byProducerId.set(producerId, row)
  }

  /** The running transaction of the row, begun now when there is none. */
  begin(row: TransactionRow, timeMs: number): void {
    if (row.status === 'Ongoing') return
    row.status = 'Ongoing'
    row.startMs = timeMs
    row.updateMs = timeMs
    this.ongoing.add(row)
  }

  addGroup(row: TransactionRow, groupId: string): PendingOffsets {
    let pending = row.groups.get(groupId)
    if (pending === undefined) {
      row.groups.set(groupId, (pending = new Map()))
      const rows = this.#byGroup.get(groupId)
      if (rows === undefined) this.#byGroup.set(groupId, new Set([row]))
      else rows.add(row)
    }
    return pending
  }

  setPending(pending: PendingOffsets, item: OffsetItem): void {
    pending.set(keyOf(item.topic, item.partition), item)
  }

  /** Some running transaction holds an offset of this partition for the group (KIP-447). */
  isPending(groupId: string, topic: number, partition: number): boolean {
    for (const row of this.#byGroup.get(groupId) ?? []) if (row.groups.get(groupId)!.has(keyOf(topic, partition))) return true
    return false
  }

  hasPending(groupId: string): boolean {
    for (const row of this.#byGroup.get(groupId) ?? []) if (row.groups.get(groupId)!.size > 0) return true
    return false
  }

  /** The transaction is over: what it held is forgotten. */
  end(row: TransactionRow, status: TransactionStatus, timeMs: number): void {
    for (const groupId of row.groups.keys()) {
      const rows = this.#byGroup.get(groupId)
      rows?.delete(row)
      if (rows?.size === 0) this.#byGroup.delete(groupId)
    }
    row.groups.clear()
    row.topics.clear()
    row.status = status
    row.startMs = -1
    row.updateMs = timeMs
    this.ongoing.delete(row)
  }

  /** A deleted group takes its pending offsets with it. */
  removeGroup(groupId: string): void {
    for (const row of this.#byGroup.get(groupId) ?? []) row.groups.get(groupId)!.clear()
  }

  /** A deleted topic leaves every transaction. */
  removeTopic(topic: number, slots: readonly number[]): void {
    for (const slot of slots) {
      this.open.removePartition(slot)
      this.aborted.removePartition(slot)
    }
    for (const row of this.ongoing) {
      row.topics.delete(topic)
      for (const pending of row.groups.values()) for (const [key, item] of pending) if (item.topic === topic) pending.delete(key)
    }
  }
}
