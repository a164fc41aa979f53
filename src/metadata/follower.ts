import { type FrazilError, hasCode } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import { type Applied, followEntry } from './apply/apply.ts'
import type { EntryLog, RawEntry } from './entryLog.ts'
import type { AppliedChange } from './port.ts'
import { Offers } from './relay.ts'
import { loadRooms } from './snapshot/load.ts'
import type { State } from './state/state.ts'
import { isTransient, retryWaits } from './tail.ts'

export interface FollowerOptions {
  readonly state: State
  readonly log: EntryLog
  readonly logger: Logger
  /** Throws when the engine stops. */
  readonly sleep: (waitMs: number) => Promise<void>
  /** After each entry that was applied. */
  readonly applied: (raw: RawEntry, applied: Applied, ours: boolean) => void
  /** After the whole state was exchanged. */
  readonly reloaded: (change: AppliedChange) => void
}

/** Brings the state up to what others wrote. Runs in the engine's turn only: one step at the log's end at a time. */
export class Follower {
  readonly #options: FollowerOptions
  readonly #offers = new Offers()
  #reloads = 0

  constructor(options: FollowerOptions) {
    this.#options = options
  }

  /** How often the state was dropped: what became of single proposals meanwhile is not known then. */
  get reloads(): number {
    return this.#reloads
  }

  /** Errors: LOG_CORRUPT (nothing changed), LEVEL_UNKNOWN. */
  apply(raw: RawEntry, ours: boolean): Applied {
    const applied = followEntry(this.#options.state.rooms, raw)
    this.#options.applied(raw, applied, ours)
    return applied
  }

  offer(raw: RawEntry): void {
    if (raw.number > this.#options.state.lastEntry) this.#offers.put(raw)
  }

  /** Applies what peers offered, as far as it follows. False when the log has to be asked what comes next. */
  takeOffers(): boolean {
    const { state, logger } = this.#options
    while (this.#offers.waiting) {
      const raw = this.#offers.take(state.lastEntry + 1)
      if (raw === null) return !this.#offers.waiting
      try {
        this.apply(raw, false)
      } catch (error) {
        if (!hasCode(error, 'LOG_CORRUPT')) throw error
        // The stream proves nothing: the log says what this entry is.
        this.#offers.clear()
        logger.warn({ entry: raw.number, reason: error.message }, 'a streamed entry does not follow from the state in memory')
        return false
      }
    }
    return true
  }

  /** Applies what others wrote, at least up to `number`, which the log is known to have. */
  catchUp(number: number): Promise<void> {
    return this.#read(number)
  }

  /** Applies what the log has now. */
  readOn(): Promise<void> {
    return this.#read(0)
  }

  async #read(number: number): Promise<void> {
    const { state, log, logger, sleep } = this.#options
    let reloaded = false
    for (const waitMs of retryWaits()) {
      try {
        if (this.takeOffers() && number > 0 && state.lastEntry >= number) return
        // A peer's stream may be faster than the log: what it brought is passed over.
        for await (const raw of log.read(state.lastEntry + 1)) if (raw.number > state.lastEntry) this.apply(raw, false)
        if (state.lastEntry >= number) return
      } catch (error) {
        // A chain that does not go on from here, or entries that were truncated meanwhile.
        if ((hasCode(error, 'LOG_CORRUPT') || hasCode(error, 'STORE_NOT_FOUND')) && !reloaded) {
          reloaded = true
          await this.#reload(error)
          continue
        }
        if (!isTransient(error)) throw error
        logger.warn({ entry: state.lastEntry + 1, waitMs }, 'the metadata log cannot be read: trying again')
      }
      await sleep(waitMs)
    }
  }

  /** The log does not follow from this state: drops the state and takes what the log says from the start (L3). */
  async #reload(cause: FrazilError): Promise<void> {
    const { state, log, logger, sleep, reloaded } = this.#options
    logger.warn({ reason: cause.message }, 'the metadata log does not follow from the state in memory: loading it anew')
    for (const waitMs of retryWaits()) {
      try {
        const { rooms } = await loadRooms(log, logger)
        this.#reloads++
        state.rooms = rooms
        return reloaded({ entry: rooms.lastEntry, appended: [], other: true })
      } catch (error) {
        if (!isTransient(error)) throw error
        logger.warn({ waitMs, reason: error.message }, 'the metadata log cannot be loaded: trying again')
      }
      await sleep(waitMs)
    }
  }
}
