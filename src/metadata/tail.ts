import { FrazilError, hasCode } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { EntryLog } from './entryLog.ts'
import type { EngineMetrics } from './metrics.ts'

const RETRY_FIRST_MS = 10
const RETRY_LAST_MS = 5000

/** Waits between tries, without an end. */
export function* retryWaits(): Generator<number, never> {
  for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RETRY_LAST_MS)) yield waitMs
}

/** The end of the log, through failures: what happened is decided by reading back, never by guessing (P4). */
export class LogTail {
  readonly #log: EntryLog
  readonly #logger: Logger
  readonly #metrics: EngineMetrics
  readonly #sleep: (waitMs: number) => Promise<void>

  /** `sleep` throws when the engine stops: that ends the tries. */
  constructor(log: EntryLog, logger: Logger, metrics: EngineMetrics, sleep: (waitMs: number) => Promise<void>) {
    this.#log = log
    this.#logger = logger
    this.#metrics = metrics
    this.#sleep = sleep
  }

  /**
   * True when these very bytes are entry `number` (L2); false when another writer's are. The bytes of a number never change
   * while it is open whether they landed. Errors: STORE_FULL, LOG_REFUSED: nothing written.
   */
  async append(number: number, bytes: Uint8Array, attachment: readonly Uint8Array[]): Promise<boolean> {
    const waits = retryWaits()
    for (;;) {
      try {
        return (await this.#log.append(number, bytes, attachment.length === 0 ? undefined : attachment)) === 'written'
      } catch (error) {
        const refused = isRefusal(error)
        if (!refused && !isTransient(error)) throw error
        const outcome = await this.#readBack(number, bytes)
        if (outcome === 'written') return true
        if (outcome === 'conflict') return false
        if (refused && outcome === 'absent') throw error
        const waitMs = waits.next().value
        this.#metrics.retries.inc()
        this.#logger.warn({ entry: number, waitMs, reason: error.message }, 'the metadata log did not take an entry: trying again')
        await this.#sleep(waitMs)
      }
    }
  }

  /** The number of the last entry, asked until the log answers. */
  async end(): Promise<number> {
    const waits = retryWaits()
    for (;;) {
      try {
        return await this.#log.end()
      } catch (error) {
        if (!isTransient(error)) throw error
        await this.#sleep(waits.next().value)
      }
    }
  }

  /** What the log has as entry `number`, after an append whose answer is unknown. */
  async #readBack(number: number, bytes: Uint8Array): Promise<'written' | 'conflict' | 'absent' | 'unknown'> {
    try {
      for await (const raw of this.#log.read(number)) return Buffer.compare(raw.bytes, bytes) === 0 ? 'written' : 'conflict'
      return 'absent'
    } catch (error) {
      if (isTransient(error)) return 'unknown'
      // Truncated before anyone here knew whether it was ours: the state is loaded anew, and says what was applied.
      if (hasCode(error, 'STORE_NOT_FOUND')) return 'conflict'
      throw error
    }
  }
}

/** The log took nothing, and says so: whoever proposed is told. */
export function isRefusal(error: unknown): error is FrazilError {
  return hasCode(error, 'STORE_FULL') || hasCode(error, 'LOG_REFUSED')
}

/** The log, or the store under it, may answer later. */
export function isTransient(error: unknown): error is FrazilError {
  return hasCode(error, 'LOG_UNAVAILABLE') || hasCode(error, 'STORE_UNAVAILABLE') || hasCode(error, 'STORE_UNKNOWN')
}
