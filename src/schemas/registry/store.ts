import { LRUCache } from 'lru-cache'
import { FrazilError } from '../../base/errors.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { SchemaContentView, SchemaSubjectView, SchemasView, SchemaVersion } from '../../metadata/view.ts'
import type { ResolvedReference } from '../source.ts'
import { decodeBody, type SchemaBody } from './body.ts'
import { parseSubject, type SubjectName } from './names.ts'

const CACHE_BYTES = 16 * 1024 * 1024
/** References of references, all together. */
const REFERENCES_MAX = 1000

/** Reads schemas out of the metadata state. */
export class SchemaStore {
  readonly metadata: Metadata
  readonly #bodies = new LRUCache<string, SchemaBody>({ maxSize: CACHE_BYTES, sizeCalculation: (body) => body.schema.length * 2 + 500 })

  constructor(metadata: Metadata) {
    this.metadata = metadata
  }

  /** The state now: to be asked anew after an await. */
  get view(): SchemasView {
    return this.metadata.state.schemas
  }

  body(content: SchemaContentView): SchemaBody {
    let body = this.#bodies.get(content.guid)
    if (body === undefined) this.#bodies.set(content.guid, (body = decodeBody(content.body)))
    return body
  }

  contentOf({ context }: SubjectName, { id }: SchemaVersion): SchemaContentView {
    return this.view.content(context, id)!
  }

  subject({ context, subject }: SubjectName): SchemaSubjectView | null {
    return this.view.subject(context, subject)
  }

  /** Ascending; `deleted` with those that are softly deleted. */
  versions(name: SubjectName, deleted = false): readonly SchemaVersion[] {
    const versions = this.subject(name)?.versions ?? []
    return deleted ? versions : versions.filter((version) => !version.deleted)
  }

  /**
   * Everything that `references` lead to, those referred to by others first, each name once. Bare subjects are in the
   * context of who refers to them. Error: SCHEMA_INVALID.
   */
  resolve(references: SchemaBody['references'], context: string): ResolvedReference[] {
    const found = new Map<string, ResolvedReference>()
    const visiting = new Set<string>()
    const visit = (list: SchemaBody['references'], within: string): void => {
      for (const { name, subject, version } of list) {
        if (found.has(name) || visiting.has(name)) continue
        const target = parseSubject(subject, within)
        const row = this.versions(target, true).find((known) => known.version === version)
        if (row === undefined) {
          throw new FrazilError(
            'SCHEMA_INVALID',
            `the reference "${name}" leads to version ${version} of "${subject}", which does not exist`,
          )
        }
        const body = this.body(this.contentOf(target, row))
        visiting.add(name)
        visit(body.references, target.context)
        visiting.delete(name)
        if (found.size >= REFERENCES_MAX) throw new FrazilError('SCHEMA_INVALID', `there are more than ${REFERENCES_MAX} references`)
        found.set(name, { name, subject, version, schema: body.schema })
      }
    }
    visit(references, context)
    return [...found.values()]
  }
}
