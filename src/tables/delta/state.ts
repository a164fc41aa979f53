/** `protocol`, with the features a table needs (PROTOCOL.md, "Protocol Evolution"). */
export interface Protocol {
  readonly minReaderVersion: number
  readonly minWriterVersion: number
  readonly readerFeatures?: readonly string[]
  readonly writerFeatures?: readonly string[]
}

export interface MetaData {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly format: { readonly provider: string; readonly options: Readonly<Record<string, string>> }
  readonly schemaString: string
  readonly partitionColumns: readonly string[]
  readonly configuration: Readonly<Record<string, string>>
  readonly createdTime: number
}

export interface AddedRow {
  readonly path: string
  readonly sizeBytes: number
  readonly modifiedMs: number
  readonly rows: number
  /** The `stats` text as it was committed. */
  readonly stats: string
}

export interface Tombstone {
  readonly path: string
  readonly sizeBytes: number
  readonly deletedMs: number
}

/** What a Delta log shows at its last version. */
export interface DeltaState {
  /** -1 before the first commit. */
  readonly version: number
  /** From our `txn` action; -1 when there is none. */
  readonly publication: number
  readonly txnMs: number
  readonly protocol: Protocol | null
  readonly metaData: MetaData | null
  readonly live: ReadonlyMap<string, AddedRow>
  readonly tombstones: ReadonlyMap<string, Tombstone>
  /** Version of the last checkpoint, -1 for none. */
  readonly checkpoint: number
}

export const EMPTY: DeltaState = {
  version: -1,
  publication: -1,
  txnMs: 0,
  protocol: null,
  metaData: null,
  live: new Map(),
  tombstones: new Map(),
  checkpoint: -1,
}

/** The configuration key that says that nothing more comes: its value is the publication it stopped at. */
export const STOPPED_KEY = 'frazil.stopped-at'

export function isStopped(state: DeltaState): boolean {
  return state.metaData?.configuration[STOPPED_KEY] !== undefined
}

/** The transaction id under which the publication number stands. */
export function appId(tableUuid: string): string {
  return `frazil/${tableUuid}`
}

interface Action {
  readonly protocol?: Protocol
  readonly metaData?: MetaData
  readonly txn?: { readonly appId: string; readonly version: number; readonly lastUpdated?: number }
  readonly add?: { readonly path: string; readonly size: number; readonly modificationTime: number; readonly stats?: string }
  readonly remove?: { readonly path: string; readonly size?: number; readonly deletionTimestamp?: number }
}

/** Rows in a `stats` text; 0 when it has none. */
function rowsOf(stats: string | undefined): number {
  const match = /"numRecords":\s*(\d+)/.exec(stats ?? '')
  return match === null ? 0 : Number(match[1])
}

/** Replays the actions of one version, or of a checkpoint, onto a state (PROTOCOL.md, "Action Reconciliation"). */
export function replay(state: DeltaState, version: number, actions: Iterable<Action>, app: string): DeltaState {
  const live = new Map(state.live)
  const tombstones = new Map(state.tombstones)
  let { protocol, metaData, publication, txnMs } = state
  for (const action of actions) {
    if (action.protocol) protocol = action.protocol
    else if (action.metaData) metaData = action.metaData
    else if (action.txn) {
      if (action.txn.appId !== app) continue
      publication = Number(action.txn.version)
      txnMs = Number(action.txn.lastUpdated ?? 0)
    } else if (action.add) {
      const { path, size, modificationTime, stats } = action.add
      tombstones.delete(path)
      live.set(path, {
        path,
        sizeBytes: Number(size),
        modifiedMs: Number(modificationTime),
        rows: rowsOf(stats),
        stats: stats ?? '',
      })
    } else if (action.remove) {
      const { path, size, deletionTimestamp } = action.remove
      live.delete(path)
      tombstones.set(path, { path, sizeBytes: Number(size ?? 0), deletedMs: Number(deletionTimestamp ?? 0) })
    }
  }
  return { ...state, version, protocol, metaData, publication, txnMs, live, tombstones }
}

/** The actions of a version's file, one JSON object a line. */
export function parseActions(text: string): Action[] {
  const actions: Action[] = []
  for (const line of text.split('\n')) if (line.trim() !== '') actions.push(JSON.parse(line) as Action)
  return actions
}
