import type { Clock } from '../../base/clock.ts'
import { hasCode } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { BACKGROUND_REST_MS, TimeSlice } from '../../base/slice.ts'
import { WorkerPool, type TaskRunner } from '../../base/workers.ts'
import type { EntryLog, RawEntry } from '../entryLog.ts'
import type { EntryBatch, SnapshotTask } from './tasks.ts'

const WORKER = new URL('./worker' + (import.meta.url.endsWith('.ts') ? '.ts' : '.js'), import.meta.url)
/** Small: the entries of a batch are gathered in one turn of the event loop. */
const BATCH_BYTES = 128 * 1024

/**
 * Writes a snapshot of the state after entry `target`, in a worker thread that replays the log from the last good snapshot
 * on (L16). The event loop moves bytes between the log and the worker, nothing else: so every log serves, none is opened
 * twice, and nobody reads the end of a file that is being written. Errors: CORRUPT when what was written does not read back
 * as the same state; as EntryLog.
 */
export async function makeSnapshot(
  log: EntryLog,
  target: number,
  bad: Set<number>,
  logger: Logger,
  pool: TaskRunner,
  clock: Clock,
): Promise<void> {
  const run = <T>(task: SnapshotTask, bytes?: Uint8Array): Promise<T> =>
    pool.run<T>(task, bytes === undefined ? [] : [bytes.buffer as ArrayBuffer])
  const begun = await begin(log, target, bad, logger, run)
  await follow(log, begun + 1, target, run, new TimeSlice(clock, BACKGROUND_REST_MS))
  const bytes = await run<Uint8Array>({ kind: 'finish' })
  await log.writeSnapshot(target, bytes)
  const snapshot = own(await log.readSnapshot(target))
  try {
    await run({ kind: 'verify', lastEntry: target, snapshot }, snapshot)
  } catch (error) {
    bad.add(target)
    throw error
  }
}

/** The worker that writes snapshots; its memory is given back by `close`. */
export function snapshotWorker(): WorkerPool {
  return new WorkerPool(WORKER, { size: 1, background: true })
}

type Run = <T>(task: SnapshotTask, bytes?: Uint8Array) => Promise<T>

async function begin(log: EntryLog, target: number, bad: Set<number>, logger: Logger, run: Run): Promise<number> {
  for (const lastEntry of await log.snapshots()) {
    if (lastEntry > target || bad.has(lastEntry)) continue
    try {
      const snapshot = own(await log.readSnapshot(lastEntry))
      return await run<number>({ kind: 'begin', lastEntry, snapshot }, snapshot)
    } catch (error) {
      if (!hasCode(error, 'CORRUPT') && !hasCode(error, 'STORE_NOT_FOUND')) throw error
      logger.warn({ snapshot: lastEntry, reason: error.message }, 'a metadata snapshot cannot be used: going back to the one before')
      bad.add(lastEntry)
    }
  }
  return run<number>({ kind: 'begin', lastEntry: 0, snapshot: null })
}

async function follow(log: EntryLog, from: number, target: number, run: Run, slice: TimeSlice): Promise<void> {
  if (from > target) return
  let entries: RawEntry[] = []
  let sizeBytes = 0
  const send = async (): Promise<void> => {
    const batch = batchOf(entries, sizeBytes)
    entries = []
    sizeBytes = 0
    await run({ kind: 'follow', batch }, batch.bytes)
  }
  for await (const raw of log.read(from)) {
    entries.push(raw)
    sizeBytes += raw.bytes.length
    if (raw.number === target) break
    if (sizeBytes >= BATCH_BYTES) await send()
    const pause = slice.step()
    if (pause !== null) await pause
  }
  if (entries.length > 0) await send()
}

function batchOf(entries: readonly RawEntry[], sizeBytes: number): EntryBatch {
  const bytes = new Uint8Array(sizeBytes)
  let at = 0
  for (const entry of entries) {
    bytes.set(entry.bytes, at)
    at += entry.bytes.length
  }
  return {
    firstEntry: entries[0].number,
    sizesBytes: entries.map((entry) => entry.bytes.length),
    attachmentsBytes: entries.map((entry) => entry.attachmentBytes),
    bytes,
  }
}

/** Bytes that have their memory to themselves, as a transfer wants it. */
function own(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}
