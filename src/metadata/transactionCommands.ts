import type { OffsetItem } from './commands.ts'

/**
 * Since level 2. InitProducerId of a transactional id: makes the row, or aborts what runs and raises the epoch, in one step. An
 * expected id and epoch (-1: none) must be the current ones, or those before a call that is repeated (KIP-360).
 */
export interface InitTransaction {
  readonly transactionalId: string
  readonly timeoutMs: number
  readonly producerId: number
  readonly producerEpoch: number
}

/** Who speaks: the transactional id with the producer id and epoch that it was given. */
export interface TransactionOwner {
  readonly transactionalId: string
  readonly producerId: number
  readonly producerEpoch: number
}

/** Since level 2. Partitions, and a group ('' for none), that the transaction will write to. Whole or not at all. */
export interface AddToTransaction extends TransactionOwner {
  readonly partitions: readonly { readonly topic: number; readonly partition: number }[]
  readonly groupId: string
}

/** Since level 2. Offsets that become the group's when the transaction commits; `addGroup`: without AddOffsetsToTxn (KIP-890). */
export interface CommitTransactionOffsets extends TransactionOwner {
  readonly shardEpoch: number
  readonly groupId: string
  readonly items: readonly OffsetItem[]
  readonly addGroup: boolean
}

/**
 * Since level 2. Commits or aborts everything that the transaction wrote, partitions and group offsets, in this one entry.
 * `raisesEpoch`: the next transaction has the next epoch (KIP-890, EndTxn from v5 on).
 */
export interface EndTransaction extends TransactionOwner {
  readonly isCommit: boolean
  readonly raisesEpoch: boolean
}

/** Since level 2. Aborts a transaction that ran out of time and fences its producer; nothing when it is not that one any more (L6). */
export interface ExpireTransaction extends TransactionOwner {
  readonly startMs: number
}

/** Since level 2. Forgets transactional ids that did nothing since the proposer looked (L6). */
export interface ForgetTransactionalIds {
  readonly items: readonly (TransactionOwner & { readonly updateMs: number })[]
}

/** Since level 2. Markers that an administrator writes behind the coordinator (KIP-664); one element a partition. */
export interface WriteMarkers {
  readonly markers: readonly {
    readonly topic: number
    readonly partition: number
    readonly producerId: number
    readonly producerEpoch: number
    readonly isCommit: boolean
    /** Of the marker: 2 demands a higher epoch than that of the records (KIP-890). */
    readonly transactionVersion: number
  }[]
}
