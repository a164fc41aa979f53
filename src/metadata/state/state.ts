import type { GroupRecord, OffsetItem } from '../commands.ts'
import type {
  AbortedTransaction,
  ConsumerGroupView,
  TransactionView,
  Deletion,
  Extent,
  PartitionView,
  PodView,
  ProducerView,
  SchemasView,
  StateView,
  TableFile,
  TableView,
  TopicView,
  WalObject,
} from '../view.ts'
import { Configs } from './configs.ts'
import { Deletions } from './deletions.ts'
import { Groups } from './groups.ts'
import { PartitionTable } from './partitions.ts'
import { Pods } from './pods.ts'
import { ProducerTable } from './producers.ts'
import { RecentResults } from './recentResults.ts'
import { Schemas } from './schemas.ts'
import { Shards } from './shards.ts'
import { Tables } from './tables.ts'
import { Topics } from './topics.ts'
import { Transactions } from './transactions.ts'
import { WalObjects } from './walObjects.ts'

/** What `apply` changes: one room a kind of thing. A pure function of the entries applied. */
export class Rooms {
  readonly topicRows = new Topics()
  readonly parts = new PartitionTable()
  readonly producerRows = new ProducerTable(this.parts)
  readonly objects = new WalObjects()
  readonly tableRows = new Tables()
  readonly deletionRows = new Deletions()
  readonly configs = new Configs()
  readonly shards = new Shards()
  readonly groupRows = new Groups()
  readonly transactions = new Transactions()
  readonly podRows = new Pods()
  readonly schemaRows = new Schemas()
  clusterId = ''
  lastEntry = 0
  /** Hash of the last entry (L3). */
  lastHash: Uint8Array = Buffer.alloc(32)
  lastTimeMs = 0
  level = 1
  timeline = 0
  nextProducerId = 0
  readonly recentResults = new RecentResults()
}

/** The state with the queries of view.ts. What it is about can be exchanged (reload, L3); holders of it need not notice. */
export class State implements StateView {
  rooms: Rooms

  constructor(rooms = new Rooms()) {
    this.rooms = rooms
  }

  get clusterId(): string {
    return this.rooms.clusterId
  }
  get lastEntry(): number {
    return this.rooms.lastEntry
  }
  get lastTimeMs(): number {
    return this.rooms.lastTimeMs
  }
  get level(): number {
    return this.rooms.level
  }
  get timeline(): number {
    return this.rooms.timeline
  }

  topicByName(name: string): TopicView | null {
    return this.rooms.topicRows.byName.get(name) ?? null
  }
  topicById(topicId: string): TopicView | null {
    return this.rooms.topicRows.byId.get(topicId) ?? null
  }
  topicByNumber(topic: number): TopicView | null {
    return this.rooms.topicRows.byNumber.get(topic) ?? null
  }
  topics(): Iterable<TopicView> {
    return this.rooms.topicRows.byNumber.values()
  }

  partition(topic: number, partition: number): PartitionView | null {
    const slot = this.#slot(topic, partition)
    return slot < 0 ? null : this.rooms.parts.view(slot, this.rooms.transactions.open.first(slot))
  }

  extentAt(topic: number, partition: number, offset: number): Extent | null {
    const slot = this.#slot(topic, partition)
    if (slot < 0) return null
    const { parts } = this.rooms
    const position = parts.find(slot, offset)
    return position === parts.extentCount(slot) ? null : parts.extents.view(parts.index(slot)!.at(position))
  }

  /** Stays right while entries are applied between two steps: it goes on by offset, not by position. */
  *extents(topic: number, partition: number, fromOffset: number): Iterable<Extent> {
    for (
      let extent = this.extentAt(topic, partition, fromOffset);
      extent !== null;
      extent = this.extentAt(topic, partition, extent.lastOffset + 1)
    ) {
      yield extent
    }
  }

  extentByTime(topic: number, partition: number, fromOffset: number, timestampMs: number): Extent | null {
    const slot = this.#slot(topic, partition)
    if (slot < 0) return null
    const { parts } = this.rooms
    for (let i = parts.find(slot, fromOffset); i < parts.extentCount(slot); i++) {
      const extent = parts.index(slot)!.at(i)
      if (parts.extents.maxTimestampMs.get(extent) >= timestampMs) return parts.extents.view(extent)
    }
    return null
  }

  extentOfMaxTimestamp(topic: number, partition: number): Extent | null {
    const slot = this.#slot(topic, partition)
    if (slot < 0) return null
    const { parts } = this.rooms
    let best = -1
    for (let i = parts.find(slot, parts.logStartOffset.get(slot)); i < parts.extentCount(slot); i++) {
      const extent = parts.index(slot)!.at(i)
      if (best < 0 || parts.extents.maxTimestampMs.get(extent) > parts.extents.maxTimestampMs.get(best)) best = extent
    }
    return best < 0 ? null : parts.extents.view(best)
  }

  firstUnconverted(topic: number, partition: number): number {
    const slot = this.#slot(topic, partition)
    return slot < 0 ? -1 : this.rooms.parts.firstUnconverted(slot)
  }
  unconvertedBytes(topic: number): number {
    const row = this.rooms.topicRows.byNumber.get(topic)
    return row === undefined ? 0 : row.unconvertedBytes - row.unstableBytes
  }
  unconvertedRecords(topic: number): number {
    const row = this.rooms.topicRows.byNumber.get(topic)
    return row === undefined ? 0 : row.unconvertedRecords - row.unstableRecords
  }
  oldestUnconvertedMs(topic: number): number {
    const { parts, topicRows, transactions } = this.rooms
    let oldest = Infinity
    for (const slot of topicRows.byNumber.get(topic)?.slots ?? []) {
      const converted = parts.converted.get(slot)
      if (converted === parts.extentCount(slot)) continue
      const extent = parts.index(slot)!.at(converted)
      const stable = transactions.open.first(slot)
      if (stable < 0 || parts.extents.firstOffset.get(extent) < stable) oldest = Math.min(oldest, parts.extents.commitTimeMs.get(extent))
    }
    return oldest === Infinity ? -1 : oldest
  }

  walObject(id: number): WalObject | null {
    return this.rooms.objects.byId.get(id) ?? null
  }
  walObjects(): Iterable<WalObject> {
    return this.rooms.objects.byId.values()
  }
  tableFile(id: number): TableFile | null {
    return this.rooms.tableRows.files.get(id) ?? null
  }

  table(topic: number): TableView | null {
    return this.rooms.tableRows.byTopic.get(topic) ?? null
  }
  tableByUuid(uuid: string): TableView | null {
    return this.rooms.tableRows.byUuid.get(uuid) ?? null
  }
  tableByName(namespace: string, name: string): TableView | null {
    return this.rooms.tableRows.byName(namespace, name)
  }
  tables(): Iterable<TableView> {
    return this.rooms.tableRows.byUuid.values()
  }

  deletions(): Iterable<Deletion> {
    return this.rooms.deletionRows.byId.values()
  }
  holds(): ReadonlyMap<string, number> {
    return this.rooms.deletionRows.holds
  }
  isHeld(wallMs: number): boolean {
    const nowMs = Math.min(wallMs, this.rooms.lastTimeMs)
    for (const untilMs of this.rooms.deletionRows.holds.values()) if (untilMs > nowMs) return true
    return false
  }

  brokerConfigs(broker = ''): ReadonlyMap<string, string> {
    return this.rooms.configs.broker(broker)
  }
  groupConfigs(groupId: string): ReadonlyMap<string, string> {
    return this.rooms.configs.group(groupId)
  }
  configuredGroups(): Iterable<string> {
    return this.rooms.configs.groups.keys()
  }

  producer(topic: number, partition: number, producerId: number): ProducerView | null {
    const partitionSlot = this.#slot(topic, partition)
    const slot = partitionSlot < 0 ? -1 : this.rooms.producerRows.find(partitionSlot, producerId)
    return slot < 0 ? null : this.rooms.producerRows.view(slot, this.rooms.transactions.open.of(partitionSlot, producerId))
  }
  expiredProducers(
    olderThanMs: number,
    limit: number,
  ): readonly { topic: number; partition: number; producerId: number; lastOffset: number }[] {
    const { producerRows, parts, transactions } = this.rooms
    // never while a transaction is open
    const mayExpire = (slot: number): boolean =>
      transactions.open.of(producerRows.partitionSlot.get(slot), producerRows.producerId.get(slot)) < 0
    return producerRows.expired(olderThanMs, limit, mayExpire).map((slot) => ({
      topic: parts.topic.get(producerRows.partitionSlot.get(slot)),
      partition: parts.partition.get(producerRows.partitionSlot.get(slot)),
      producerId: producerRows.producerId.get(slot),
      lastOffset: producerRows.lastOffset(slot),
    }))
  }

  *producers(topic: number, partition: number): Iterable<ProducerView> {
    const partitionSlot = this.#slot(topic, partition)
    if (partitionSlot < 0) return
    const { producerRows, transactions } = this.rooms
    for (const slot of producerRows.slotsOf(partitionSlot))
      yield producerRows.view(slot, transactions.open.of(partitionSlot, producerRows.producerId.get(slot)))
  }

  transaction(transactionalId: string): TransactionView | null {
    return this.rooms.transactions.byId.get(transactionalId) ?? null
  }
  transactions(): Iterable<TransactionView> {
    return this.rooms.transactions.byId.values()
  }
  ongoingTransactions(): Iterable<TransactionView> {
    return this.rooms.transactions.ongoing
  }
  transactionOf(producerId: number): TransactionView | null {
    return this.rooms.transactions.byProducerId.get(producerId) ?? null
  }
  isOffsetPending(groupId: string, topic: number, partition: number): boolean {
    return this.rooms.transactions.isPending(groupId, topic, partition)
  }
  hasPendingOffsets(groupId: string): boolean {
    return this.rooms.transactions.hasPending(groupId)
  }
  abortedTransactions(topic: number, partition: number, fromOffset: number, upTo: number): readonly AbortedTransaction[] {
    const slot = this.#slot(topic, partition)
    return slot < 0 ? [] : this.rooms.transactions.aborted.between(slot, fromOffset, upTo)
  }

  shard(shard: number): { readonly owner: number; readonly epoch: number } {
    const { owners, epochs } = this.rooms.shards
    return { owner: owners[shard] ?? 0, epoch: epochs[shard] ?? 0 }
  }
  group(groupId: string): GroupRecord | null {
    return this.rooms.groupRows.byId.get(groupId)?.record ?? null
  }
  *groups(): Iterable<GroupRecord> {
    for (const row of this.rooms.groupRows.byId.values()) yield row.record
  }
  consumerGroup(groupId: string): ConsumerGroupView | null {
    return this.rooms.groupRows.byId.get(groupId)?.consumer ?? null
  }
  offset(groupId: string, topic: number, partition: number): OffsetItem | null {
    return this.rooms.groupRows.offset(groupId, topic, partition)
  }
  offsets(groupId: string): Iterable<OffsetItem> {
    return this.rooms.groupRows.offsets(groupId)
  }

  *pods(): Iterable<{ readonly name: string; readonly nodeId: number; readonly incarnation: number; readonly live: boolean }> {
    const { byName, incarnations } = this.rooms.podRows
    for (const { name, nodeId, incarnation } of byName.values())
      yield { name, nodeId, incarnation, live: incarnations.get(incarnation)?.live === true }
  }
  *livePods(): Iterable<PodView> {
    const { byName, incarnations } = this.rooms.podRows
    for (const { incarnation, pod, level, renewals, about, live } of incarnations.values())
      if (live) yield { incarnation, pod, nodeId: byName.get(pod)!.nodeId, level, renewals, about: about ?? null }
  }
  lease(name: string): { readonly owner: number; readonly term: number } {
    return this.rooms.podRows.leases.get(name) ?? { owner: 0, term: 0 }
  }
  *fencedIncarnations(): Iterable<number> {
    for (const { incarnation, live } of this.rooms.podRows.incarnations.values()) if (!live) yield incarnation
  }
  isGone(incarnation: number): boolean {
    const { incarnations, nextIncarnation } = this.rooms.podRows
    return incarnations.get(incarnation)?.live !== true && incarnation < nextIncarnation
  }
  incarnation(incarnation: number): { readonly pod: string; readonly live: boolean; readonly lastWalSequence: number } | null {
    return this.rooms.podRows.incarnations.get(incarnation) ?? null
  }

  get schemas(): SchemasView {
    return this.rooms.schemaRows
  }

  #slot(topic: number, partition: number): number {
    return this.rooms.topicRows.slot(topic, partition)
  }
}
