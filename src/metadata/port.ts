import type { Command, Result } from './commands.ts'
import type { StateView } from './view.ts'

/** The engine as other rooms see it (engine.ts is the real one). */
/** The lease of the pod that writes the log when several share it (L21). */
export const LOG_LEASE = 'log'

export interface Metadata {
  readonly state: StateView
  /** Of this process. */
  readonly incarnation: number
  readonly nodeId: number
  /** How many bytes may ride inside one proposal (L10). */
  readonly attachmentMaxBytes: number
  /**
   * Proposes; resolves with what `apply` answered once the entry is durable and applied here. Proposals of one process
   * are applied in the order of the calls. `attachment` is for `commitWal` with key '' only.
   * Errors: LOG_UNAVAILABLE (outcome unknown after retries), STORE_FULL and LOG_REFUSED (nothing was written), FENCED, CLOSED.
   */
  propose(command: Command, attachment?: readonly Uint8Array[]): Promise<Result>
  /** Resolves when everything that was in the log when the call was made is applied here (L8). */
  barrier(): Promise<void>
  /** Called synchronously after each entry was applied, with the topics (numbers) it appended to, then anything else. */
  onApplied(listener: (change: AppliedChange) => void): () => void
  /** Bytes of a WAL object that rides inside entry `entry`. */
  readAttachment(entry: number, start: number, end: number): Promise<Buffer>
}

export interface AppliedChange {
  readonly entry: number
  /** Partitions whose end moved, as [topic, partition, topic, partition, …]. */
  readonly appended: readonly number[]
  /** Something else than appends happened (topics, configs, tables, groups, trims). */
  readonly other: boolean
}
