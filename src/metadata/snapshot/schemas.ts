import { keyOf, type Schemas, type SchemaSubject } from '../state/schemas.ts'
import type { SchemaReference } from '../view.ts'
import type { SchemasData, StateData } from './data.ts'
import { byText } from './order.ts'

/** The registry as plain data; nothing while nothing was registered or set. */
export function dumpSchemas(schemas: Schemas): Pick<StateData, 'schemas'> {
  if (schemas.contextRows.size === 0 && schemas.settingsRows.size === 0) return {}
  return {
    schemas: {
      revision: schemas.revision,
      contexts: [...schemas.contextRows.values()].sort(byText((context) => context.name)).map(({ name, nextId, byId }) => ({
        name,
        nextId,
        contents: [...byId.values()]
          .sort((a, b) => a.id - b.id)
          .map(({ id, guid, body, references }) => ({ id, guid, body, references: references.map(copyReference) })),
      })),
      subjects: [...schemas.subjectRows.values()]
        .sort(byText((subject) => keyOf(subject.context, subject.subject)))
        .map(({ context, subject, revision, versions }) => ({
          context,
          subject,
          revision,
          versions: versions.map(({ version }) => version),
          ids: versions.map(({ id }) => id),
          deleted: versions.map(({ deleted }) => Number(deleted)),
        })),
      settings: [...schemas.settingsRows.values()]
        .sort(byText((settings) => keyOf(settings.context, settings.subject)))
        .map(({ context, subject, config, mode }) => ({ context, subject, config, mode })),
    },
  }
}

export function restoreSchemas(schemas: Schemas, data: SchemasData | null | undefined): void {
  if (data === null || data === undefined) return
  for (const { name, nextId, contents } of data.contexts) {
    const context = schemas.context(name)
    context.nextId = nextId
    for (const { id, guid, body, references } of contents)
      schemas.addContent(context, { id, guid, body: Uint8Array.from(body), references: references.map(copyReference) })
  }
  for (const { context, subject, revision, versions, ids, deleted } of data.subjects) {
    const row: SchemaSubject = { context, subject, revision, versions: [] }
    schemas.subjectRows.set(keyOf(context, subject), row)
    for (let i = 0; i < versions.length; i++) schemas.putVersion(row, { version: versions[i], id: ids[i], deleted: deleted[i] === 1 })
  }
  for (const { context, subject, config, mode } of data.settings)
    schemas.settingsRows.set(keyOf(context, subject), { context, subject, config, mode })
  schemas.revision = data.revision
}

function copyReference({ context, subject, version }: SchemaReference): SchemaReference {
  return { context, subject, version }
}
