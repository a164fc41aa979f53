import type { GroupRecord, OffsetItem } from '../commands.ts'
import type { ConsumerGroupHead, ConsumerMember } from '../consumerGroupCommands.ts'
import type { Incarnation, Lease, Pod } from '../state/pods.ts'
import type { SchemaContentView, SchemaSettings } from '../view.ts'

/** A column of numbers; an array or a typed array. */
export type Column = ArrayLike<number>

export interface ConfigsData {
  readonly name: string
  readonly keys: readonly string[]
  readonly values: readonly string[]
}

export interface TopicData {
  readonly topic: number
  readonly topicId: string
  readonly name: string
  readonly createdMs: number
  readonly configVersion: number
  readonly configs: ConfigsData
  readonly logStartOffsets: Column
  readonly endOffsets: Column
  readonly extentCounts: Column
  readonly epochCounts: Column
  readonly epochs: Column
  readonly epochStartOffsets: Column
}

export interface FileData {
  readonly id: number
  readonly key: string
  readonly sizeBytes: number
  readonly rows: number
  readonly level: number
  readonly partitions: Column
  readonly firstOffsets: Column
  readonly lastOffsets: Column
  readonly rangeRows: Column
  readonly maxTimestampsMs: Column
  readonly originalBytes: Column
}

export interface TableData {
  readonly uuid: string
  readonly topic: number
  readonly namespace: string
  readonly name: string
  readonly location: string
  readonly metadataKey: string
  readonly version: number
  readonly publication: number
  readonly snapshotId: number
  readonly dataTimeMs: number
  readonly createdMs: number
  readonly committedMs: number
  /** Absent for a table without typed columns, as before level 2. */
  readonly typingVersion?: number | undefined
  readonly typingKey?: string | undefined
  readonly files: readonly FileData[]
}

export interface GroupData extends GroupRecord {
  readonly offsets: readonly OffsetItem[]
  /** Absent for a classic group, as before level 2. */
  readonly consumer?: { readonly head: ConsumerGroupHead; readonly members: readonly ConsumerMember[] } | null | undefined
}

/** What the schema registry holds. */
export interface SchemasData {
  readonly revision: number
  readonly contexts: readonly {
    readonly name: string
    readonly nextId: number
    readonly contents: readonly Omit<SchemaContentView, 'context' | 'liveUses'>[]
  }[]
  readonly subjects: readonly {
    readonly context: string
    readonly subject: string
    readonly revision: number
    readonly versions: Column
    readonly ids: Column
    readonly deleted: Column
  }[]
  readonly settings: readonly SchemaSettings[]
}

export interface TransactionalIdData {
  readonly transactionalId: string
  readonly producerId: number
  readonly previousProducerId: number
  readonly producerEpoch: number
  readonly lastEpoch: number
  readonly timeoutMs: number
  /** Index into TRANSACTION_STATUSES. */
  readonly status: number
  readonly startMs: number
  readonly updateMs: number
  readonly topics: Column
  readonly partitions: Column
  readonly groups: readonly { readonly groupId: string; readonly offsets: readonly OffsetItem[] }[]
}

/**
 * The whole state as plain data, every list sorted by identity: what is hashed, and what a snapshot holds. What came with a later
 * level is left out (undefined) while it has nothing, so that older states keep their hash and their bytes.
 */
export interface StateData {
  readonly cluster: {
    readonly clusterId: string
    readonly lastEntry: number
    readonly lastTimeMs: number
    readonly level: number
    readonly timeline: number
    readonly nextTopic: number
    readonly nextObject: number
    readonly nextFile: number
    readonly nextDeletion: number
    readonly nextProducerId: number
    readonly nextIncarnation: number
    readonly nextNode: number
  }
  readonly topics: readonly TopicData[]
  readonly extents: Readonly<
    Record<'firstOffsets' | 'lastOffsets' | 'maxTimestampsMs' | 'originalBytes' | 'commitTimesMs' | 'where' | 'places' | 'files', Column>
  >
  readonly producers: Readonly<
    Record<
      | 'topics'
      | 'partitions'
      | 'producerIds'
      | 'epochs'
      | 'lastAppendsMs'
      | 'batchCounts'
      | 'firstSequences'
      | 'counts'
      | 'firstOffsets'
      | 'appendTimesMs',
      Column
    >
  >
  readonly objects: Readonly<Record<'ids' | 'entries' | 'entryOffsets' | 'sizesBytes' | 'liveBytes' | 'segments' | 'createdMs', Column>> & {
    readonly keys: readonly string[]
  }
  readonly tables: readonly TableData[]
  readonly deletions: { readonly ids: Column; readonly keys: readonly string[]; readonly duesMs: Column }
  readonly brokerConfigs: readonly ConfigsData[]
  readonly groupConfigs: readonly ConfigsData[]
  readonly shardOwners: Column
  readonly shardEpochs: Column
  readonly groups: readonly GroupData[]
  readonly pods: readonly Pod[]
  readonly incarnations: readonly Incarnation[]
  readonly leases?: readonly Lease[]
  readonly holds?: readonly { readonly name: string; readonly untilMs: number }[]
  readonly schemas?: SchemasData
  readonly transactionalIds?: readonly TransactionalIdData[]
  /** By topic and partition, then in order of the first offset. */
  readonly openTransactions?: Readonly<Record<'topics' | 'partitions' | 'producerIds' | 'firstOffsets', Column>>
  /** `counts` numbers of `rows` belong to each partition (state/aborted.ts). */
  readonly abortedTransactions?: Readonly<Record<'topics' | 'partitions' | 'counts' | 'rows', Column>>
}
