import type { Result } from '../commands.ts'
import type { Incarnation } from '../state/pods.ts'
import type { Rooms } from '../state/state.ts'

/** What a command may look at besides itself: the state, and what its entry says. No clock, no randomness, no IO. */
export interface Context {
  readonly rooms: Rooms
  readonly entry: number
  /** Time of the entry; never below the one before. */
  readonly timeMs: number
  readonly attachmentBytes: number
  attachmentOffset: number
  /** The proposer; null for registerIncarnation only. */
  incarnation: Incarnation | null
  /** Partitions appended to: [topic, partition, …]. */
  readonly appended: number[]
}

export const OK: Result = Object.freeze({ kind: 'ok' })

export function refused(error: number, reason: string): Result {
  return { kind: 'refused', error, reason }
}

/** How long a WAL object that nobody needs any more stays for readers under way (--wal-grace-ms), as a cluster-wide config. */
export const WAL_GRACE_CONFIG = 'wal.grace.ms'
export const WAL_GRACE_MS = 60_000

/** Idempotent producers a partition remembers at most (L16), as a cluster-wide config. */
export const PRODUCERS_CONFIG = 'producers.per.partition.max'
export const PRODUCERS_PER_PARTITION = 100_000
