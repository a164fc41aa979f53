import type { TaskRunner } from '../base/workers.ts'
import { SUPPORTED_LEVEL } from './apply/pods.ts'
import { type EngineOptions, MetadataEngine } from './engine.ts'
import type { Metadata } from './port.ts'
import { loadRooms } from './snapshot/load.ts'
import { DEFAULT_SNAPSHOT_POLICY, SHARED_SNAPSHOT_POLICY, SnapshotSchedule, type SnapshotPolicy } from './snapshot/schedule.ts'
import { State } from './state/state.ts'

export interface OpenOptions extends EngineOptions {
  /** Name of this pod (--pod); a node id belongs to it for ever (L22). */
  readonly pod: string
  /** Source of random bytes. */
  readonly random: (bytes: number) => Uint8Array
  readonly snapshots?: Partial<SnapshotPolicy>
  /** The feature level to speak and to raise the cluster to (L5); what this program supports when left out. */
  readonly level?: number
  /** Fence earlier processes of this pod at once; false where they may live, and pods/ finds out (L22). True when left out. */
  readonly fenceOlder?: boolean
  /** What replays the log for snapshots; a thread when left out. */
  readonly snapshotWorker?: () => TaskRunner
}

/**
 * Takes the log, replays it, registers this process. The engine closes the log; when opening fails it is closed as well.
 * Errors: as EntryLog; LOG_CORRUPT, LEVEL_UNKNOWN.
 */
export async function openMetadata(options: OpenOptions): Promise<MetadataEngine> {
  const { log, logger, clock, pod, random, level = SUPPORTED_LEVEL } = options
  try {
    await log.open()
    const startMs = clock.monotonicMs()
    const { rooms, bad, snapshot } = await loadRooms(log, logger)
    const { lastEntry } = rooms
    const state = new State(rooms)
    const engine = new MetadataEngine(state, options)
    const policy = { ...(log.shared ? SHARED_SNAPSHOT_POLICY : DEFAULT_SNAPSHOT_POLICY), ...options.snapshots }
    const rank = (): number => [...state.livePods()].filter(({ nodeId }) => nodeId < engine.nodeId).length
    const touch = (): Promise<unknown> => engine.propose({ kind: 'enqueueDeletions', items: [] })
    const schedule = new SnapshotSchedule({
      touch,
      rank,
      log,
      state,
      clock,
      logger,
      metrics: engine.metrics,
      policy,
      bad,
      behind: lastEntry - snapshot,
      worker: options.snapshotWorker,
    })
    engine.attach(schedule)
    await engine.register({ kind: 'registerIncarnation', pod, nonce: random(16), level, fenceOlder: options.fenceOlder ?? true })
    await raiseLevel(engine, level)
    logger.info({ entry: lastEntry, snapshot, replayMs: Math.round(clock.monotonicMs() - startMs) }, 'the metadata log is open')
    return engine
  } catch (error) {
    await log.close()
    throw error
  }
}

/**
 * Raises the feature level to what this program knows, once every live incarnation supports it (L5); until then an older pod
 * keeps the cluster where it is. True when the level is reached.
 */
export async function raiseLevel(metadata: Metadata, level = SUPPORTED_LEVEL): Promise<boolean> {
  for (const pod of metadata.state.livePods()) if (pod.level < level) return false
  if (metadata.state.level < level) await metadata.propose({ kind: 'setLevel', level })
  return metadata.state.level >= level
}
