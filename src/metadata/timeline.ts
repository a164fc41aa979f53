import type { Clock } from '../base/clock.ts'
import { FrazilError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import { followEntry } from './apply/apply.ts'
import { assembleEntry, encodeCommand } from './codec.ts'
import type { EntryLog } from './entryLog.ts'
import { loadRooms } from './snapshot/load.ts'
import type { Rooms } from './state/state.ts'

export interface TimelineOptions {
  /** Opened; closed by the caller. */
  readonly log: EntryLog
  readonly clock: Clock
  readonly logger: Logger
  readonly random: (bytes: number) => Uint8Array
  /** How long a shared log is watched for pods that write it: longer than they take to renew themselves. */
  readonly watchMs: number
}

export interface Timeline {
  /** The state with which it begins. */
  readonly rooms: Rooms
  /** The last entry of the history that was copied, and its time. */
  readonly lastEntry: number
  readonly lastTimeMs: number
}

/**
 * Opens a timeline behind what the log holds (L9). Errors: REFUSED with a sentence when the log is empty or a pod writes it; as loadRooms.
 */
export async function openTimeline({ log, clock, logger, random, watchMs }: TimelineOptions): Promise<Timeline> {
  const { rooms } = await loadRooms(log, logger)
  const { lastEntry, lastTimeMs } = rooms
  if (lastEntry === 0) throw new FrazilError('REFUSED', 'there is nothing to restore here: the metadata log is empty')
  if (log.shared) await clock.sleep(watchMs)
  const number = lastEntry + 1
  const timeMs = Math.max(clock.wallMs(), lastTimeMs)
  const command = encodeCommand({ kind: 'openTimeline', lastEntry, nonce: random(16) })
  const head = { number, previousHash: rooms.lastHash, timeMs, writer: 0, attachmentBytes: 0 }
  const bytes = assembleEntry(head, [{ incarnation: 0, sequence: 0, attachmentOffset: 0, bytes: command }])
  const written = (await log.end()) === lastEntry && (await log.append(number, bytes)) === 'written'
  if (!written) {
    throw new FrazilError('REFUSED', 'a pod writes this metadata log: stop all pods, or restore a copy that none of them uses')
  }
  const { results } = followEntry(rooms, { number, bytes, attachmentBytes: 0 })
  if (results[0]!.kind !== 'ok') throw new FrazilError('LOG_CORRUPT', `the timeline was refused: ${JSON.stringify(results[0])}`)
  return { rooms, lastEntry, lastTimeMs }
}
