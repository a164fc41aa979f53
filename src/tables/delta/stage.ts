import { FrazilError } from '../../base/errors.ts'
import type { Target } from '../replicas/port.ts'
import { deltaSchema } from './schema.ts'
import { appId, isStopped, STOPPED_KEY, type AddedRow, type DeltaState, type MetaData, type Protocol, type Tombstone } from './state.ts'
import { deltaStats } from './stats.ts'

/** What is said of the writer in `commitInfo`. */
export const ENGINE = 'frazil'
/** A file of this size holds few enough lines to be made in one go; the event loop gets its turn in between. */
export const LINES_PER_STEP = 256

/** The next version of a log: its lines, and the state that it leads to. */
export interface DeltaCommit {
  readonly version: number
  readonly head: readonly string[]
  readonly removed: readonly Tombstone[]
  readonly added: readonly { readonly row: AddedRow; readonly line: () => string }[]
  readonly dataChange: boolean
  readonly next: (added: readonly AddedRow[]) => DeltaState
}

/** RFC 2396: a path is written with everything escaped but what may stand in one (PROTOCOL.md, "Add File"). */
export function encodePath(relative: string): string {
  return relative.split('/').map(encodeURIComponent).join('/')
}

/**
 * The lowest protocol that reads the table, so that most readers can (Polars refuses column mapping): plain, with column
 * mapping, or, with timestamps without zone, table features, all of them listed (hazard L1).
 */
export function protocolOf(mapped: boolean, zoneless: boolean): Protocol {
  if (zoneless) {
    const features = mapped ? ['columnMapping', 'timestampNtz'] : ['timestampNtz']
    return { minReaderVersion: 3, minWriterVersion: 7, readerFeatures: features, writerFeatures: features }
  }
  return mapped ? { minReaderVersion: 2, minWriterVersion: 5 } : { minReaderVersion: 1, minWriterVersion: 2 }
}

const MODE_KEY = 'delta.columnMapping.mode'
const MAX_ID_KEY = 'delta.columnMapping.maxColumnId'

function metaDataOf(target: Target, state: DeltaState): { metaData: MetaData; protocol: Protocol } {
  const before = state.metaData?.configuration ?? {}
  const { schemaString, maxColumnId, mapped, zoneless } = deltaSchema(target.schema, before[MODE_KEY] === 'name')
  const { table } = target
  const hours = Math.max(1, Math.ceil(target.graceMs / 3_600_000))
  const metaData: MetaData = {
    id: table.uuid,
    name: table.topicName,
    description: `Topic ${table.topicName}`,
    format: { provider: 'parquet', options: {} },
    schemaString,
    partitionColumns: [],
    configuration: {
      ...(mapped ? { [MODE_KEY]: 'name', [MAX_ID_KEY]: String(Math.max(Number(before[MAX_ID_KEY] ?? 0), maxColumnId)) } : {}),
      // The log's columns come last: statistics of all columns are read, not those of the first 32.
      'delta.dataSkippingNumIndexedCols': '-1',
      'delta.deletedFileRetentionDuration': `interval ${hours} hours`,
      'delta.logRetentionDuration': `interval ${hours} hours`,
      'frazil.topic-id': table.topicId,
    },
    createdTime: table.createdMs,
  }
  return { metaData, protocol: raised(state.protocol, protocolOf(mapped, zoneless)) }
}

/** The path of a store key in the log: relative to the table's folder, which is the Delta root. */
function relativePath(target: Target, key: string): string {
  const root = `${target.table.location}/`
  if (!key.startsWith(root)) throw new FrazilError('CORRUPT', `${key} is outside the table’s folder`)
  return encodePath(key.slice(root.length))
}

/**
 * Stages the version that makes the log show a publication, out of what the log shows now: removes and adds are their
 * difference. Null when nothing is to be written. Pure.
 */
export function stageDelta(state: DeltaState, target: Target): DeltaCommit | null {
  if (target.publication < state.publication) return null
  const version = state.version + 1
  const { metaData, protocol } = metaDataOf(target, state)
  const { nowMs, dataChange } = target
  const wanted = new Set<string>()
  const added: { row: AddedRow; line: () => string }[] = []
  for (const { key, file } of target.files) {
    const path = relativePath(target, key)
    wanted.add(path)
    if (state.live.has(path)) continue
    const row = { path, sizeBytes: file.sizeBytes, modifiedMs: nowMs, rows: file.recordCount, stats: '' }
    const line = (): string => {
      row.stats = deltaStats(file, target.schema)
      return JSON.stringify({ add: addAction(row, dataChange) })
    }
    added.push({ row, line })
  }
  const removed: Tombstone[] = []
  for (const { path, sizeBytes } of state.live.values()) if (!wanted.has(path)) removed.push({ path, sizeBytes, deletedMs: nowMs })
  const describes = JSON.stringify(state.metaData) !== JSON.stringify(metaData)
  const raises = JSON.stringify(state.protocol) !== JSON.stringify(protocol)
  if (added.length + removed.length === 0 && !describes && !raises) return null
  const head = [commitInfo(target, state, { added: added.length, removed: removed.length, first: version === 0 })]
  if (raises) head.push(JSON.stringify({ protocol }))
  if (describes) head.push(JSON.stringify({ metaData }))
  head.push(JSON.stringify({ txn: { appId: appId(target.table.uuid), version: target.publication, lastUpdated: nowMs } }))
  const next = (rows: readonly AddedRow[]): DeltaState => {
    const live = new Map(state.live)
    const tombstones = new Map([...state.tombstones].filter(([, tombstone]) => tombstone.deletedMs > nowMs - target.graceMs))
    for (const one of removed) {
      live.delete(one.path)
      tombstones.set(one.path, one)
    }
    for (const row of rows) {
      live.set(row.path, row)
      tombstones.delete(row.path)
    }
    const { publication } = target
    return { version, publication, txnMs: nowMs, protocol, metaData, live, tombstones, checkpoint: state.checkpoint }
  }
  return { version, head, removed, added, dataChange, next }
}

/** A protocol is never lowered: features that older versions of the log needed stay listed. */
function raised(before: Protocol | null, needed: Protocol): Protocol {
  if (before === null || before.minReaderVersion < needed.minReaderVersion) return needed
  const missing = (needed.readerFeatures ?? []).filter((feature) => before.readerFeatures?.includes(feature) !== true)
  if (missing.length === 0) return before
  const features = [...(before.readerFeatures ?? []), ...missing].toSorted()
  return { ...before, readerFeatures: features, writerFeatures: features }
}

export function addAction({ path, sizeBytes, modifiedMs, stats }: AddedRow, dataChange: boolean): object {
  return { path, partitionValues: {}, size: sizeBytes, modificationTime: modifiedMs, dataChange, stats }
}

export function removeAction({ path, sizeBytes, deletedMs }: Tombstone, dataChange: boolean): object {
  return { path, deletionTimestamp: deletedMs, dataChange, extendedFileMetadata: true, partitionValues: {}, size: sizeBytes }
}

function commitInfo(
  { nowMs, dataChange, publication }: Target,
  state: DeltaState,
  counts: { readonly added: number; readonly removed: number; readonly first: boolean },
): string {
  const operation =
    counts.first && counts.added === 0 ? 'CREATE TABLE' : counts.removed === 0 ? 'WRITE' : dataChange ? 'DELETE' : 'OPTIMIZE'
  return JSON.stringify({
    commitInfo: {
      timestamp: nowMs,
      operation,
      operationParameters: operation === 'WRITE' ? { mode: 'Append', partitionBy: '[]' } : {},
      ...(state.version < 0 ? {} : { readVersion: state.version }),
      isolationLevel: 'Serializable',
      isBlindAppend: operation === 'WRITE',
      operationMetrics: { numAddedFiles: String(counts.added), numRemovedFiles: String(counts.removed) },
      engineInfo: ENGINE,
      'frazil.publication': String(publication),
    },
  })
}

/** The last version of a log whose format was switched off: the table says so. Null when it does, or there is no log. */
export function stageStop(state: DeltaState, nowMs: number): { readonly version: number; readonly lines: readonly string[] } | null {
  if (state.version < 0 || state.metaData === null || isStopped(state)) return null
  const metaData = {
    ...state.metaData,
    description: `${state.metaData.description}: not published in this format any more; what is here is publication ${state.publication}`,
    configuration: { ...state.metaData.configuration, [STOPPED_KEY]: String(state.publication) },
  }
  const info = { timestamp: nowMs, operation: 'SET TBLPROPERTIES', operationParameters: {}, engineInfo: ENGINE }
  return { version: state.version + 1, lines: [JSON.stringify({ commitInfo: info }), JSON.stringify({ metaData })] }
}
