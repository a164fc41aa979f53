import type { SchemaContentView, SchemaReference, SchemaSettings, SchemaSubjectView, SchemasView, SchemaVersion } from '../view.ts'

/** A schema of a context; it lives while a version of a subject, deleted softly or not, has its id. */
export interface SchemaContent extends SchemaContentView {
  /** Versions that have this id, and those of them that are not deleted. */
  uses: number
  liveUses: number
}

export interface SchemaSubject extends SchemaSubjectView {
  revision: number
  /** Ascending by version. */
  versions: SchemaVersion[]
}

export interface SchemaContext {
  readonly name: string
  nextId: number
  readonly byId: Map<number, SchemaContent>
  readonly byGuid: Map<string, SchemaContent>
}

/** One key of several names: none of them may hold a zero byte. */
export const keyOf = (...names: readonly (string | number)[]): string => names.join('\0')

/** The schema registry: ids are unique per context, versions per subject. What a schema says is opaque here. */
export class Schemas implements SchemasView {
  /** Raised with every change of a subject, and never given twice. */
  revision = 0
  readonly contextRows = new Map<string, SchemaContext>()
  readonly subjectRows = new Map<string, SchemaSubject>()
  readonly settingsRows = new Map<string, SchemaSettings>()
  /** Who refers to a version of a subject. */
  readonly #referrers = new Map<string, Set<SchemaContent>>()

  contexts(): Iterable<string> {
    return this.contextRows.keys()
  }
  content(context: string, id: number): SchemaContentView | null {
    return this.contextRows.get(context)?.byId.get(id) ?? null
  }
  contentByGuid(context: string, guid: string): SchemaContentView | null {
    return this.contextRows.get(context)?.byGuid.get(guid) ?? null
  }
  contents(context: string): Iterable<SchemaContentView> {
    return this.contextRows.get(context)?.byId.values() ?? []
  }
  subject(context: string, subject: string): SchemaSubjectView | null {
    return this.subjectRows.get(keyOf(context, subject)) ?? null
  }
  subjects(): Iterable<SchemaSubjectView> {
    return this.subjectRows.values()
  }
  referrers(context: string, subject: string, version: number): Iterable<SchemaContentView> {
    return this.#referrers.get(keyOf(context, subject, version)) ?? []
  }
  settings(context: string, subject: string): SchemaSettings | null {
    return this.settingsRows.get(keyOf(context, subject)) ?? null
  }
  allSettings(): Iterable<SchemaSettings> {
    return this.settingsRows.values()
  }

  context(name: string): SchemaContext {
    let context = this.contextRows.get(name)
    if (context === undefined) this.contextRows.set(name, (context = { name, nextId: 1, byId: new Map(), byGuid: new Map() }))
    return context
  }

  addContent(context: SchemaContext, row: Omit<SchemaContentView, 'context' | 'liveUses'>): SchemaContent {
    const content = { ...row, context: context.name, uses: 0, liveUses: 0 }
    context.byId.set(row.id, content)
    context.byGuid.set(row.guid, content)
    for (const reference of row.references) {
      const key = referenceKey(reference)
      const known = this.#referrers.get(key)
      if (known === undefined) this.#referrers.set(key, new Set([content]))
      else known.add(content)
    }
    return content
  }

  /** Puts a version in its place; a version that is there already gets the new id. */
  putVersion(subject: SchemaSubject, version: SchemaVersion): void {
    const context = this.context(subject.context)
    const at = subject.versions.findIndex((known) => known.version >= version.version)
    const content = context.byId.get(version.id)!
    content.uses++
    if (!version.deleted) content.liveUses++
    if (at >= 0 && subject.versions[at].version === version.version) {
      const [old] = subject.versions.splice(at, 1, version)
      this.#release(context, old)
    } else subject.versions.splice(at < 0 ? subject.versions.length : at, 0, version)
  }

  removeVersion(subject: SchemaSubject, version: number): void {
    const at = subject.versions.findIndex((known) => known.version === version)
    const [old] = subject.versions.splice(at, 1)
    this.#release(this.context(subject.context), old)
  }

  deleteSoftly(subject: SchemaSubject, version: number): void {
    const old = subject.versions.find((known) => known.version === version)!
    this.putVersion(subject, { ...old, deleted: true })
  }

  /** A schema that no version has any more is gone, and its id free for nobody. */
  #release(context: SchemaContext, { id, deleted }: SchemaVersion): void {
    const content = context.byId.get(id)!
    if (!deleted) content.liveUses--
    if (--content.uses > 0) return
    context.byId.delete(id)
    context.byGuid.delete(content.guid)
    for (const reference of content.references) {
      const key = referenceKey(reference)
      const known = this.#referrers.get(key)
      known?.delete(content)
      if (known?.size === 0) this.#referrers.delete(key)
    }
  }
}

function referenceKey({ context, subject, version }: SchemaReference): string {
  return keyOf(context, subject, version)
}
