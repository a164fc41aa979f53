import { FrazilError } from '../base/errors.ts'
import { followEntry } from './apply/apply.ts'
import { SUPPORTED_LEVEL } from './apply/pods.ts'
import { type EngineOptions, MetadataEngine } from './engine.ts'
import type { EntryLog } from './entryLog.ts'
import { Rooms, State } from './state/state.ts'

export interface OpenOptions extends EngineOptions {
  /** Name of this pod (--pod); a node id belongs to it for ever (L22). */
  readonly pod: string
  /** Source of random bytes. */
  readonly random: (bytes: number) => Uint8Array
}

/** Takes the log, replays it, registers this process. Errors: as EntryLog; LOG_CORRUPT, LEVEL_UNKNOWN. */
export async function openMetadata(options: OpenOptions): Promise<MetadataEngine> {
  const { log, logger, clock, pod, random } = options
  await log.open()
  try {
    const startMs = clock.monotonicMs()
    const rooms = await loadRooms(log)
    const engine = new MetadataEngine(new State(rooms), options)
    await engine.register({ kind: 'registerIncarnation', pod, nonce: random(16), level: SUPPORTED_LEVEL, fenceOlder: true })
    logger.info({ entry: rooms.lastEntry, replayMs: Math.round(clock.monotonicMs() - startMs) }, 'the metadata log is open')
    return engine
  } catch (error) {
    await log.close()
    throw error
  }
}

/** The state that the log holds. */
export async function loadRooms(log: Pick<EntryLog, 'floor' | 'read'>): Promise<Rooms> {
  const rooms = new Rooms()
  const floor = await log.floor()
  if (floor > 1) throw new FrazilError('LOG_CORRUPT', `the metadata log begins with entry ${floor} and has no snapshot before it`)
  for await (const raw of log.read(1)) followEntry(rooms, raw)
  return rooms
}
