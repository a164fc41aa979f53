/** A seeded source of random numbers for tests (mulberry32): the same seed gives the same run everywhere. */
export interface Random {
  /** A number in [0, 1). */
  next(): number
  /** An integer in [0, below). */
  int(below: number): number
  /** True with this probability. */
  chance(probability: number): boolean
}

export function seeded(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return { next, int: (below) => Math.floor(next() * below), chance: (probability) => next() < probability }
}
