import type { DataFile, RangeTuple, Schema } from '../iceberg/types.ts'

export type ReplicaFormat = 'delta' | 'paimon'

/** A live file of a publication. */
export interface LiveFile {
  /** Store key. */
  readonly key: string
  readonly file: DataFile
  readonly ranges: readonly RangeTuple[] | null
}

/** Which table; nothing of it changes in its life but the name that a deleted topic leaves. */
export interface ReplicaTable {
  readonly uuid: string
  readonly namespace: string
  readonly location: string
  readonly createdMs: number
  readonly topicName: string
  readonly topicId: string
}

/** A publication as a replica is to show it. */
export interface Target {
  readonly table: ReplicaTable
  readonly publication: number
  readonly schema: Schema
  /** This schema and all before it, in order. */
  readonly schemas: readonly Schema[]
  readonly files: readonly LiveFile[]
  /** False when the rows are those of the replica's last publication: files were merged. */
  readonly dataChange: boolean
  readonly nowMs: number
  /** How long replaced files stay (`table.file.grace.ms`). */
  readonly graceMs: number
}

/**
 * A format that follows the publications. Its own log holds all its state: what was published, under which number. Every
 * commit is created if absent, so that two processes, or one that was killed, cannot publish twice.
 * Errors: STORE_…, CORRUPT (its log does not read).
 */
export interface Replica {
  readonly format: ReplicaFormat
  /** The publication that the log shows, or -1 when there is none. */
  position(table: ReplicaTable): Promise<number>
  /** Makes the log show `target`; nothing is written when it does already or shows a later one. */
  publish(target: Target): Promise<void>
  /** Writes down, for readers, that nothing more comes; nothing when there is no log or it is stopped. */
  stop(table: ReplicaTable, nowMs: number): Promise<void>
  /** Forgets what is remembered of a table. */
  forget(uuid: string): void
  close(): Promise<void>
}
