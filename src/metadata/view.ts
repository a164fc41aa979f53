import type { GroupRecord, OffsetItem, PodAbout } from './commands.ts'
import type { ConsumerGroupHead, ConsumerMember } from './consumerGroupCommands.ts'

/** The read side of the state that other rooms see. All synchronous, from memory; nothing returned may be changed. */
export interface StateView {
  readonly clusterId: string
  /** Number of the last entry applied. */
  readonly lastEntry: number
  /** Wall time of the last entry, never going back. */
  readonly lastTimeMs: number
  readonly level: number
  readonly timeline: number

  topicByName(name: string): TopicView | null
  topicById(topicId: string): TopicView | null
  topicByNumber(topic: number): TopicView | null
  /** In order of number. */
  topics(): Iterable<TopicView>

  /** null when the partition does not exist. `partitionSlot` of a TopicView is cheaper on hot paths. */
  partition(topic: number, partition: number): PartitionView | null

  /** The first extent whose last offset is at or above `offset`, or null at the end of the log. */
  extentAt(topic: number, partition: number, offset: number): Extent | null
  /** Extents in offset order from the first whose last offset is at or above `fromOffset`. */
  extents(topic: number, partition: number, fromOffset: number): Iterable<Extent>
  /** The first extent at or above `fromOffset` whose maximum timestamp is at or above the time; null when none. */
  extentByTime(topic: number, partition: number, fromOffset: number, timestampMs: number): Extent | null
  /** The extent that holds the largest timestamp of the partition (the earliest such), or null when empty. */
  extentOfMaxTimestamp(topic: number, partition: number): Extent | null
  /** First offset that is still in the WAL, i.e. not yet converted; the end of the log when all is. */
  firstUnconverted(topic: number, partition: number): number
  /** Bytes of the topic's unconverted extents below the last stable offset: what could be converted. */
  unconvertedBytes(topic: number): number
  /** Offsets of these extents. */
  unconvertedRecords(topic: number): number
  /** Entry time of the oldest of these extents, or -1. */
  oldestUnconvertedMs(topic: number): number

  walObject(id: number): WalObject | null
  walObjects(): Iterable<WalObject>
  tableFile(id: number): TableFile | null

  table(topic: number): TableView | null
  tableByUuid(uuid: string): TableView | null
  /** Lower-cased name lookup, as catalogs do. */
  tableByName(namespace: string, name: string): TableView | null
  tables(): Iterable<TableView>

  deletions(): Iterable<Deletion>
  /** Holds that were not ended: until when each lasts (wall, ms). */
  holds(): ReadonlyMap<string, number>
  /** Something must not be deleted now: a hold lasts, by this clock or by that of the last entry (L6: whoever is behind). */
  isHeld(wallMs: number): boolean

  /** Of one broker (node id as text), or the cluster-wide ones (''). */
  brokerConfigs(broker?: string): ReadonlyMap<string, string>
  groupConfigs(groupId: string): ReadonlyMap<string, string>
  /** Groups that have configs of their own. */
  configuredGroups(): Iterable<string>

  producer(topic: number, partition: number, producerId: number): ProducerView | null
  /** Producers whose last append is older than `olderThanMs` (entry time), at most `limit`. */
  expiredProducers(
    olderThanMs: number,
    limit: number,
  ): readonly { topic: number; partition: number; producerId: number; lastOffset: number }[]

  /** A transactional id, or null. */
  transaction(transactionalId: string): TransactionView | null
  transactions(): Iterable<TransactionView>
  /** Transactions that run now. */
  ongoingTransactions(): Iterable<TransactionView>
  /** The transactional id that a producer id belongs to now, or null. */
  transactionOf(producerId: number): TransactionView | null
  /** A running transaction holds an offset of this partition for the group (KIP-447). */
  isOffsetPending(groupId: string, topic: number, partition: number): boolean
  hasPendingOffsets(groupId: string): boolean
  /** Aborted transactions with a marker at or above `fromOffset`, still in the WAL, that began below `upTo` (L17). */
  abortedTransactions(topic: number, partition: number, fromOffset: number, upTo: number): readonly AbortedTransaction[]
  /** All producers that the partition remembers, with where their open transaction begins (-1: none). */
  producers(topic: number, partition: number): Iterable<ProducerView>

  shard(shard: number): { readonly owner: number; readonly epoch: number }
  group(groupId: string): GroupRecord | null
  groups(): Iterable<GroupRecord>
  /** A consumer group (KIP-848), or null for a classic one and for none. The members change while entries are applied. */
  consumerGroup(groupId: string): ConsumerGroupView | null
  offset(groupId: string, topic: number, partition: number): OffsetItem | null
  offsets(groupId: string): Iterable<OffsetItem>

  pods(): Iterable<{ readonly name: string; readonly nodeId: number; readonly incarnation: number; readonly live: boolean }>
  /** Incarnations that live, in the order of their registration. */
  livePods(): Iterable<PodView>
  /** (0, 0) for a lease that nobody ever held. */
  lease(name: string): { readonly owner: number; readonly term: number }
  /** Look it up anew after an await. */
  readonly schemas: SchemasView

  /** Those that were fenced and are still known. */
  fencedIncarnations(): Iterable<number>
  /** It was fenced, perhaps so long ago that the state has forgotten it. */
  isGone(incarnation: number): boolean
  /** null when it was never registered, or was forgotten. */
  incarnation(incarnation: number): { readonly pod: string; readonly live: boolean; readonly lastWalSequence: number } | null
}

export interface ConsumerGroupView {
  readonly head: ConsumerGroupHead
  readonly members: ReadonlyMap<string, ConsumerMember>
}

/** A live incarnation of a pod. */
export interface PodView {
  readonly incarnation: number
  readonly pod: string
  readonly nodeId: number
  /** The highest feature level it supports. */
  readonly level: number
  readonly renewals: number
  /** null until it announced itself. */
  readonly about: PodAbout | null
}

export interface TopicView {
  readonly topic: number
  readonly topicId: string
  readonly name: string
  readonly partitions: number
  readonly configs: ReadonlyMap<string, string>
  /** Raised with every change of configs, so that derived settings can be cached. */
  readonly configVersion: number
  readonly createdMs: number
}

export interface PartitionView {
  readonly logStartOffset: number
  /** Offset of the next record: log end and high watermark in one. */
  readonly endOffset: number
  /** First offset of the oldest open transaction, never below the log start; the end when there is none. */
  readonly lastStableOffset: number
  readonly leaderEpoch: number
  /** (epoch, start offset), ascending (L9). */
  readonly epochs: readonly { readonly epoch: number; readonly startOffset: number }[]
  /** Produced bytes between log start and end, by extents. */
  readonly sizeBytes: number
}

/** A range of offsets and where its bytes are. Offsets are inclusive; holes inside are possible in table extents only. */
export type Extent = WalExtent | TableExtent | MarkerExtent

interface ExtentBase {
  readonly firstOffset: number
  readonly lastOffset: number
  readonly maxTimestampMs: number
  readonly originalBytes: number
  /** Entry time at which the records were committed. */
  readonly commitTimeMs: number
}

/** Whole batches, one after the other: batch n+1 starts where n ends; base offsets follow from `firstOffset`. */
export interface WalExtent extends ExtentBase {
  readonly kind: 'wal'
  readonly object: number
  /** From the beginning of the object (see WalObject.entryOffset for one that rides inside an entry). */
  readonly byteOffset: number
  readonly sizeBytes: number
}

/** The rows are in these files (usually one; several when partitioning scattered them, T10). */
export interface TableExtent extends ExtentBase {
  readonly kind: 'table'
  readonly files: readonly number[]
}

/** The end of a transaction on the partition: one offset, made into a control batch when it is served. */
export interface MarkerExtent extends ExtentBase {
  readonly kind: 'marker'
  readonly producerId: number
  readonly producerEpoch: number
  /** False: aborted. */
  readonly isCommit: boolean
}

export interface WalObject {
  readonly id: number
  /** '' when the bytes ride inside entry `entry`. */
  readonly key: string
  readonly entry: number
  /** Where the object begins in the attachment of `entry`: several proposals share one. 0 when `key` is not ''. */
  readonly entryOffset: number
  readonly sizeBytes: number
  readonly liveBytes: number
  /** Segments hold one topic's evacuated ranges (L14). */
  readonly segment: boolean
  readonly createdMs: number
}

export interface TableFile {
  readonly id: number
  readonly topic: number
  readonly key: string
  readonly sizeBytes: number
  readonly rows: number
  readonly level: number
  readonly ranges: readonly {
    readonly partition: number
    readonly firstOffset: number
    readonly lastOffset: number
    readonly rows: number
    readonly maxTimestampMs: number
    readonly originalBytes: number
  }[]
}

export interface TableView {
  readonly uuid: string
  /** 0 when its topic was deleted and the table kept. */
  readonly topic: number
  readonly namespace: string
  readonly name: string
  /** `tables/<namespace>/<name>-<first 8 of the topic id>`, never moved. */
  readonly location: string
  /** '' before the first publication. */
  readonly metadataKey: string
  readonly version: number
  readonly publication: number
  readonly snapshotId: number
  readonly dataTimeMs: number
  readonly createdMs: number
  /** Columns and recipes of typed values: how often they changed, and the object that holds them ('' for none). */
  readonly typingVersion: number
  readonly typingKey: string
  /** Entry time of the last accepted CommitTable. */
  readonly committedMs: number
  files(): Iterable<TableFile>
  readonly fileCount: number
}

export interface Deletion {
  readonly id: number
  /** One key, or with a trailing '/' every key below it. */
  readonly key: string
  /** Earliest wall time at which it may be carried out. */
  readonly dueMs: number
}

export interface ProducerView {
  readonly producerId: number
  readonly epoch: number
  /** Up to five, oldest first. */
  readonly batches: readonly {
    readonly firstSequence: number
    readonly lastSequence: number
    readonly firstOffset: number
    readonly lastOffset: number
  }[]
  readonly lastAppendMs: number
  /** Where its open transaction began, or -1. */
  readonly transactionStartOffset: number
}

/** Kafka's words (K: TransactionState). There is nothing between Ongoing and Complete…: one entry does all of it. */
export const TRANSACTION_STATUSES = ['Empty', 'Ongoing', 'CompleteCommit', 'CompleteAbort'] as const
export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number]

export interface TransactionView {
  readonly transactionalId: string
  readonly producerId: number
  readonly producerEpoch: number
  readonly timeoutMs: number
  readonly status: TransactionStatus
  /** Entry time at which the running transaction began, or -1. */
  readonly startMs: number
  /** Entry time of the last change. */
  readonly updateMs: number
  has(topic: number, partition: number): boolean
  /** [topic, partition] of the running transaction, ascending. */
  partitions(): readonly (readonly [number, number])[]
}

/** An aborted transaction on one partition; `lastOffset` is its marker. */
export interface AbortedTransaction {
  readonly producerId: number
  readonly firstOffset: number
  readonly lastOffset: number
}

/** The schema registry's state. The default context is '.', the names of others begin with a dot as well; none has colons. */
export interface SchemasView {
  contexts(): Iterable<string>
  content(context: string, id: number): SchemaContentView | null
  contentByGuid(context: string, guid: string): SchemaContentView | null
  contents(context: string): Iterable<SchemaContentView>
  subject(context: string, subject: string): SchemaSubjectView | null
  subjects(): Iterable<SchemaSubjectView>
  /** Schemas that refer to this version. */
  referrers(context: string, subject: string, version: number): Iterable<SchemaContentView>
  settings(context: string, subject: string): SchemaSettings | null
  allSettings(): Iterable<SchemaSettings>
}

export interface SchemaReference {
  readonly context: string
  readonly subject: string
  readonly version: number
}

export interface SchemaContentView {
  readonly context: string
  readonly id: number
  readonly guid: string
  /** What it says (src/schemas/registry/body.ts). */
  readonly body: Uint8Array
  readonly references: readonly SchemaReference[]
  /** Versions with this id that are not deleted. */
  readonly liveUses: number
}

export interface SchemaVersion {
  readonly version: number
  readonly id: number
  /** Softly. */
  readonly deleted: boolean
}

export interface SchemaSubjectView {
  readonly context: string
  readonly subject: string
  /** Another one after every change. */
  readonly revision: number
  /** Ascending, deleted ones included. */
  readonly versions: readonly SchemaVersion[]
}

export interface SchemaSettings {
  readonly context: string
  /** '' for the context's own. */
  readonly subject: string
  /** JSON text, or ''. */
  readonly config: string
  readonly mode: string
}
