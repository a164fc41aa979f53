import { lastFieldId } from '../../schemas/columns/types.ts'
import type { LiveFile, Target } from '../replicas/port.ts'
import { EMPTY_ROW } from './binaryRow.ts'
import { encodeEntries, encodeManifestFiles, Kind, type Entry, type FileMeta, type ManifestMeta } from './manifest.ts'
import { paimonSchema, STOPPED_KEY, type PaimonSchema } from './schema.ts'
import { commitUser, type PaimonSnapshot, type PaimonState } from './state.ts'
import { NO_STATS, valueStats } from './stats.ts'

/** From this many manifests on they are folded into one. */
export const FOLD_AT = 30

export interface PaimonCommit {
  /** Manifests and their lists, by name; they are uploaded first. */
  readonly objects: readonly { readonly name: string; readonly body: Buffer }[]
  readonly snapshot: PaimonSnapshot
  readonly next: PaimonState
}

/**
 * The next schema that the table is to have, or null when it has it; its id is the state's plus one. A table that is
 * published late gets all that it ever had, one after the other: older files are read under older schemas.
 */
export function stageSchema(state: PaimonState, target: Pick<Target, 'schema' | 'schemas' | 'table'>): PaimonSchema | null {
  const { name, id } = { name: target.table.topicName, id: target.table.topicId }
  const spelled = (schema: Target['schema'], least: number): PaimonSchema =>
    paimonSchema(schema, Math.max(lastFieldId(schema.fields), least), { name, id })
  const last = spelled(target.schema, state.schema?.highestFieldId ?? 0)
  if (JSON.stringify(last) === JSON.stringify(state.schema)) return null
  const before = target.schemas.map((schema) => spelled(schema, 0))
  const at = before.findLastIndex((schema) => JSON.stringify(schema.fields) === JSON.stringify(state.schema?.fields))
  if (state.schema !== null && at < 0) return last
  return before.slice(at + 1).find((schema) => JSON.stringify(schema.fields) !== JSON.stringify(state.schema?.fields)) ?? last
}

/** The newest schema of which a file has every column: nested ones that a file lacks are no nulls to Paimon (T13). */
function schemaOf(state: PaimonState, { metrics }: LiveFile['file']): PaimonState['history'][number] {
  const has = new Set(metrics.columnSizes.map(([id]) => id))
  const fitting = has.size === 0 ? undefined : state.history.findLast(({ leaves }) => leaves.every((id) => has.has(id)))
  return fitting ?? state.history.at(-1)!
}

/** The schema that says that nothing more comes; null when it does, or there is none. */
export function stageStop(state: PaimonState): PaimonSchema | null {
  if (state.schema === null || state.schema.options[STOPPED_KEY] !== undefined) return null
  const publication = state.snapshot?.commitIdentifier ?? 0
  return {
    ...state.schema,
    options: { ...state.schema.options, [STOPPED_KEY]: String(publication) },
    comment: `${state.schema.comment}: not published in this format any more; what is here is publication ${publication}`,
  }
}

function fileMeta({ file, ranges }: LiveFile, path: string, target: Target, state: PaimonState): FileMeta {
  const schema = schemaOf(state, file)
  const { columns, min, max, nullCounts } = valueStats(file, target.schema, new Set(schema.names))
  const offsets = (ranges ?? []).map((range) => [range[1], range[2]] as const)
  return {
    _FILE_NAME: path.slice(path.lastIndexOf('/') + 1),
    _FILE_SIZE: file.sizeBytes,
    _ROW_COUNT: file.recordCount,
    _MIN_KEY: EMPTY_ROW,
    _MAX_KEY: EMPTY_ROW,
    _KEY_STATS: NO_STATS,
    _VALUE_STATS: { _MIN_VALUES: min, _MAX_VALUES: max, _NULL_COUNTS: nullCounts },
    _MIN_SEQUENCE_NUMBER: offsets.reduce((least, [first]) => Math.min(least, first), offsets[0]?.[0] ?? 0),
    _MAX_SEQUENCE_NUMBER: offsets.reduce((most, [, last]) => Math.max(most, last), 0),
    _SCHEMA_ID: schema.id,
    _LEVEL: 0,
    _EXTRA_FILES: [],
    _CREATION_TIME: target.nowMs,
    _DELETE_ROW_COUNT: 0,
    _EMBEDDED_FILE_INDEX: null,
    _FILE_SOURCE: target.dataChange ? 0 : 1,
    _VALUE_STATS_COLS: columns,
    _EXTERNAL_PATH: path,
    _FIRST_ROW_ID: null,
    _WRITE_COLS: null,
  }
}

/**
 * Stages the snapshot that makes the table show a publication, out of what it shows now: entries are their difference.
 * Null when nothing is to be written. `state` has the target's schema already. Pure; `uuid` names what this attempt makes.
 */
export async function stagePaimon(
  state: PaimonState,
  target: Target,
  uuid: string,
  uri: (key: string) => string,
): Promise<PaimonCommit | null> {
  const before = state.snapshot
  if (before !== null && target.publication < before.commitIdentifier) return null
  const wanted = new Set<string>()
  const live = new Map(state.live)
  const entries: Entry[] = []
  let records = 0
  for (const file of target.files) {
    const path = uri(file.key)
    wanted.add(path)
    if (live.has(path)) continue
    const meta = fileMeta(file, path, target, state)
    live.set(path, meta)
    entries.push({ kind: Kind.add, file: meta })
    records += meta._ROW_COUNT
  }
  const added = entries.length
  for (const [path, file] of state.live) {
    if (wanted.has(path)) continue
    live.delete(path)
    entries.push({ kind: Kind.delete, file })
    records -= file._ROW_COUNT
  }
  const deleted = entries.length - added
  if (before !== null && entries.length === 0) return null

  const sync = Buffer.from(uuid.replaceAll('-', ''), 'hex')
  const objects: { name: string; body: Buffer }[] = []
  const put = (name: string, body: Buffer): { name: string; sizeBytes: number } => {
    objects.push({ name, body })
    return { name, sizeBytes: body.length }
  }
  const { schemaId } = state
  let base = state.manifests
  if (base.length >= FOLD_AT) {
    const all = [...state.live.values()].map((file): Entry => ({ kind: Kind.add, file }))
    base = [{ ...put(`manifest-${uuid}-1`, await encodeEntries(all, sync)), added: all.length, deleted: 0, schemaId }]
  }
  const delta: ManifestMeta[] = []
  if (entries.length > 0) delta.push({ ...put(`manifest-${uuid}-0`, await encodeEntries(entries, sync)), added, deleted, schemaId })
  const baseList = put(`manifest-list-${uuid}-0`, await encodeManifestFiles(base, sync))
  const deltaList = put(`manifest-list-${uuid}-1`, await encodeManifestFiles(delta, sync))
  const snapshot: PaimonSnapshot = {
    version: 3,
    id: (before?.id ?? 0) + 1,
    schemaId,
    baseManifestList: baseList.name,
    baseManifestListSize: baseList.sizeBytes,
    deltaManifestList: deltaList.name,
    deltaManifestListSize: deltaList.sizeBytes,
    commitUser: commitUser(target.table.uuid),
    commitIdentifier: target.publication,
    commitKind: deleted === 0 ? 'APPEND' : target.dataChange ? 'OVERWRITE' : 'COMPACT',
    timeMillis: target.nowMs,
    totalRecordCount: (before?.totalRecordCount ?? 0) + records,
    deltaRecordCount: records,
    changelogRecordCount: 0,
    properties: { 'frazil.publication': String(target.publication) },
  }
  return { objects, snapshot, next: { ...state, snapshot, manifests: [...base, ...delta], live } }
}
