import { SUPPORTED_LEVEL } from './apply/pods.ts'
import { type EngineOptions, MetadataEngine } from './engine.ts'
import { loadRooms } from './snapshot/load.ts'
import { DEFAULT_SNAPSHOT_POLICY, SnapshotSchedule, type SnapshotPolicy } from './snapshot/schedule.ts'
import { State } from './state/state.ts'

export interface OpenOptions extends EngineOptions {
  /** Name of this pod (--pod); a node id belongs to it for ever (L22). */
  readonly pod: string
  /** Source of random bytes. */
  readonly random: (bytes: number) => Uint8Array
  readonly snapshots?: Partial<SnapshotPolicy>
}

/**
 * Takes the log, replays it, registers this process. The engine closes the log; when opening fails it is closed as well.
 * Errors: as EntryLog; LOG_CORRUPT, LEVEL_UNKNOWN.
 */
export async function openMetadata(options: OpenOptions): Promise<MetadataEngine> {
  const { log, logger, clock, pod, random } = options
  try {
    await log.open()
    const startMs = clock.monotonicMs()
    const { rooms, bad, snapshot } = await loadRooms(log, logger)
    const { lastEntry } = rooms
    const state = new State(rooms)
    const engine = new MetadataEngine(state, options)
    const policy = { ...DEFAULT_SNAPSHOT_POLICY, ...options.snapshots }
    const touch = (): Promise<unknown> => engine.propose({ kind: 'enqueueDeletions', items: [] })
    const schedule = new SnapshotSchedule({
      touch,
      log,
      state,
      clock,
      logger,
      metrics: engine.metrics,
      policy,
      bad,
      behind: lastEntry - snapshot,
    })
    engine.attach(schedule)
    await engine.register({ kind: 'registerIncarnation', pod, nonce: random(16), level: SUPPORTED_LEVEL, fenceOlder: true })
    logger.info({ entry: lastEntry, snapshot, replayMs: Math.round(clock.monotonicMs() - startMs) }, 'the metadata log is open')
    return engine
  } catch (error) {
    await log.close()
    throw error
  }
}
