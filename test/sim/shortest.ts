import { FAULT_KINDS, type FaultKind } from './nemesis.ts'
import { OPERATIONS, runSeed, type SeedResult } from './seed.ts'

export interface Shortest {
  readonly seed: number
  readonly operations: number
  readonly kinds: readonly FaultKind[]
  readonly result: SeedResult
}

/**
 * Looks for a shorter run of a seed that still fails: without kinds of faults that it does not need, then with fewer
 * operations. A changed run is another history, so this is a search, not a proof. Returns it with its trace.
 */
export async function shortest(failed: SeedResult): Promise<Shortest> {
  const { seed } = failed
  let kinds: readonly FaultKind[] = FAULT_KINDS
  let operations = OPERATIONS
  const fails = async (some: readonly FaultKind[], most: number): Promise<boolean> =>
    (await runSeed(seed, { kinds: some, operations: most })).violations.length > 0
  for (const kind of FAULT_KINDS) {
    const fewer = kinds.filter((one) => one !== kind)
    if (await fails(fewer, operations)) kinds = fewer
  }
  for (let step = operations / 2; step >= 20; step /= 2) {
    const fewer = Math.floor(operations - step)
    if (fewer > 0 && (await fails(kinds, fewer))) operations = fewer
  }
  return { seed, operations, kinds, result: await runSeed(seed, { kinds, operations, keepTrace: true }) }
}
