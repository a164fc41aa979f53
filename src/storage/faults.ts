import type { ErrorCode } from '../base/errors.ts'
import type { Random } from '../base/random.ts'

export type MemoryRequest = 'put' | 'get' | 'head' | 'list' | 'delete' | 'deleteKey' | 'putPart' | 'complete'

/** What happens to one request to a memory store. Everything is optional; an empty fault is none. */
export interface Fault {
  /** Before the request takes effect: requests made at the same time change places. */
  readonly delayMs?: number
  /** Between the effect and the answer. */
  readonly answerDelayMs?: number
  /** Fails without an effect. */
  readonly before?: ErrorCode
  /** Takes effect, then fails: a lost answer. */
  readonly after?: ErrorCode
  /** Fails with STORE_UNKNOWN at once, and takes effect this much later. */
  readonly lateMs?: number
}

/** Decides the fault of each request, in the order in which they are made. */
export type FaultPlan = (request: MemoryRequest, key: string) => Fault | null

const WRITES: ReadonlySet<MemoryRequest> = new Set(['put', 'complete'])

/**
 * Faults from a seeded source: the same requests in the same order meet the same faults. Rates are probabilities from 0 to 1.
 * A lost answer is STORE_UNKNOWN of a write and STORE_UNAVAILABLE of anything else.
 */
export function seededFaults(
  random: Random,
  options: {
    readonly errorRate?: number
    readonly lostAnswerRate?: number
    readonly unknownRate?: number
    readonly lateRate?: number
    readonly lateMs?: number
    readonly delayMaxMs?: number
  },
): FaultPlan {
  return (request) => {
    // Always the same count of draws, so that one rate does not shift the others.
    const draws = [random(), random(), random(), random(), random(), random()]
    const isWrite = WRITES.has(request)
    const lost: ErrorCode = isWrite ? 'STORE_UNKNOWN' : 'STORE_UNAVAILABLE'
    const delayMaxMs = options.delayMaxMs ?? 0
    const delays = { delayMs: draws[0] * delayMaxMs, answerDelayMs: draws[1] * delayMaxMs }
    if (draws[2] < (options.errorRate ?? 0)) return { ...delays, before: 'STORE_UNAVAILABLE' }
    if (draws[3] < (options.lostAnswerRate ?? 0)) return { ...delays, after: lost }
    if (draws[4] < (options.unknownRate ?? 0)) return { ...delays, before: lost }
    if (isWrite && draws[5] < (options.lateRate ?? 0)) return { ...delays, lateMs: options.lateMs ?? 100 }
    return delays
  }
}
