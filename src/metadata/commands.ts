import type { ForgetIncarnations, HoldDeletions, OpenTimeline } from './clusterCommands.ts'
import type { ChangeConsumerGroup } from './consumerGroupCommands.ts'
import type { CommitOffsets, DeleteGroup, ExpireOffsets, PutGroup } from './groupCommands.ts'
import type { CreatePartitions, CreateTopic, DeleteTopic } from './topicCommands.ts'
import type { SetTableTyping } from './typingCommands.ts'
import type {
  AddToTransaction,
  CommitTransactionOffsets,
  EndTransaction,
  ExpireTransaction,
  ForgetTransactionalIds,
  InitTransaction,
  WriteMarkers,
} from './transactionCommands.ts'

export type * from './clusterCommands.ts'
export type * from './consumerGroupCommands.ts'
export type * from './groupCommands.ts'
export type * from './topicCommands.ts'
export type * from './transactionCommands.ts'

/**
 * What can be proposed to the state machine, and what `apply` answers. Plain data; entries.proto is the form on disk.
 * Topics are named by their number (given by `apply` at creation, never used again), partitions by index.
 * Adding a kind or changing what `apply` does with one is a new level (L5).
 */
export type Command =
  | ({ readonly kind: 'registerIncarnation' } & RegisterIncarnation)
  | ({ readonly kind: 'fenceIncarnation' } & FenceIncarnation)
  | ({ readonly kind: 'setLevel' } & SetLevel)
  | ({ readonly kind: 'createTopic' } & CreateTopic)
  | ({ readonly kind: 'deleteTopic' } & DeleteTopic)
  | ({ readonly kind: 'alterConfigs' } & AlterConfigs)
  | ({ readonly kind: 'createPartitions' } & CreatePartitions)
  | ({ readonly kind: 'commitWal' } & CommitWal)
  | ({ readonly kind: 'moveExtents' } & MoveExtents)
  | ({ readonly kind: 'commitTable' } & CommitTable)
  | ({ readonly kind: 'dropTable' } & DropTable)
  | ({ readonly kind: 'setTableTyping' } & SetTableTyping)
  | ({ readonly kind: 'trimPartitions' } & TrimPartitions)
  | ({ readonly kind: 'deleted' } & Deleted)
  | ({ readonly kind: 'enqueueDeletions' } & EnqueueDeletions)
  | ({ readonly kind: 'allocateProducerIds' } & AllocateProducerIds)
  | ({ readonly kind: 'expireProducers' } & ExpireProducers)
  | ({ readonly kind: 'assignShards' } & AssignShards)
  | ({ readonly kind: 'putGroup' } & PutGroup)
  | ({ readonly kind: 'deleteGroup' } & DeleteGroup)
  | ({ readonly kind: 'changeConsumerGroup' } & ChangeConsumerGroup)
  | ({ readonly kind: 'commitOffsets' } & CommitOffsets)
  | ({ readonly kind: 'expireOffsets' } & ExpireOffsets)
  | ({ readonly kind: 'initTransaction' } & InitTransaction)
  | ({ readonly kind: 'addToTransaction' } & AddToTransaction)
  | ({ readonly kind: 'commitTransactionOffsets' } & CommitTransactionOffsets)
  | ({ readonly kind: 'endTransaction' } & EndTransaction)
  | ({ readonly kind: 'expireTransaction' } & ExpireTransaction)
  | ({ readonly kind: 'forgetTransactionalIds' } & ForgetTransactionalIds)
  | ({ readonly kind: 'writeMarkers' } & WriteMarkers)
  | ({ readonly kind: 'announcePod' } & AnnouncePod)
  | ({ readonly kind: 'renewIncarnations' } & RenewIncarnations)
  | ({ readonly kind: 'moveLease' } & MoveLease)
  | ({ readonly kind: 'moveShards' } & MoveShards)
  | ({ readonly kind: 'registerSchema' } & RegisterSchema)
  | ({ readonly kind: 'deleteSchemas' } & DeleteSchemas)
  | ({ readonly kind: 'alterSchemaSettings' } & AlterSchemaSettings)
  | ({ readonly kind: 'holdDeletions' } & HoldDeletions)
  | ({ readonly kind: 'forgetIncarnations' } & ForgetIncarnations)
  | ({ readonly kind: 'openTimeline' } & OpenTimeline)

/** Registers a process; the answer is its incarnation, never used again, and the node id bound to the pod's name (L1, L22). */
export interface RegisterIncarnation {
  readonly pod: string
  /** 16 random bytes; a proposal sent twice answers the same incarnation. */
  readonly nonce: Uint8Array
  /** The highest level this process supports. */
  readonly level: number
  /** Fence every other live incarnation of the same pod in the same step. */
  readonly fenceOlder: boolean
}

/** Refused when `renewals` is not the counter in the state (L6). */
export interface FenceIncarnation {
  readonly incarnation: number
  readonly renewals: number
}

export interface SetLevel {
  readonly level: number
}

/** null deletes a key. `topic` 0 with `broker` sets cluster-wide broker configs. Values were validated by the proposer. */
export interface AlterConfigs {
  /** `broker` '' is the cluster-wide default, else a node id as text. */
  readonly target: { readonly topic: number } | { readonly broker: string } | { readonly group: string }
  readonly set: Readonly<Record<string, string>>
  readonly remove: readonly string[]
}

/** One WAL object (or the attachment of this entry, when `key` is '') becomes visible. Batches in byte order. */
export interface CommitWal {
  /** Store key of the object, or '' for bytes that ride inside the entry. */
  readonly key: string
  readonly sizeBytes: number
  /** Strictly rising per incarnation (L2, L13). */
  readonly walSequence: number
  readonly parts: readonly WalPart[]
}

/**
 * The batches of one partition in one object, stored one after the other from `byteOffset` on. Parallel arrays, one
 * element a batch. `producerIds[i]` is -1 for a batch without idempotence.
 */
export interface WalPart {
  readonly topic: number
  readonly partition: number
  readonly byteOffset: number
  readonly sizesBytes: readonly number[]
  /** lastOffsetDelta + 1. */
  readonly offsetCounts: readonly number[]
  readonly maxTimestampsMs: readonly number[]
  readonly producerIds: readonly number[]
  readonly producerEpochs: readonly number[]
  readonly baseSequences: readonly number[]
  /** The time the broker stamped (LogAppendTime topics), else -1. Returned again for a duplicate. */
  readonly appendTimesMs: readonly number[]
  /**
   * Since level 2: how each batch is transactional (`TXN_NONE`, `TXN_ADDED`, `TXN_IMPLICIT`); left out, or without elements, when
   * none is.
   */
  readonly transactions?: readonly number[]
}

/** Not transactional. */
export const TXN_NONE = 0
/** Transactional, and the partition must have been added before (Produce up to v11). */
export const TXN_ADDED = 1
/** Transactional, and the append itself adds the partition (KIP-890, Produce from v12 on). */
export const TXN_IMPLICIT = 2

/** Results of CommitWal, one element a batch, parts and batches in the order of the command. */
export interface CommitWalResult {
  /** Id of the WAL object, or -1 when no batch of it was accepted (then it holds nothing and is on its way out). */
  readonly object: number
  readonly parts: readonly {
    /** Kafka error codes (protocol/errors.ts); 0 also for a recognised duplicate. */
    readonly errors: readonly number[]
    /** -1 on error. A duplicate has the original one. */
    readonly baseOffsets: readonly number[]
    readonly appendTimesMs: readonly number[]
    readonly duplicates: readonly boolean[]
    readonly logStartOffset: number
  }[]
}

/** Live ranges of old objects were copied into new ones, sorted by topic and partition (L14). Taken whole or refused whole. */
export interface MoveExtents {
  readonly objects: readonly { readonly key: string; readonly sizeBytes: number; readonly walSequence: number }[]
  readonly moves: readonly {
    readonly topic: number
    readonly partition: number
    readonly firstOffset: number
    readonly lastOffset: number
    /** WAL object id the range must still be in. */
    readonly fromObject: number
    /** Index into `objects`. */
    readonly to: number
    readonly byteOffset: number
  }[]
}

/** The rows of one partition that a table file holds. Offsets inclusive; holes allowed. */
export interface FileRange {
  readonly partition: number
  readonly firstOffset: number
  readonly lastOffset: number
  readonly rows: number
  readonly maxTimestampMs: number
  /** Share of the produced bytes (batch bytes as stored in the WAL), for retention.bytes and log dirs. */
  readonly originalBytes: number
}

export interface AddedFile {
  readonly key: string
  readonly sizeBytes: number
  readonly rows: number
  /** Merge level: 0 written by conversion, else 1 + the highest of its inputs. */
  readonly level: number
  readonly ranges: readonly FileRange[]
}

/**
 * Moves ranges from the WAL to the table and the table pointer, in one step (L7, T8). Refused whole (result
 * `accepted: false`) unless the table's version is `expectedVersion`, every converted range is exactly covered by WAL
 * extents (parts below the log start may already be gone), and every removed file is live. The ranges of a partition
 * begin at its first unconverted offset and end where a WAL extent ends. Ranges of added files lie inside converted
 * ranges or over the ranges of removed files; overlapping ones (T10) make one extent with several files. Rows of a
 * removed file at or above the log start must be covered by added ranges: consumers still read them.
 */
export interface CommitTable {
  readonly topic: number
  readonly expectedVersion: number
  /** Iceberg metadata file that becomes current; its predecessors' bookkeeping is the table's own. */
  readonly metadataKey: string
  readonly publication: number
  /** -1 while the table has no snapshot. */
  readonly snapshotId: number
  /** Ranges whose records are now in `added` files (or had no rows). Per partition contiguous and ascending. */
  readonly converted: readonly { readonly partition: number; readonly firstOffset: number; readonly lastOffset: number }[]
  readonly added: readonly AddedFile[]
  /** File ids that `added` replaces (merging) or that table retention dropped. */
  readonly removed: readonly number[]
  /** Keys that nobody refers to once this is applied: old metadata, manifests, replaced files; deleted after `graceMs`. */
  readonly obsolete: readonly { readonly key: string; readonly graceMs: number }[]
  /** The newest commit time (wall, ms) of the records this snapshot holds; never goes back (T9). */
  readonly dataTimeMs: number
}

/** Drops a table that no topic is bound to (a kept one). All keys below its location enter the deletion queue. */
export interface DropTable {
  readonly tableUuid: string
}

/**
 * Moves log starts up (retention, DeleteRecords). A value below the log start is ignored; above the end, or of an unknown
 * partition, is refused: that element of `logStartOffsets` in the result is -1, the others are carried out.
 */
export interface TrimPartitions {
  readonly trims: readonly { readonly topic: number; readonly partition: number; readonly logStartOffset: number }[]
}

/** Deletions that were carried out. */
export interface Deleted {
  readonly ids: readonly number[]
}

/** Keys to delete: orphans of fenced incarnations and the like (L13). */
export interface EnqueueDeletions {
  readonly items: readonly { readonly key: string; readonly graceMs: number }[]
}

export interface AllocateProducerIds {
  readonly count: number
}

/** Producers whose last append is older than they may get; refused per producer when it wrote since (`lastOffset` moved). */
export interface ExpireProducers {
  readonly items: readonly {
    readonly topic: number
    readonly partition: number
    readonly producerId: number
    readonly lastOffset: number
  }[]
}

/** The owner's incarnation of each shard; raises the shard's epoch (L19). */
export interface AssignShards {
  readonly shards: readonly { readonly shard: number; readonly owner: number }[]
}

/** What a pod tells the others of itself; PodView has the same words. */
export interface PodAbout {
  /** Where clients of each listener reach it. */
  readonly listeners: readonly { readonly name: string; readonly host: string; readonly port: number }[]
  /** `broker.rack`; '' for none. */
  readonly rack: string
  /** host:port for other pods; '' when it does not listen. */
  readonly peer: string
  /** 1 starting, 2 ready: clients are sent to it; 3 draining: it serves what it has and is given nothing new. */
  readonly phase: number
}

/** Since level 2. The proposer's incarnation, anew as a whole; goes when the incarnation is fenced. */
export interface AnnouncePod {
  readonly about: PodAbout
}

/** Since level 2. Raises the counter of each that lives and has the counter named; one entry renews many (L23). */
export interface RenewIncarnations {
  readonly items: readonly { readonly incarnation: number; readonly renewals: number }[]
}

/** Since level 2. Gives a lease to an incarnation that lives (0: nobody); refused when `term` is not the lease's (0: never held). */
export interface MoveLease {
  readonly name: string
  readonly owner: number
  readonly term: number
}

/** Since level 2. As assignShards, but each shard only if its epoch is the one named; the epoch of one passed over is -1. */
export interface MoveShards {
  readonly shards: readonly { readonly shard: number; readonly owner: number; readonly epoch: number }[]
}

/**
 * Since level 2. A schema becomes a version of a subject. Refused (`outcome`) when the subject changed since the proposer looked
 * (`expectedRevision`, 0: there was none), when a reference is gone, or when the id has another schema. Equal schemas
 * (`guid`) of a context have one id.
 */
export interface RegisterSchema {
  readonly context: string
  readonly subject: string
  /** UUID text made from the canonical schema and its references. */
  readonly guid: string
  /** What it says, opaque to `apply`. */
  readonly body: Uint8Array
  readonly references: readonly { readonly context: string; readonly subject: string; readonly version: number }[]
  /** 0: `apply` gives it; else it is imported. */
  readonly id: number
  /** 0: the next one. */
  readonly version: number
  readonly expectedRevision: number
}

/** Since level 2. Versions of a subject; `permanent` for those that are softly deleted. Refused as RegisterSchema, or when referred to. */
export interface DeleteSchemas {
  readonly context: string
  readonly subject: string
  readonly versions: readonly number[]
  readonly permanent: boolean
  readonly expectedRevision: number
}

/** Since level 2. Of a subject, or with '' of its context. null leaves a setting as it is, '' removes it. */
export interface AlterSchemaSettings {
  readonly context: string
  readonly subject: string
  /** JSON text of what the registry's API calls config. */
  readonly config: string | null
  readonly mode: string | null
}

/** The answer of `apply` to one proposal. */
export type Result =
  | { readonly kind: 'ok' }
  | { readonly kind: 'refused'; readonly error: number; readonly reason: string } // error: a Kafka error code
  | { readonly kind: 'incarnation'; readonly incarnation: number; readonly nodeId: number }
  | { readonly kind: 'topic'; readonly topic: number }
  | ({ readonly kind: 'wal' } & CommitWalResult)
  | { readonly kind: 'producerIds'; readonly first: number; readonly count: number }
  | { readonly kind: 'table'; readonly accepted: boolean; readonly reason: string }
  | { readonly kind: 'trimmed'; readonly logStartOffsets: readonly number[] }
  | { readonly kind: 'shards'; readonly epochs: readonly number[] }
  | { readonly kind: 'lease'; readonly term: number }
  | {
      readonly kind: 'schema'
      /** `moved`: look again; `idTaken`: the id has another schema, or the schema another id. */
      readonly outcome: 'done' | 'moved' | 'referenceMissing' | 'referenced' | 'idTaken'
      readonly id: number
      readonly version: number
    }
  /** `error` is a Kafka error code; with 0 the producer id and epoch that are current now, else -1. */
  | { readonly kind: 'transaction'; readonly error: number; readonly producerId: number; readonly producerEpoch: number }
  | { readonly kind: 'markers'; readonly errors: readonly number[] }
