import type { Clock } from '../base/clock.ts'
import type { Metadata } from '../metadata/port.ts'

export interface ForgetOptions {
  readonly metadata: Metadata
  readonly clock: Clock
  /** How long this process must have seen an incarnation fenced. */
  readonly afterMs: number
}

/** More in one entry would be a long one. */
const BATCH = 1000
const LEVEL = 3

/**
 * Fenced incarnations leave the state (L22): every start of every pod would stay there for ever. Nothing that such a process may still
 * send does anything before or after that (L1, L13), so the delay is for people who look into the state, and for the process that
 * is paused between its registration and the answer to it. Measured on this process's own clock (L6).
 */
export class Forget {
  readonly #options: ForgetOptions
  /** When each was first seen to be fenced. */
  readonly #seen = new Map<number, number>()

  constructor(options: ForgetOptions) {
    this.#options = options
  }

  /** Takes note; where it is this process's turn, lets those go that are due. Returns how many. */
  async pass(turn: boolean): Promise<number> {
    const { metadata, clock, afterMs } = this.#options
    const nowMs = clock.monotonicMs()
    const fenced = new Set(metadata.state.fencedIncarnations())
    for (const incarnation of this.#seen.keys()) if (!fenced.has(incarnation)) this.#seen.delete(incarnation)
    const due: number[] = []
    for (const incarnation of fenced) {
      const sinceMs = this.#seen.get(incarnation)
      if (sinceMs === undefined) this.#seen.set(incarnation, nowMs)
      if (nowMs - (sinceMs ?? nowMs) >= afterMs && due.length < BATCH) due.push(incarnation)
    }
    if (!turn || due.length === 0 || metadata.state.level < LEVEL) return 0
    await metadata.propose({ kind: 'forgetIncarnations', incarnations: due })
    return due.length
  }
}
