import { isProtected } from '../tables/iceberg/properties.ts'
import { snapshotById, type LoadedTable } from '../tables/iceberg/table.ts'
import type { LongId, SnapshotRef, TableMetadata } from '../tables/iceberg/types.ts'
import { badRequest, conflict, forbidden } from './errors.ts'
import { same, type Fields } from './requirements.ts'

const PROPERTIES_MAX = 1000
const PROPERTIES_MAX_CHARACTERS = 256 * 1024
const REFS_MAX = 200

/** Why an update of the REST spec that is not served is refused. */
const REFUSALS: Readonly<Record<string, string>> = {
  'assign-uuid': 'the identity of a topic’s table is given by its topic',
  'upgrade-format-version': 'the format version of a topic’s table is set by the topic config table.format.version',
  'add-schema': 'the schema of a topic’s table follows its topic',
  'set-current-schema': 'the schema of a topic’s table follows its topic',
  'add-spec': 'the partitioning of a topic’s table is set by the topic config table.partition.by',
  'set-default-spec': 'the partitioning of a topic’s table is set by the topic config table.partition.by',
  'add-sort-order': 'the rows of a topic’s table are in the order of partition and offset',
  'set-default-sort-order': 'the rows of a topic’s table are in the order of partition and offset',
  'add-snapshot': 'rows of a topic’s table come from its topic: produce to it instead of INSERT, UPDATE, DELETE or MERGE',
  'set-location': 'a topic’s table is never moved',
  'set-statistics': 'statistics files are not taken for topic tables',
  'remove-statistics': 'statistics files are not taken for topic tables',
  'set-partition-statistics': 'statistics files are not taken for topic tables',
  'remove-partition-statistics': 'statistics files are not taken for topic tables',
  'remove-partition-specs': 'the partitioning of a topic’s table is set by the topic config table.partition.by',
  'remove-schemas': 'the schema of a topic’s table follows its topic',
  'add-encryption-key': 'topic tables are not encrypted by Iceberg',
  'remove-encryption-key': 'topic tables are not encrypted by Iceberg',
}

interface Draft {
  properties: Record<string, string>
  refs: Record<string, SnapshotRef>
  drop: LongId[]
}

type Apply = (update: Fields, draft: Draft, base: LoadedTable) => void

function text(update: Fields, key: string): string {
  const value = update[key]
  if (typeof value !== 'string' || value === '') throw badRequest(`${String(update['action'])} needs ${key}`)
  return value
}

function otherThanMain(update: Fields): string {
  const name = text(update, 'ref-name')
  if (name === 'main') throw forbidden('the main branch of a topic’s table follows its topic')
  return name
}

const APPLY: Readonly<Record<string, Apply>> = {
  'set-properties'(update, { properties }) {
    const values = (update['updates'] ?? update['updated']) as unknown
    if (typeof values !== 'object' || values === null) throw badRequest('set-properties needs updates')
    for (const [key, value] of Object.entries(values)) {
      if (typeof value !== 'string') throw badRequest(`the value of property ${key} must be text`)
      if (isProtected(key) && properties[key] !== value) throw forbidden(`the property ${key} of a topic’s table is not to be changed`)
      properties[key] = value
    }
  },
  'remove-properties'(update, { properties }) {
    const keys = (update['removals'] ?? update['removed']) as unknown
    if (!Array.isArray(keys)) throw badRequest('remove-properties needs removals')
    for (const key of keys as unknown[]) {
      if (isProtected(String(key))) throw forbidden(`the property ${String(key)} of a topic’s table is not to be removed`)
      delete properties[String(key)]
    }
  },
  'set-snapshot-ref'(update, draft, base) {
    const name = otherThanMain(update)
    const type = text(update, 'type')
    if (type !== 'tag' && type !== 'branch') throw badRequest(`unknown type of ref: ${type}`)
    const id = update['snapshot-id'] as LongId
    const snapshot = typeof id === 'number' || typeof id === 'bigint' ? snapshotById(base.metadata, id) : null
    if (snapshot === null) throw badRequest(`set-snapshot-ref names a snapshot that does not exist: ${String(id)}`)
    const pinned = Object.entries(draft.refs).some(([other, ref]) => other !== 'main' && same(ref['snapshot-id'], id))
    // Files that were replaced since are on their way out, and cannot be called back.
    if (!pinned && snapshot['sequence-number'] < base.removedSequence) {
      throw conflict(`files of snapshot ${String(id)} were merged since: name the current snapshot instead`)
    }
    const ref: Record<string, unknown> = { 'snapshot-id': snapshot['snapshot-id'], type }
    for (const key of ['min-snapshots-to-keep', 'max-snapshot-age-ms', 'max-ref-age-ms']) {
      if (update[key] !== undefined && update[key] !== null) ref[key] = update[key]
    }
    draft.refs[name] = ref as unknown as SnapshotRef
  },
  'remove-snapshot-ref'(update, { refs }) {
    delete refs[otherThanMain(update)]
  },
  'remove-snapshots'(update, draft, base) {
    const ids = update['snapshot-ids']
    if (!Array.isArray(ids)) throw badRequest('remove-snapshots needs snapshot-ids')
    for (const id of ids as LongId[]) {
      const snapshot = snapshotById(base.metadata, id)
      if (snapshot === null) continue
      if (Object.values(draft.refs).some((ref) => same(ref['snapshot-id'], id))) throw forbidden(`snapshot ${String(id)} is named by a ref`)
      draft.drop.push(snapshot['snapshot-id'])
    }
  },
}

/** 400 for an update that the REST spec does not know, 403 for one that topic tables do not take. */
export function checkUpdateTypes(updates: readonly Fields[]): void {
  for (const update of updates) {
    const action = String(update['action'])
    if (action in APPLY) continue
    const refusal = REFUSALS[action]
    throw refusal === undefined ? badRequest(`Unknown update: ${action}`) : forbidden(`${action} is refused: ${refusal}.`)
  }
}

/**
 * Works updates into properties and refs (T14, T17); snapshots are removed from the metadata only. Throws 400, 403 or
 * 409. Pure: the answer says how to edit the next metadata.
 */
export function applyUpdates(
  base: LoadedTable,
  updates: readonly Fields[],
): { readonly edit: (metadata: TableMetadata) => TableMetadata; readonly drop: readonly LongId[] } {
  const draft: Draft = { properties: { ...base.metadata.properties }, refs: { ...base.metadata.refs }, drop: [] }
  for (const update of updates) APPLY[String(update['action'])]!(update, draft, base)
  const entries = Object.entries(draft.properties)
  const characters = entries.reduce((sum, [key, value]) => sum + key.length + value.length, 0)
  if (entries.length > PROPERTIES_MAX || characters > PROPERTIES_MAX_CHARACTERS) throw badRequest('the table has too many properties')
  if (Object.keys(draft.refs).length > REFS_MAX) throw badRequest(`a table may have ${REFS_MAX} refs`)
  return { edit: (metadata) => ({ ...metadata, properties: draft.properties, refs: draft.refs }), drop: draft.drop }
}
