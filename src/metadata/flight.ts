import { FrazilError } from '../base/errors.ts'
import type { Applied } from './apply/apply.ts'
import type { Result } from './commands.ts'
import type { Group } from './queue.ts'
import type { Rooms } from './state/state.ts'

/**
 * Our proposals while another pod may be writing them: their sequences stay what they are, and the results are taken from whichever entry
 * brings them, by that pod or by us (L1, P4).
 */
export class Flight {
  readonly incarnation: number
  readonly firstSequence: number
  readonly #results: (Result | null)[]
  #missing: number

  constructor(incarnation: number, firstSequence: number, count: number) {
    this.incarnation = incarnation
    this.firstSequence = firstSequence
    this.#results = Array.from({ length: count }, () => null)
    this.#missing = count
  }

  note({ proposals, results }: Applied): void {
    proposals.forEach(({ incarnation, sequence }, i) => {
      const at = sequence - this.firstSequence
      if (incarnation !== this.incarnation || at < 0 || at >= this.#results.length || this.#results[at] !== null) return
      this.#results[at] = results[i]
      this.#missing--
    })
  }

  /**
   * The results once all have landed, else null. After a reload they come from what the state remembers; 'lost' when it does not any more
   * (they were applied, nobody knows with what result).
   */
  results(rooms: Rooms): readonly Result[] | 'lost' | null {
    if (this.#missing === 0) return this.#results as Result[]
    const last = this.firstSequence + this.#results.length - 1
    if ((rooms.podRows.incarnations.get(this.incarnation)?.lastSequence ?? 0) < last) return null
    const found = this.#results.map((result, i) => result ?? rooms.recentResults.find(this.incarnation, this.firstSequence + i))
    return found.includes(null) ? 'lost' : (found as Result[])
  }
}

/** Answers those of a group that other entries have brought meanwhile; the rest of the group. */
export function settleLanded(group: Group, flight: Flight | null, rooms: Rooms): Group {
  const results = flight?.results(rooms) ?? null
  let at = 0
  const pendings = group.pendings.filter(({ foreign, proposals, resolve, reject }) => {
    if (foreign === null) {
      if (results === 'lost') reject(new FrazilError('LOG_UNAVAILABLE', 'a proposal was applied, but its result is not known any more'))
      else if (results !== null) resolve(results.slice(at, (at += proposals.length)), rooms.lastEntry)
      return results === null
    }
    const last = rooms.podRows.incarnations.get(foreign.incarnation)?.lastSequence ?? 0
    if (last < foreign.firstSequence + proposals.length - 1) return true
    resolve([], rooms.lastEntry)
    return false
  })
  return pendings.length === group.pendings.length ? group : { ...group, pendings }
}
