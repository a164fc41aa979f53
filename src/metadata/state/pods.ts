import type { PodAbout } from '../commands.ts'

export interface Pod {
  readonly name: string
  readonly nodeId: number
  /** The latest. */
  incarnation: number
}

export interface Incarnation {
  readonly incarnation: number
  readonly pod: string
  /** Hex of the 16 random bytes of its registration. */
  readonly nonce: string
  readonly level: number
  live: boolean
  renewals: number
  /** The last proposal of it that was applied (L1). */
  lastSequence: number
  /** The last WAL sequence it committed (L2, L13). */
  lastWalSequence: number
  /** What it announced; absent before, and once it was fenced. */
  about?: PodAbout
}

/** Who holds a right that one pod should use at a time; holding it twice does no harm. */
export interface Lease {
  readonly name: string
  readonly owner: number
  readonly term: number
}

/** Pods by name, and incarnations: all that live, and those fenced lately. Their numbers are never used again (L1, L22). */
export class Pods {
  nextIncarnation = 1
  nextNode = 0
  readonly byName = new Map<string, Pod>()
  readonly incarnations = new Map<number, Incarnation>()
  readonly leases = new Map<string, Lease>()
}

/** A copy with its own fields only, so that nothing points into an entry. */
export function copyAbout({ listeners, rack, peer, phase }: PodAbout): PodAbout {
  return { listeners: listeners.map(({ name, host, port }) => ({ name, host, port })), rack, peer, phase }
}
