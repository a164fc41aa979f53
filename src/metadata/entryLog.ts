/** One entry as a log holds it. `attachmentBytes` is the size of what rides inside (L10). */
export interface RawEntry {
  readonly number: number
  readonly bytes: Uint8Array
  readonly attachmentBytes: number
}

/**
 * A totally ordered log of entries, numbered from 1 without a gap, behind which folder, object store and PostgreSQL
 * stand. It moves bytes only: chain, floor rules and grouping are the engine's (engine.ts), so that each log stays small
 * and all pass one suite.
 *
 * Errors: LOG_CORRUPT (stop with the sentence), LOG_UNAVAILABLE (retry), STORE_FULL and LOG_REFUSED (nothing was written), CLOSED.
 */
export interface EntryLog {
  /** How many bytes may ride inside one entry; 0 where the log cannot carry any. */
  readonly attachmentMaxBytes: number
  /** True when other processes write this log too: its end has to be looked at, and snapshots are made by whoever comes first. */
  readonly shared: boolean
  /** An entry must have been seen for this long before it is truncated (L4); 0 where numbers cannot come free again. */
  readonly retentionMs: number
  /** Takes the log for this process (lock where there is one; STORE_IN_USE when another process holds it). */
  open(): Promise<void>
  /** The number below which entries are gone for ever (L4): entry numbers below it must never be used again. */
  floor(): Promise<number>
  /** Snapshots that exist, newest first, by the number of the last entry they include. */
  snapshots(): Promise<readonly number[]>
  readSnapshot(lastEntry: number): Promise<Buffer>
  writeSnapshot(lastEntry: number, bytes: Uint8Array): Promise<void>
  /** Entries from `from` on, in order, until the end as the store knows it now. Reads ahead. */
  read(from: number): AsyncIterable<RawEntry>
  /**
   * Creates entry `number`, durably. 'written' when it is ours (a lost answer is resolved by reading back equal bytes),
   * 'conflict' when another writer has it. The attachment is durable together with the entry, or neither is.
   */
  append(number: number, bytes: Uint8Array, attachment?: readonly Uint8Array[]): Promise<'written' | 'conflict'>
  /** The number of the last entry, learned from the store, 0 when there is none (L8). */
  end(): Promise<number>
  /** A range of the attachment of an entry; STORE_NOT_FOUND when the entry is gone. */
  readAttachment(number: number, start: number, end: number): Promise<Buffer>
  /** Raises the floor durably, then deletes entries below `floor` and snapshots older than the two newest. */
  truncate(floor: number): Promise<void>
  /** Calls when another writer appended, where the log is told such things; returns what ends it. It may miss some. */
  watch(listener: () => void): () => void
  /** Bytes the log holds now, as far as this process knows. */
  sizeBytes(): number
  close(): Promise<void>
}
