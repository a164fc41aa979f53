import type { AlterSchemaSettings, DeleteSchemas, RegisterSchema, Result } from '../commands.ts'
import { keyOf, type SchemaSubject } from '../state/schemas.ts'
import type { Rooms } from '../state/state.ts'
import { type Context, OK } from './context.ts'

type Outcome = Extract<Result, { kind: 'schema' }>['outcome']

const outcome = (what: Exclude<Outcome, 'done'>): Result => ({ kind: 'schema', outcome: what, id: 0, version: 0 })

/** Gives ids and versions; what the languages and rules say was checked by the proposer against `expectedRevision`. */
export function registerSchema({ rooms }: Context, command: RegisterSchema): Result {
  const { context: contextName, subject: subjectName, guid } = command
  const { schemaRows } = rooms
  const key = keyOf(contextName, subjectName)
  const known = schemaRows.subjectRows.get(key)
  if ((known?.revision ?? 0) !== command.expectedRevision) return outcome('moved')
  for (const { context, subject, version } of command.references) {
    if (!isVersion(rooms, context, subject, version)) return outcome('referenceMissing')
  }
  const context = schemaRows.contextRows.get(contextName)
  const same = context?.byGuid.get(guid)
  const taken = command.id === 0 ? undefined : context?.byId.get(command.id)
  if (command.id !== 0 && ((taken !== undefined && taken.guid !== guid) || (same !== undefined && same.id !== command.id)))
    return outcome('idTaken')
  const last = known?.versions.at(-1)?.version ?? 0
  const version = command.version === 0 ? last + 1 : command.version

  const row = schemaRows.context(contextName)
  const id = same?.id ?? (command.id === 0 ? row.nextId : command.id)
  row.nextId = Math.max(row.nextId, id + 1)
  if (same === undefined) {
    const references = command.references.map((reference) => ({
      context: reference.context,
      subject: reference.subject,
      version: reference.version,
    }))
    schemaRows.addContent(row, { id, guid, body: Uint8Array.from(command.body), references })
  }
  const subject: SchemaSubject = known ?? { context: contextName, subject: subjectName, revision: 0, versions: [] }
  schemaRows.subjectRows.set(key, subject)
  schemaRows.putVersion(subject, { version, id, deleted: false })
  subject.revision = ++schemaRows.revision
  return { kind: 'schema', outcome: 'done', id, version }
}

/** Softly: the versions stay readable by id. For ever: only those that are softly deleted. What a live schema refers to stays. */
export function deleteSchemas({ rooms }: Context, command: DeleteSchemas): Result {
  const { schemaRows } = rooms
  const key = keyOf(command.context, command.subject)
  const subject = schemaRows.subjectRows.get(key)
  if (subject === undefined || subject.revision !== command.expectedRevision) return outcome('moved')
  for (const version of command.versions) {
    const row = subject.versions.find((known) => known.version === version)
    if (row === undefined || row.deleted !== command.permanent) return outcome('moved')
    for (const { liveUses } of schemaRows.referrers(command.context, command.subject, version)) {
      if (liveUses > 0) return outcome('referenced')
    }
  }
  for (const version of command.versions) {
    if (command.permanent) schemaRows.removeVersion(subject, version)
    else schemaRows.deleteSoftly(subject, version)
  }
  subject.revision = ++schemaRows.revision
  if (subject.versions.length === 0) schemaRows.subjectRows.delete(key)
  return { kind: 'schema', outcome: 'done', id: 0, version: 0 }
}

/** Compatibility and mode of a subject, of a context (subject '') or of all (context ''). Null leaves as it is, '' removes. */
export function alterSchemaSettings({ rooms }: Context, command: AlterSchemaSettings): Result {
  const { schemaRows } = rooms
  const { context, subject } = command
  const key = keyOf(context, subject)
  const known = schemaRows.settingsRows.get(key)
  const config = command.config ?? known?.config ?? ''
  const mode = command.mode ?? known?.mode ?? ''
  if (config === '' && mode === '') schemaRows.settingsRows.delete(key)
  else schemaRows.settingsRows.set(key, { context, subject, config, mode })
  return OK
}

function isVersion(rooms: Rooms, context: string, subject: string, version: number): boolean {
  return rooms.schemaRows.subject(context, subject)?.versions.some((known) => known.version === version) ?? false
}
